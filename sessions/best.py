"""Which attempt is the best: one function, used wherever the word appears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.ids import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessions.model import AttemptRecord, State


def best(state: State) -> AttemptRecord | None:
    """Return the best attempt: confirmed first, never suspect or banned, then the highest `speedup_ratio`."""
    return state.leader


def best_of(attempts: Iterable[AttemptRecord]) -> AttemptRecord | None:
    """Return the best of these attempts; ties go to the older one."""
    return max(filter(eligible, attempts), key=_rank, default=None)


def leaders(
    attempts: Iterable[AttemptRecord],
) -> Iterator[tuple[AttemptRecord, AttemptRecord | None]]:
    """Yield each attempt with the best of those up to it, itself included."""
    top: AttemptRecord | None = None
    highest = (False, 0.0, 0)
    for attempt in attempts:
        if eligible(attempt):
            rank = _rank(attempt)
            if top is None or rank > highest:
                top, highest = attempt, rank
        yield attempt, top


def eligible(attempt: AttemptRecord) -> bool:
    """Return whether an attempt may be called the best at all."""
    return attempt.speedup is not None and not attempt.suspect and not attempt.banned


def ranked(state: State) -> list[AttemptRecord]:
    """Return every eligible attempt, best first."""
    found = [a for a in state.attempts.values() if eligible(a)]
    return sorted(found, key=_rank, reverse=True)


def _rank(attempt: AttemptRecord) -> tuple[bool, float, int]:
    return bool(attempt.verdict.get("confirmed")), attempt.speedup or 0.0, -number_of(attempt.id)
