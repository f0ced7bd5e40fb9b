"""What several searches share: names of proposals, ideas asked for at the start, seats, a saved state taken up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from strategies.errors import StateRefused, check_version
from strategies.selection import Seat, ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.protocol import JsonMap, Outcome, Strategy, View

T = TypeVar("T")
ASKED_AT_MOST = 2
"""Ideas that could not be parsed are asked for once more, then gone without."""


class Numbered(Protocol):
    """The state of a search that names its proposals."""

    next_id: int


class Brainstormed(Protocol):
    """The state of a search that begins with ideas."""

    asked: int
    """How often they were asked for."""
    ideas: list[str]


def next_name(state: Numbered) -> str:
    """Return the next proposal's name, and count on."""
    name = f"p{state.next_id}"
    state.next_id += 1
    return name


def lacks_ideas(state: Brainstormed, wanted: int, queries_left: int) -> bool:
    """Return whether ideas are still to be asked for; `wanted`: 0 goes without. The last query is for a candidate."""
    return wanted > 0 and not state.ideas and state.asked < ASKED_AT_MOST and queries_left > 1


def keep_ideas(state: Brainstormed, found: Sequence[str], wanted: int) -> None:
    """Keep the first ideas that arrive."""
    state.ideas = state.ideas or list(found[:wanted])


def seat_of(outcome: Outcome, position: int | None) -> Seat | None:
    """Return the seat of what a trajectory brought; None where nothing works."""
    works = outcome.works
    if works is None:
        return None
    return Seat(works.id, works.runtime_ms, outcome.proposal.id, position)


def pinned_seats(view: View) -> list[Seat]:
    """Return what people pinned, fastest first, each a group of its own."""
    return ranked(Seat(c.id, c.runtime_ms, c.id, None) for c in view.pinned)


def seat_from(dumped: JsonMap | None) -> Seat | None:
    """Return a dumped seat."""
    return None if dumped is None else Seat(**dumped)


def taken_up(strategy: Strategy, state: JsonMap, read: Callable[[JsonMap], T]) -> T:
    """Return what `read` makes of a dumped state.

    Raises:
        StateRefused: it is of a version this one cannot read, or lacks a part.
    """
    check_version(strategy.name, strategy.version, state)
    try:
        return read(state)
    except (KeyError, TypeError, ValueError) as damage:
        raise StateRefused(f"The saved state of {strategy.name} is damaged: {damage}.") from damage
