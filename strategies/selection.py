"""Who becomes a parent, in what order, with how many proposals each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seat:
    """One correct candidate that may become a parent."""

    candidate: str
    runtime_ms: float | None
    """None ranks last: correct, but not timed."""
    proposal: str
    """Which trajectory made it; settles ties, whatever the order of closing."""
    position: int | None
    """Its place in the phase; None for what a person added: a group of its own."""


def bins(n: int, weights: Sequence[float]) -> list[int]:
    """Share `n` proposals out by weight.

    Floors first; the remainder goes to the largest fractions, earlier first. `weights`: at least
    one, each above 0.
    """
    exact = [Fraction(weight) for weight in weights]
    shares = [n * weight / sum(exact) for weight in exact]
    counts = [math.floor(share) for share in shares]
    by_fraction = sorted(range(len(shares)), key=lambda i: (counts[i] - shares[i], i))
    for i in by_fraction[: n - sum(counts)]:
        counts[i] += 1
    return counts


def resize(ideas: Sequence[str], width: int) -> list[str]:
    """Return exactly `width` ideas: the first ones, or each repeated in a block. None stay none."""
    if not ideas or len(ideas) >= width:
        return list(ideas[:width])
    counts = bins(width, [1.0] * len(ideas))
    return [idea for idea, count in zip(ideas, counts, strict=True) for _ in range(count)]


def drawn(pool: Sequence[T], weights: Sequence[float], u: float) -> T:
    """Return one of the pool, drawn by weight; `u`: uniform, at least 0 and below 1.

    `weights`: one for each of the pool, above 0; the pool holds at least one.
    """
    point = u * sum(weights)
    ends = accumulate(weights)
    return next((one for one, end in zip(pool, ends, strict=True) if point < end), pool[-1])


def ranked(pool: Iterable[Seat]) -> list[Seat]:
    """Return the pool by runtime; ties go to the older proposal."""
    return sorted(pool, key=_rank)


def branch_first(pool: Iterable[Seat]) -> list[Seat]:
    """Return the fastest of each position by runtime, then the rest by runtime."""
    firsts: dict[int | str, Seat] = {}
    rest: list[Seat] = []
    for seat in ranked(pool):
        group = seat.candidate if seat.position is None else seat.position
        if group in firsts:
            rest.append(seat)
        else:
            firsts[group] = seat
    return [*firsts.values(), *rest]


def _rank(seat: Seat) -> tuple[float, str, int]:
    runtime_ms = math.inf if seat.runtime_ms is None else seat.runtime_ms
    return (runtime_ms, *age(seat.proposal))


def age(proposal: str) -> tuple[str, int]:
    """Return what orders proposal ids by age: the plain variants (`v1`), then `p9` before `p10`."""
    kind, digits = proposal[:1], proposal[1:]
    return ("" if kind == "v" else kind, int(digits) if digits.isdecimal() else 0)
