# pyright: reportUnknownMemberType=false
"""Rounds, pairs and telemetry on synthetic numbers: what a process's bias, drift or a throttle does to a verdict."""

from __future__ import annotations

import math
import random

import pytest

from mcp_server.judge import telemetry
from mcp_server.judge.baselines import strongest
from mcp_server.judge.budget import Budget
from mcp_server.judge.clock import FULL_LOOKS, Paired, Pooled, full_rules, rules_for
from mcp_server.judge.qualification import Baseline, Qualification
from mcp_server.judge.statistics import (
    SPREAD_PAIRS,
    chained,
    estimate,
    interval,
    outcome,
    pair_spread,
)
from mcp_server.judge.telemetry import Sample

BIAS = 0.02
"""A process is off by this all its life: as seen of a 5 µs op on an H200."""
NOISE = 0.01


def pair(generator: random.Random, rounds: int, ratio: float = 1.0) -> Paired:
    """Return rounds of two fresh processes, each with a bias of its own."""
    a, b = (generator.gauss(0, BIAS) for _ in range(2))
    found = Paired()
    for _ in range(rounds):
        one, two, three, four = (math.exp(generator.gauss(0, NOISE)) for _ in range(4))
        slow, fast = math.exp(a) * ratio, math.exp(b)
        found.rounds.append((one * slow, two * fast, three * fast, four * slow))
    return found


def test_an_interval_with_the_spread_of_pairs_holds_the_truth_where_rounds_alone_do_not() -> None:
    generator = random.Random(3)
    alone = wide = 0
    for _ in range(300):
        spread = pair_spread([pair(generator, 6).estimate.mean for _ in range(SPREAD_PAIRS)])
        seen = pair(generator, 9).estimate
        narrow, honest = interval(seen), interval(seen, spread)
        alone += narrow.lo <= 1 <= narrow.hi
        wide += honest.lo <= 1 <= honest.hi
    assert alone < 200
    assert wide >= 285


def test_full_modes_pairs_hold_the_truth_and_are_hardly_ever_wrong() -> None:
    generator = random.Random(4)
    held = decided = 0
    for _ in range(300):
        pairs = [pair(generator, 12) for _ in range(3)]
        seen = interval(Pooled(pairs).estimate)
        held += seen.lo <= 1 <= seen.hi
        decided += outcome(seen, 0.002) != "indistinguishable"
    assert held >= 285
    assert decided <= 6


def test_pairs_that_agree_by_chance_are_not_surer_than_processes_are() -> None:
    same = [Paired(rounds=[(1.0, 1.0, 1.0, 1.0)] * 12) for _ in range(3)]
    assert Pooled(same).estimate.error == 0
    assert Pooled(same, spread=BIAS).estimate.error == pytest.approx(BIAS / math.sqrt(3))


def test_the_spread_widens_the_ratio_over_a_baseline_twice() -> None:
    seen, known = estimate([0.1, 0.1]), estimate([0.0, 0.0])
    once = interval(seen, 0.01)
    both = chained(seen, known, 0.01, 0.01)
    assert both.hi / both.lo > once.hi / once.lo
    assert chained(seen, known).lo == pytest.approx(math.exp(0.1))


def test_full_mode_looks_later_and_asks_for_more() -> None:
    quick, full = rules_for("cuda:0", "device"), full_rules("cuda:0", "device", 120.0)
    assert full.half_width < quick.half_width
    assert (full.looks[0], full.most_rounds) == (FULL_LOOKS[0], 24)


USUAL = Sample(1980.0, 400.0, 50.0, slowed=False)


def test_a_round_in_which_the_clock_moved_or_heat_slowed_the_gpu_is_not_steady() -> None:
    moved = Sample(1755.0, 690.0, 60.0, slowed=False)
    hot = Sample(1980.0, 690.0, 88.0, slowed=True)
    assert telemetry.steady([USUAL, moved, USUAL, hot, USUAL]) == [True, False, True, False, True]


def test_without_telemetry_every_round_counts_and_nothing_is_claimed() -> None:
    assert telemetry.steady([None, None]) == [True, True]
    assert telemetry.fields([None, None]) == {}
    assert telemetry.look("cpu") is None


def test_telemetry_says_how_far_the_clock_went() -> None:
    found = telemetry.fields([USUAL, None, Sample(1881.0, 500.0, 61.0, slowed=True)])
    assert found["clock_drift_ratio"] == pytest.approx(99 / 1930.5)
    assert (found["temperature_c"], found["throttled"]) == (61.0, True)


def baseline(name: str, time_ms: float, precision_class: str = "fp32") -> Baseline:
    return Baseline(name, precision_class, time_ms, time_ms, 0.0, 0.0, 4)


def test_a_headline_is_over_one_baseline_whether_or_not_somebody_asked_for_a_profile() -> None:
    found = Qualification(Budget("half", [], 1.0, {}), [], "fp64", 0.1)
    found.baselines = [baseline("eager", 4.0), baseline("compile", 2.0)]
    assert strongest(found, "fp32").name == "compile"
    found.baselines += [baseline("graphed", 1.5), baseline("max_autotune", 1.2)]
    found.baselines += [baseline("bf16_cast_compile_graphed", 0.5, "bf16")]
    assert strongest(found, "bf16").name == "compile"
    assert strongest(found, "fp32", further=True).name == "max_autotune"
    assert strongest(found, "bf16", further=True).name == "bf16_cast_compile_graphed"
