"""Speedup with an interval from paired rounds, and what may be said of it.

Per round A B B A of block medians: r = ½(log A1 + log A2 − log B1 − log B2); speedup = exp(mean r).
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOKS = (4, 6, 9, 13, 19)
"""Numbers of rounds after which the interval is looked at."""
QUANTILE = 0.99
"""Each interval is two-sided 98 %, so that all looks together cover at least 96 %."""
SPREAD_PAIRS = 3
"""Pairs of fresh processes that are measured for their spread."""
SPREAD_QUANTILE = 4.541
"""Student's t for 98 %, as many degrees as pairs: their mean is known to be nothing."""
SMALLEST_FLOOR = 0.002
LEAST_DIFFERENCE = 0.02


@dataclass(frozen=True, slots=True)
class Estimate:
    """A log ratio with its standard error."""

    mean: float
    error: float
    """Standard error of the mean."""
    rounds: int

    @property
    def half_width(self) -> float:
        """Half the width of the interval, on the log scale."""
        return t_quantile(QUANTILE, self.rounds - 1) * self.error if self.rounds > 1 else math.inf


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio with its interval."""

    ratio: float
    lo: float
    hi: float


def round_log_ratio(a1: float, b1: float, b2: float, a2: float) -> float:
    """Return r of one round, from block medians in seconds."""
    return 0.5 * (math.log(a1) + math.log(a2) - math.log(b1) - math.log(b2))


def estimate(rounds: Sequence[float]) -> Estimate:
    """Return mean and standard error of the rounds' log ratios."""
    count = len(rounds)
    mean = sum(rounds) / count
    if count < 2:
        return Estimate(mean, 0.0, count)
    variance = sum((r - mean) ** 2 for r in rounds) / (count - 1)
    return Estimate(mean, math.sqrt(variance / count), count)


def pair_spread(means: Sequence[float]) -> float:
    """Return by how much pairs of fresh processes differ that run the same: root mean square of their log ratios."""
    return math.sqrt(sum(mean**2 for mean in means) / len(means)) if means else 0.0


def interval(found: Estimate, spread: float = 0.0) -> Interval:
    """Return the ratio and its interval, widened by what a pair of processes is off by itself."""
    half = min(math.hypot(found.half_width, SPREAD_QUANTILE * spread), 50.0)
    return Interval(math.exp(found.mean), math.exp(found.mean - half), math.exp(found.mean + half))


def chained(
    candidate: Estimate, baseline: Estimate, spread: float = 0.0, baseline_spread: float = 0.0
) -> Interval:
    """Return the ratio over a baseline, both measured against eager: variances add, as those of their pairs do."""
    pairs = SPREAD_QUANTILE * math.hypot(spread, baseline_spread)
    half = min(math.hypot(candidate.half_width, baseline.half_width, pairs), 50.0)
    mean = candidate.mean - baseline.mean
    return Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def outcome(found: Interval, noise_floor: float) -> str:
    """Return `faster` or `slower` where the interval lies beyond 2 % and the noise floor."""
    margin = 1 + max(LEAST_DIFFERENCE, noise_floor)
    if found.lo > margin:
        return "faster"
    if found.hi < 1 / margin:
        return "slower"
    return "indistinguishable"


def noise_floor(rounds: Sequence[float], *, runs: int = 20, size: int = 4) -> float:
    """Return the 95th percentile of |mean r| over runs of `size` rounds that compared a thing with itself.

    Where fewer rounds were measured than the runs need, runs are drawn from them with replacement.
    """
    if len(rounds) < 2:
        return LEAST_DIFFERENCE
    generator = random.Random(0)  # noqa: S311  a resampling, no secret
    if len(rounds) >= runs * size:
        groups = [rounds[i * size : (i + 1) * size] for i in range(runs)]
    else:
        groups = [generator.choices(rounds, k=size) for _ in range(200)]
    means = sorted(abs(sum(group)) / size for group in groups)
    place = min(len(means) - 1, math.ceil(0.95 * len(means)) - 1)
    return max(SMALLEST_FLOOR, means[place])


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return 0.5 * (ordered[middle - 1] + ordered[middle])


def deviation(values: Sequence[float]) -> float:
    """Return the median absolute deviation."""
    centre = median(values)
    return median([abs(value - centre) for value in values])


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the sample lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def t_probability(t: float, degrees: int) -> float:
    """Return P(T ≤ t) of Student's distribution, exact for whole degrees.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    if degrees % 2:
        term = total = cosine if degrees > 1 else 0.0
        for k in range(2, degrees - 1, 2):
            term *= cosine * cosine * k / (k + 1)
            total += term
        central = 2 / math.pi * (angle + sine * total)
    else:
        term = total = 1.0
        for k in range(1, degrees - 1, 2):
            term *= cosine * cosine * k / (k + 1)
            total += term
        central = sine * total
    return 0.5 + 0.5 * central


def t_quantile(probability: float, degrees: int) -> float:
    """Return t with P(T ≤ t) = probability, for probabilities from one half up."""
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        high *= 2
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if t_probability(middle, degrees) < probability else (low, middle)
        )
    return high
