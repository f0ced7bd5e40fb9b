# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
"""The interval, the outcomes and the noise floor, on synthetic rounds."""

from __future__ import annotations

import math
import random

import pytest

from mcp_server.judge import statistics as stats


@pytest.mark.parametrize(
    ("degrees", "expected"), [(1, 31.8205), (3, 4.5407), (8, 2.8965), (18, 2.5524)]
)
def test_the_t_quantile_is_that_of_the_tables(degrees: int, expected: float) -> None:
    assert stats.t_quantile(0.99, degrees) == pytest.approx(expected, abs=1e-4)


def _search(ratio: float, noise: float, generator: random.Random) -> stats.Estimate:
    """Return the estimate of a paired timing that stops as the rules say."""
    rounds: list[float] = []
    while len(rounds) < stats.LOOKS[-1]:
        rounds.append(generator.gauss(math.log(ratio), noise))
        if len(rounds) in stats.LOOKS and stats.estimate(rounds).half_width <= 0.03:
            break
    return stats.estimate(rounds)


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.05])
@pytest.mark.parametrize("ratio", [1.0, 1.7])
def test_the_interval_covers_the_true_ratio_in_96_of_100_searches(
    ratio: float, noise: float
) -> None:
    generator = random.Random(7)
    intervals = [stats.interval(_search(ratio, noise, generator)) for _ in range(1500)]
    covered = sum(found.lo <= ratio <= found.hi for found in intervals)
    assert covered / len(intervals) >= 0.955


def test_two_equal_things_are_hardly_ever_called_faster_or_slower() -> None:
    generator = random.Random(3)
    said = [
        stats.outcome(stats.interval(_search(1.0, noise, generator)), 0.01)
        for noise in (0.005, 0.02, 0.05)
        for _ in range(500)
    ]
    assert sum(word != "indistinguishable" for word in said) / len(said) <= 0.01


def test_the_outcome_needs_the_whole_interval_beyond_two_per_cent_and_the_noise() -> None:
    assert stats.outcome(stats.Interval(1.1, 1.03, 1.2), 0.002) == "faster"
    assert stats.outcome(stats.Interval(1.1, 1.03, 1.2), 0.05) == "indistinguishable"
    assert stats.outcome(stats.Interval(1.1, 1.01, 1.2), 0.002) == "indistinguishable"
    assert stats.outcome(stats.Interval(0.9, 0.85, 0.95), 0.002) == "slower"


def test_drift_cancels_in_a_round() -> None:
    assert stats.round_log_ratio(2.0, 1.1, 1.2, 2.4) == pytest.approx(
        math.log(2) - 0.5 * math.log(1.1)
    )
    steady = stats.round_log_ratio(2.0, 1.0, 1.0, 2.0)
    drifting = stats.round_log_ratio(2.0, 1.1, 1.21, 2.0 * 1.331)
    assert drifting == pytest.approx(steady)


def test_a_ratio_over_a_baseline_adds_both_variances() -> None:
    candidate, baseline = stats.Estimate(0.7, 0.01, 9), stats.Estimate(0.2, 0.02, 9)
    chained = stats.chained(candidate, baseline)
    assert chained.ratio == pytest.approx(math.exp(0.5))
    half = math.hypot(candidate.half_width, baseline.half_width)
    assert math.log(chained.hi / chained.ratio) == pytest.approx(half)


def test_the_noise_floor_grows_with_the_noise_and_has_a_least() -> None:
    generator = random.Random(1)
    quiet = [generator.gauss(0, 0.0001) for _ in range(80)]
    loud = [generator.gauss(0, 0.05) for _ in range(80)]
    assert stats.noise_floor(quiet) == stats.SMALLEST_FLOOR
    assert 0.02 < stats.noise_floor(loud) < 0.08
    assert stats.noise_floor(loud[:12]) > stats.SMALLEST_FLOOR
