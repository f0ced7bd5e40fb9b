"""Which lines of two sources stand against each other: lines found once in each are met first, as in patience diff.

difflib alone looks for the longest equal run again and again, which for a source of which every second line changed
takes a second; and it likes to match the blank lines and closing brackets of functions that have nothing in common.
It is asked only about what lies between the lines that are met.
"""

from __future__ import annotations

from bisect import bisect_left
from difflib import Match, SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

JUNK_FROM = 2_000
"""Lines of a stretch from which difflib may leave out those that come often."""


class LineMatcher(SequenceMatcher[str]):
    """difflib's matcher with another way of finding what is equal."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, "", "")  # the index that difflib makes of the whole is not needed
        self.a, self.b = old, new
        self._blocks: list[Match] | None = None

    def get_matching_blocks(self) -> list[Match]:
        """Return the equal stretches in order, the last one empty, as difflib does."""
        if self._blocks is None:
            found = _stretches(self.a, self.b)
            self._blocks = [*_joined(found), Match(len(self.a), len(self.b), 0)]
        return self._blocks


def _stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[Match]:
    """Yield equal stretches in order; two may touch."""
    ends = (len(old), len(new))
    for (i1, j1), (i2, j2) in pairwise([(-1, -1), *_met(old, new), ends]):
        if i1 >= 0:
            yield Match(i1, j1, 1)
        yield from _between(old, new, i1 + 1, i2, j1 + 1, j2)


def _met(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the lines that each side has once, as pairs of places in growing order, as many as can be."""
    places = _once(new)
    pairs = [(i, places[line]) for line, i in _once(old).items() if line in places]
    tails: list[int] = []
    """The lowest place in `new` at which a chain of each length ends."""
    chains: list[tuple[int, int]] = []
    """For each pair: how long the longest chain up to it is, and the pair before it there."""
    last: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(tails, j)
        chains.append((length, last[length - 1] if length else -1))
        tails[length : length + 1] = [j]
        last[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = chains[at][1]
    return found[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    """Return the lines that are there once, with their places, in order."""
    places: dict[str, int] = {}
    for place, line in enumerate(lines):
        places[line] = -1 if line in places else place
    return {line: place for line, place in places.items() if place >= 0}


def _between(
    old: Sequence[str], new: Sequence[str], i1: int, i2: int, j1: int, j2: int
) -> Iterator[Match]:
    """Yield what is equal in `old[i1:i2]` and `new[j1:j2]`, in order."""
    head = 0
    while i1 + head < i2 and j1 + head < j2 and old[i1 + head] == new[j1 + head]:
        head += 1
    if head:
        yield Match(i1, j1, head)
    i1, j1, tail = i1 + head, j1 + head, 0
    while i1 < i2 - tail and j1 < j2 - tail and old[i2 - tail - 1] == new[j2 - tail - 1]:
        tail += 1
    i2, j2 = i2 - tail, j2 - tail
    if i1 < i2 and j1 < j2:
        often = max(i2 - i1, j2 - j1) > JUNK_FROM
        matcher = SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=often)
        for found in matcher.get_matching_blocks()[:-1]:
            yield Match(found.a + i1, found.b + j1, found.size)
    if tail:
        yield Match(i2, j2, tail)


def _joined(found: Iterator[Match]) -> Iterator[Match]:
    """Yield the stretches with those that touch made one."""
    held: Match | None = None
    for one in found:
        if held and (held.a + held.size, held.b + held.size) == (one.a, one.b):
            held = Match(held.a, held.b, held.size + one.size)
            continue
        if held:
            yield held
        held = one
    if held:
        yield held
