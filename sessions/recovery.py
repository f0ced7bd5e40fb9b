"""What an engine does first in a session that another one left: nothing paid twice, nothing committed twice.

| the last fact was | so now |
| --- | --- |
| `query_sent` to a model over the network | the answer never arrived: `query_lost`, and the step asks again |
| `query_sent` to a model of this machine | nothing was paid: the same query is asked |
| anything else | the next step follows from the facts (`steps.py`) |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.states import SessionState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.journal import Command
    from sessions.model import State
    from sessions.models.port import LanguageModel

CRASHED = "the engine had ended without a word; a new one took over"


def lost_queries(state: State, models: Mapping[str, LanguageModel]) -> list[f.QueryLost]:
    """Return a fact for every query whose answer can no longer arrive."""
    return [
        f.QueryLost(query.id)
        for query in state.in_flight
        if query.model not in models or models[query.model].network
    ]


def revival(state: State, commands: list[Command]) -> f.Resumed | None:
    """Return the fact with which a session goes on that ran when its engine died; None: it keeps its state."""
    begun = state.seq > 1
    if state.state is not SessionState.RUNNING or not begun:
        return None
    asked = next((c for c in commands if c.act == "resume"), None)
    return f.Resumed(CRASHED, asked.author if asked else "")
