"""Whether a search stands still until somebody else acts: where one step of it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.parts import Parts

FOR_AN_ATTEMPT = "waiting for an attempt"
SEARCH = "search"


def tell(parts: Parts, *, hopes: bool) -> None:
    """Let viewers know that a search with nothing open hopes for what others hand in."""
    nothing = (
        hopes and not parts.state.open and parts.state.baseline is not None and not parts.out_of
    )
    parts.live.wait_for(SEARCH, FOR_AN_ATTEMPT if nothing else "")


def awaited(parts: Parts, tasks: int, *, waits: bool) -> str:
    """Return what only others can bring; empty while anything here still works.

    `tasks`: how many are under way. `waits`: the strategy hopes for what others hand in.

    A task counts as standing still if it waits for a reply or an evaluator, or for a place that one of those holds.
    """
    if parts.gate.working:
        return ""
    if not tasks:
        return FOR_AN_ATTEMPT if waits and not parts.state.open else ""
    still = len(parts.live.waits) + parts.live.waiting
    return parts.live.waits_for if parts.live.waits and still >= tasks else ""
