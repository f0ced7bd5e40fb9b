"""The arithmetic of reports against known answers."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.report_statistics import (
    Measured,
    bands,
    clamped,
    geomean,
    mean_log,
    measurement,
    over,
    quantile,
    repeats,
    student_t,
    wilson,
)
from tests.sessions.models.asking import approx

RATIOS = st.floats(0.05, 50.0)
STRATA = st.lists(st.lists(RATIOS, min_size=2, max_size=5), min_size=1, max_size=6)


@given(st.lists(RATIOS, min_size=1, max_size=20))
def test_the_geometric_mean_of_clamped_values_is_the_root_of_their_product(
    values: list[float],
) -> None:
    counted = [clamped(Measured(value)).value for value in values]
    assert min(counted) >= 1
    product = math.prod(max(1.0, value) for value in values)
    assert geomean(counted) == approx(product ** (1 / len(values)))


def test_the_geometric_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        geomean([])


def test_every_task_counts_once_however_often_it_was_run() -> None:
    assert math.exp(mean_log([[4.0], [1.0, 1.0, 1.0]])) == approx(2.0)


@given(STRATA)
def test_an_interval_over_repeats_holds_its_mean(strata: list[list[float]]) -> None:
    found = repeats(strata)
    assert found is not None
    middle = math.exp(mean_log(strata))
    assert found.low <= middle * (1 + 1e-9)
    assert middle <= found.high * (1 + 1e-9)


@given(STRATA, st.floats(0.1, 10.0))
def test_an_interval_over_repeats_scales_with_its_numbers(
    strata: list[list[float]], factor: float
) -> None:
    found, scaled = repeats(strata), repeats([[factor * v for v in s] for s in strata])
    assert found is not None
    assert scaled is not None
    assert scaled.low == approx(factor * found.low, rel=1e-6)
    assert scaled.high == approx(factor * found.high, rel=1e-6)


@pytest.mark.parametrize(("tasks", "runs"), [(1, 2), (1, 3), (1, 5), (4, 2), (8, 3)])
def test_an_interval_over_repeats_covers_what_it_says(tasks: int, runs: int) -> None:
    draw, held, trials = Random(7), 0, 300
    for _ in range(trials):
        strata = [[math.exp(draw.gauss(0.7, 0.3)) for _ in range(runs)] for _ in range(tasks)]
        found = repeats(strata)
        assert found is not None
        held += found.low <= math.exp(0.7) <= found.high
    assert held / trials >= 0.91


def test_an_interval_over_repeats_narrows_with_more_of_them() -> None:
    few, many = repeats([[1.0, 1.5, 1.2]]), repeats([[1.0, 1.5, 1.2] * 6])
    assert few is not None
    assert many is not None
    assert many.high / many.low < few.high / few.low


def test_a_single_repeat_says_nothing_about_luck() -> None:
    assert repeats([[2.0, 2.1], [3.0]]) is None
    assert repeats([]) is None


@settings(max_examples=30)
@given(STRATA)
def test_bands_are_intervals_at_each_point(strata: list[list[float]]) -> None:
    together = bands([[[value, value**2] for value in s] for s in strata])
    alone = repeats(strata)
    assert together is not None
    assert alone is not None
    assert (together[0].low, together[0].high) == (approx(alone.low), approx(alone.high))
    assert together[1].high == approx(alone.high**2, rel=1e-6)


def test_a_single_measurement_keeps_the_interval_it_came_with() -> None:
    found = measurement([[Measured(2.0, 1.9, 2.0 * 2.0 / 1.9)]])
    assert found is not None
    assert found.low == approx(1.9)
    assert found.high == approx(2.0 * 2.0 / 1.9)


def test_four_equal_measurements_halve_the_noise() -> None:
    one = Measured(2.0, 2.0 / 1.1, 2.0 * 1.1)
    found = measurement([[one, one], [one, one]])
    assert found is not None
    assert math.log(found.high / found.low) == approx(math.log(1.1))


def test_measurements_without_an_interval_have_none_together() -> None:
    assert measurement([[Measured(2.0)], [Measured(3.0)]]) is None


@given(RATIOS, RATIOS, st.floats(1.0, 1.5), st.floats(1.0, 1.5))
def test_the_noise_of_a_ratio_is_that_of_both_sides(
    one: float, two: float, first: float, second: float
) -> None:
    found = over(Measured(one, one / first, one * first), Measured(two, two / second, two * second))
    assert found.value == approx(one / two)
    half = math.hypot(math.log(first), math.log(second))
    assert abs(found.half - half) < 1e-9


@pytest.mark.parametrize(
    ("freedom", "known"), [(1, 12.7062), (4, 2.7764), (25, 2.0595), (40, 2.0211), (1e9, 1.95996)]
)
def test_students_t_is_that_of_the_tables(freedom: float, known: float) -> None:
    assert student_t(freedom) == approx(known, rel=1e-3)


def test_the_interval_of_a_share_is_wilsons() -> None:
    found = wilson(8, 10)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 0) is None


def test_quantiles_lie_between_their_neighbours() -> None:
    assert quantile([1.0, 2.0, 3.0, 10.0], 0.5) == 2.5
    assert quantile([4.0], 0.25) == 4.0
