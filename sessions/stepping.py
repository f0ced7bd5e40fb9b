"""Whether a search stands still until somebody else acts: where one step of it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.parts import Parts

FOR_AN_ATTEMPT = "waiting for an attempt"
SEARCH = "search"
QUIET_S = 30.0
"""Without a fact, while all that is seen at work waits for others."""


def tell(parts: Parts, *, hopes: bool) -> None:
    """Let viewers know that a search with nothing open hopes for what others hand in."""
    nothing = (
        hopes and not parts.state.open and parts.state.baseline is not None and not parts.out_of
    )
    parts.live.wait_for(SEARCH, FOR_AN_ATTEMPT if nothing else "")


@dataclass(slots=True)
class Stillness:
    """For how long no fact was written."""

    _seq: int = -1
    _since: float = 0.0

    def seconds(self, seq: int, now: float) -> float:
        """Return how long `seq` has been the last fact."""
        if seq != self._seq:
            self._seq, self._since = seq, now
        return now - self._since


def awaited(parts: Parts, tasks: int, *, waits: bool, still_s: float) -> str:
    """Return what only others can bring; empty while anything here still works.

    `tasks`: how many are under way. `waits`: the strategy hopes for what others hand in. `still_s`: seconds since the
    last fact.

    A task counts as standing still if it waits for a reply or an evaluator, or for a place that one of those holds.
    What waits for another task's sake is not counted so, and seen only by nothing having happened for a while.
    """
    if still_s >= QUIET_S and parts.live.waits and not parts.live.works:
        return parts.live.waits_for
    if parts.gate.working:
        return ""
    if not tasks:
        return FOR_AN_ATTEMPT if waits and not parts.state.open else ""
    still = len(parts.live.waits) + parts.live.waiting
    return parts.live.waits_for if parts.live.waits and still >= tasks else ""
