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
    return _stood(attempt) and not attempt.refutation


def ranked(state: State) -> list[AttemptRecord]:
    """Return every eligible attempt, best first."""
    return sorted(filter(eligible, state.attempts.values()), key=_rank, reverse=True)


def ranked_at_first(state: State) -> list[AttemptRecord]:
    """Return what was eligible by its first measurement, best first, those that the second refuted included."""
    return sorted(filter(_stood, state.attempts.values()), key=_rank_before, reverse=True)


def _stood(attempt: AttemptRecord) -> bool:
    return attempt.speedup is not None and not attempt.odd and not attempt.banned


def _rank(attempt: AttemptRecord) -> tuple[bool, float, int]:
    return attempt.confirmed, attempt.speedup or 0.0, -number_of(attempt.id)


def _rank_before(attempt: AttemptRecord) -> tuple[bool, float, int]:
    """Return where it would stand had its second measurement not refuted it."""
    first = bool(attempt.verdict.get("confirmed")) if attempt.refutation else attempt.confirmed
    return first, *_rank(attempt)[1:]
