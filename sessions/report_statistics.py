"""The arithmetic of reports: geometric means, and how sure they are. Works on natural logarithms of ratios.

| interval | over | how |
| --- | --- | --- |
| measurement, 98 % | timing noise of the numbers at hand | half widths of the verdicts' intervals, in quadrature |
| repeats, 95 % | what the same search would find again on these tasks | seeded bootstrap within each task |
| tasks, 95 % | other tasks like these | the same, with tasks as the repeats |
| share, 95 % | a share of counted things | Wilson's score interval |

A plain percentile bootstrap of two or three repeats covers far less than it says: a resample of n has (n − 1)/n of
the variance, and its quantiles are a normal's, not Student's. So deviations are widened by √(n / (n − 1)) and the
ends by t / z (Hesterberg, "What Teachers Should Know about the Bootstrap", 2015, on narrowness bias).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 0
Z95 = 1.959964
_T95 = ((1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (6, 2.4469), (7, 2.3646), (8, 2.3060),
        (9, 2.2622), (10, 2.2281), (12, 2.1788), (15, 2.1314), (20, 2.0860), (30, 2.0423), (60, 2.0003),
        (120, 1.9799))  # fmt: skip
"""Student's t at 97.5 %, by degrees of freedom; between them it is all but linear in their reciprocal."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The two ends, as ratios."""

    low: float
    high: float

    def at_least(self, least: float) -> Interval:
        """Return the interval of a number that cannot be lower."""
        return Interval(max(least, self.low), max(least, self.high))


@dataclass(frozen=True, slots=True)
class Measured:
    """A ratio as the evaluator measured it, with its 98 % interval where that is known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def half(self) -> float:
        """Half the width of the interval of the logarithm; 0 where it is not known."""
        if not self.low or not self.high or self.high < self.low:
            return 0.0
        return math.log(self.high / self.low) / 2


def clamped(value: Measured) -> Measured:
    """Return the ratio, at least 1: who is offered a slower program keeps the original."""
    ends = [None if end is None else max(1.0, end) for end in (value.low, value.high)]
    return Measured(max(1.0, value.value), *ends)


def over(one: Measured, other: Measured) -> Measured:
    """Return one ratio over another; their measurements are taken as independent."""
    half = math.hypot(one.half, other.half)
    value = one.value / other.value
    return Measured(value, value * math.exp(-half), value * math.exp(half))


def geomean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers.

    Raises:
        ValueError: there are none.
    """
    if not values:
        raise ValueError("the geometric mean of nothing")
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def measurement(strata: Sequence[Sequence[Measured]]) -> Interval | None:
    """Return the 98 % interval, by timing noise alone, of the mean over strata of each one's mean; None if unknown."""
    known = [value for stratum in strata for value in stratum if value.low and value.high]
    if not known or not all(strata):
        return None
    center = math.exp(mean_log([[v.value for v in stratum] for stratum in strata]))
    square = math.fsum((v.half / (len(s) * len(strata))) ** 2 for s in strata for v in s)
    half = math.sqrt(square)
    return Interval(center * math.exp(-half), center * math.exp(half))


def mean_log(strata: Sequence[Sequence[float]]) -> float:
    """Return the mean over strata of the mean logarithm of each: every task counts once, however often it was run."""
    means = [math.fsum(map(math.log, stratum)) / len(stratum) for stratum in strata]
    return math.fsum(means) / len(means)


def repeats(strata: Sequence[Sequence[float]]) -> Interval | None:
    """Return the 95 % interval, over repeats, of the geometric mean over strata; None if one has a single repeat."""
    if not strata or any(len(stratum) < 2 for stratum in strata):
        return None
    columns = bands([[[value] for value in stratum] for stratum in strata])
    return columns[0] if columns else None


def bands(strata: Sequence[Sequence[Sequence[float]]]) -> list[Interval] | None:
    """Return `repeats` for many points at once; None if a stratum has a single repeat.

    Args:
        strata: for each task, for each repeat, a positive number at each point.
    """
    if not strata or any(len(stratum) < 2 for stratum in strata):
        return None
    import numpy as np  # 0.1 s, for reports alone

    draw = np.random.Generator(np.random.PCG64(SEED))
    logs = [np.log(np.asarray(stratum, dtype=np.float64)) for stratum in strata]
    center = sum((x.mean(axis=0) for x in logs), np.zeros(logs[0].shape[1])) / len(logs)
    moved = np.zeros((RESAMPLES, logs[0].shape[1]))
    for x in logs:
        n = len(x)
        taken = draw.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n
        moved += taken @ (x - x.mean(axis=0)) * math.sqrt(n / (n - 1)) / len(logs)
    low, high = np.quantile(moved, (0.025, 0.975), axis=0, method="linear")
    wider = np.asarray([student_t(df) / Z95 for df in _freedom(logs)])
    ends = zip(np.exp(center + low * wider), np.exp(center + high * wider), strict=True)
    return [Interval(float(a), float(b)) for a, b in ends]


def _freedom(logs: Sequence[NDArray[float64]]) -> list[float]:
    """Return Welch and Satterthwaite's degrees of freedom of the mean over strata, at each point."""
    least = float(min(len(x) - 1 for x in logs))
    variances = [[float(v) for v in x.var(axis=0, ddof=1) / len(x)] for x in logs]
    found: list[float] = []
    for point in zip(*variances, strict=True):
        below = sum(v**2 / (len(x) - 1) for v, x in zip(point, logs, strict=True))
        found.append(sum(point) ** 2 / below if below > 0 else least)
    return found


def student_t(freedom: float) -> float:
    """Return Student's t at 97.5 % for any degrees of freedom from 1 on."""
    before = _T95[0]
    for entry in _T95:
        if freedom <= entry[0]:
            return _between(before, entry, freedom)
        before = entry
    return _between(before, (math.inf, Z95), freedom)


def _between(one: tuple[float, float], two: tuple[float, float], freedom: float) -> float:
    if one == two or freedom <= one[0]:
        return one[1]
    share = (1 / one[0] - 1 / freedom) / (1 / one[0] - 1 / two[0])
    return one[1] + share * (two[1] - one[1])


def wilson(count: int, total: int) -> Interval | None:
    """Return the 95 % interval of a share; None of nothing."""
    if total == 0:
        return None
    share, square = count / total, Z95**2
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = Z95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    half /= 1 + square / total
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of numbers in order, between neighbours where it falls there."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
