"""How many lines each step of a search changed: of an answer against its parent, of a fix against what it fixed.

Counted on the lines as a collection, so that a line which only moved counts nothing; blank lines and the spaces at
the ends of lines count nothing either.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sessions.model import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.model import AttemptRecord, State


def lines_changed(state: State, text: Callable[[str], str]) -> dict[int, tuple[int, ...]]:
    """Return the lines added and removed by each attempt, by its step; `text` reads a source by its key."""
    found: dict[int, list[int]] = {}
    kept: dict[str, Counter[str]] = {}
    for attempt, before in _pairs(state):
        for key in (before, attempt.source_key):
            if key not in kept:
                kept[key] = lines_of(text(key))
        change = changed(kept[before], kept[attempt.source_key])
        found.setdefault(attempt.step, []).append(change)
    return {step: tuple(found[step]) for step in sorted(found)}


def lines_of(source: str) -> Counter[str]:
    """Return the lines that say something, each with how often it stands there."""
    return Counter(line for line in map(str.rstrip, source.splitlines()) if line)


def changed(before: Counter[str], after: Counter[str]) -> int:
    """Return the lines added and removed."""
    same = (before & after).total()
    return before.total() + after.total() - 2 * same


def _pairs(state: State) -> list[tuple[AttemptRecord, str]]:
    """Return each attempt that an agent wrote, with the key of the source it began from."""
    found: list[tuple[AttemptRecord, str]] = []
    for record in state.trajectories.values():
        before = _source_key(state, record.proposal.parent)
        for attempt in (state.attempts[name] for name in record.attempts):
            if before and attempt.query:
                found.append((attempt, before))
            before = attempt.source_key
    return found


def _source_key(state: State, candidate: str) -> str:
    if candidate == ORIGINAL:
        return state.opened.source_key if state.opened else ""
    parent = state.attempts.get(candidate)
    return parent.source_key if parent else ""
