"""What stands where the attempts would, while there are none: what goes on, or why there will be none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.states import ENDED, SessionState
from sessions.tool_rounds import answered
from workbench.format import plural
from workbench.plain import Inert

if TYPE_CHECKING:
    from sessions.model import State

MEASURED_FIRST = Inert("no attempt yet: the original is measured first, then asked about")
NOTHING_KEPT = Inert("no attempt is like that; esc drops the filter")


def before_any(state: State) -> Inert:
    """Return what a session without attempts is at."""
    if state.state in ENDED:
        return Inert("no attempt was made")
    if state.state is SessionState.PAUSED:
        return Inert("no attempt yet: the search is paused")
    if state.baseline is None:
        return MEASURED_FIRST
    calls = len(answered(state))
    if calls:
        return Inert(f"no attempt yet: {plural(calls, 'tool call')} so far, then agents answer")
    if state.in_flight:
        asked = plural(len(state.in_flight), "answer")
        return Inert(f"no attempt yet: {asked} awaited")
    return Inert("no attempt yet")
