"""Numbers for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import format as fmt


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.411, "1.41×"), (11.84, "11.8×"), (0.9731, "0.97×"), (432.1, "432×"), (None, "–")],
)
def test_a_speedup_shows_the_digits_that_count(value: float | None, shown: str) -> None:
    assert fmt.speedup(value) == shown


def test_an_unknown_cost_is_never_shown_as_zero() -> None:
    assert fmt.money(None) == "$ ?"
    assert fmt.money(0.0) == "$ 0.00"


@given(st.floats(min_value=1e-6, max_value=0.0099))
def test_a_fraction_of_a_cent_is_not_shown_as_nothing_before_its_fourth_digit(usd: float) -> None:
    assert fmt.amount(usd) == f"{usd:.4f}"


@pytest.mark.parametrize(
    ("span_s", "shown"),
    [
        (4.2, "4 s"),
        (59.9, "59 s"),
        (720, "12 min"),
        (12_000, "3 h 20 min"),
        (7200, "2 h"),
        (187_200, "2 d 4 h"),
        (-5, "0 s"),
    ],
)
def test_a_duration_has_two_units_at_most(span_s: float, shown: str) -> None:
    assert fmt.duration(span_s) == shown


def test_runtimes_keep_three_digits_over_four_orders_of_magnitude() -> None:
    assert [fmt.milliseconds(ms) for ms in (0.173, 2.05, 41.23, 512.4)] == [
        "0.173",
        "2.05",
        "41.2",
        "512",
    ]


def test_the_spread_is_the_wider_half_of_the_interval() -> None:
    assert fmt.spread(1.41, 1.39, 1.44) == "±0.03"
    assert fmt.spread(1.41, None, 1.44) == ""


def test_sizes_and_counts_read_naturally() -> None:
    assert fmt.size(512) == "512 B"
    assert fmt.size(1_500_000_000) == "1.5 GB"
    assert fmt.plural(1, "query", "queries") == "1 query"
    assert fmt.plural(1600, "query", "queries") == "1,600 queries"
