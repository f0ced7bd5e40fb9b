"""What a person asked before a trajectory closed shapes what the search decides after it, however old the last look."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.sessions import killed
from tests.sessions.searches import Search

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.journal import Command, Journal

OLD_S = 0.003
"""Long enough for whole trajectories to close."""


class SlowlyRead(killed.SteeredJournal):
    """Commands are old by the time that the engine has them."""

    async def commands(self) -> list[Command]:
        found = await super().commands()
        await asyncio.sleep(OLD_S)
        return found


async def outcome(under: Path, journal: type[Journal]) -> dict[str, Any]:
    settings = {"queries": 19, "width": 2, "places": 2, "fixes": 1, "ideas": 2}
    folder = killed.begun(under, journal.__name__, settings)
    model = killed.FatedModel()
    found = Search(folder, model, journal_class=journal)
    await found.run(models=killed.models_of(found.state, model))
    return killed.outcome(folder)


async def test_no_decision_overtakes_what_was_asked_before_it(tmp_path: Path) -> None:
    at_once = await outcome(tmp_path, killed.SteeredJournal)
    assert {act for act, applied, _ in at_once["steers"] if applied} >= {"pin", "ban", "boost"}
    assert await outcome(tmp_path, SlowlyRead) == at_once
