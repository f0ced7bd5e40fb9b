# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
"""Budget, comparison and gates on synthetic numbers."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
import torch

from mcp_server.judge import budget as budgets
from mcp_server.judge import gates
from mcp_server.judge.budget import Bound, FormatRun
from mcp_server.judge.clock import Lane
from mcp_server.judge.compare import compare
from mcp_server.judge.qualification import margins_of
from mcp_server.judge.structure import paths_of

if TYPE_CHECKING:
    from mcp_server.judge.station import Station

torch.set_num_threads(1)
BOUND = Bound(scale=1.0, budget=1e-3, absolute=1e-2, relative=1e-2)


def run_of(error: float) -> FormatRun:
    margins = {key: [error] for key in budgets.PRECISIONS}
    return FormatRun([error], margins, [0.0], [0.0])


RUNS = {
    "fp32": run_of(1e-7),
    "fp16_cast": run_of(1e-3),
    "bf16_autocast": run_of(4e-3),
    "bf16_cast": run_of(8e-3),
}


def test_the_budget_of_a_policy_is_its_own_error_times_its_factor() -> None:
    budget, blind = budgets.settle("half", RUNS, {"zeros": 1.0})
    assert budget.policy == "half"
    assert blind == []
    assert budget.bounds([1.0])[0].budget == pytest.approx(1.5 * 8e-3)


def test_the_cap_is_half_of_the_mildest_structural_mutant() -> None:
    budget, _ = budgets.settle("half", RUNS, {"zeros": 1.0, "a norm dropped": 0.01})
    assert budget.cap == pytest.approx(0.005)
    assert "bf16_cast" not in budget.formats
    assert budget.bounds([1.0])[0].budget == pytest.approx(0.005)


def test_a_mutant_no_worse_than_the_format_itself_is_listed_as_blind() -> None:
    _, blind = budgets.settle("half", RUNS, {"zeros": 1.0, "biases zeroed": 2e-3})
    assert blind == ["biases zeroed"]


def test_what_may_never_be_overlooked_brings_a_finer_policy() -> None:
    coarse = {name: run_of(0.1) for name in RUNS if name not in ("fp32", "tf32")}
    runs, wrong = {**RUNS, **coarse}, {"zeros": 1.0, "a norm dropped": 0.15}
    assert budgets.settle("half", runs, wrong)[1] == ["a norm dropped"]
    budget, blind = budgets.settle("half", runs, wrong, frozenset({"a norm dropped"}))
    assert (budget.policy, blind) == ("tf32" if "tf32" in RUNS else "fp32", [])
    assert budget.bounds([1.0])[0].budget < 0.15


def test_a_part_that_changes_no_more_than_fp32_rounds_is_no_mutant() -> None:
    idle = {"zeros": 1.0, "a norm dropped": 1e-6}
    budget, blind = budgets.settle("half", RUNS, idle, frozenset({"a norm dropped"}))
    assert (budget.policy, budget.cap, blind) == ("half", 0.5, [])


def test_no_budget_reaches_half_of_what_an_answer_knows_that_knows_nothing() -> None:
    budget, _ = budgets.settle("half", RUNS, {"zeros": 300.0})
    assert budget.cap == pytest.approx(0.5)


def test_a_format_that_breaks_ties_otherwise_too_often_is_left_out() -> None:
    tied = replace(run_of(0.0), mismatches=[0.03])
    budget, _ = budgets.settle("half", {**RUNS, "bf16_cast": tied}, {"zeros": 1.0})
    assert "bf16_cast" not in budget.formats
    assert budget.bounds([1.0])[0].mismatch == 0.0


def test_with_every_format_over_the_cap_the_next_finer_policy_holds() -> None:
    runs = {**RUNS, **{name: run_of(0.6) for name in RUNS if name != "fp32"}}
    budget, _ = budgets.settle("half", runs, {"zeros": 1.0})
    assert budget.policy == "fp32"


@pytest.mark.parametrize(
    ("error", "expected"),
    [(0.0, "fp32"), (2e-7, "fp32"), (9e-4, "tf32_fp16"), (5e-3, "bf16"), (0.1, "coarser")],
)
def test_the_precision_class_is_that_of_the_nearest_measured_error(
    error: float, expected: str
) -> None:
    assert budgets.class_of(error, RUNS) == expected


def test_autocast_that_changes_nothing_is_no_mark_of_half_precision() -> None:
    runs = {"fp32": run_of(2e-7), "bf16_autocast": run_of(2.1e-7), "bf16_cast": run_of(7e-3)}
    assert budgets.class_of(2.1e-7, runs) == "fp32"
    assert budgets.class_of(7e-3, runs) == "bf16"


def wanted(rows: int = 100):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(rows, 50, generator=generator, dtype=torch.float64)


def test_rounding_is_right_and_a_shift_is_not() -> None:
    want = wanted()
    assert compare("", want.float(), want, BOUND).code is None
    assert compare("", (want + 0.002).float(), want, BOUND).code == "values"


def test_one_element_outside_its_bound_is_wrong() -> None:
    want = wanted()
    got = want.float()
    got[3, 4] += 1
    assert compare("", got, want, BOUND).code in ("values", "outliers")


def test_a_few_elements_far_beyond_the_usual_error_are_outliers() -> None:
    want = wanted(1000)
    got = (want + 1e-6 * torch.randn(want.shape, dtype=torch.float64)).float()
    got[:2] += 5e-3
    assert compare("", got, want, BOUND).code == "outliers"


def test_nan_is_right_only_where_the_original_has_it() -> None:
    want = wanted()
    want[0, 0], want[1, 1] = float("nan"), float("inf")
    got = want.float()
    assert compare("", got, want, BOUND).code is None
    got[5, 5] = float("nan")
    assert compare("", got, want, BOUND).code == "nonfinite"
    got = want.float()
    got[1, 1] = -float("inf")
    assert compare("", got, want, BOUND).code == "nonfinite"


def test_integers_must_be_equal_but_for_the_share_of_ties() -> None:
    want = torch.arange(1000)
    got = want.clone()
    got[0] = 7
    assert compare("", got, want, BOUND).code == "integers"
    ties = Bound(1.0, 1e-3, 1e-2, 1e-2, mismatch=0.002)
    assert compare("", got, want, ties).code is None


def test_paths_name_each_tensor_of_a_nested_answer() -> None:
    tensor = {"k": "tensor", "i": 0}
    tree = {"k": "dict", "v": [["a", tensor], ["b", {"k": "list", "v": [tensor, tensor]}]]}
    assert paths_of(tree) == ["['a']", "['b'][0]", "['b'][1]"]
    assert paths_of(tensor) == [""]


def test_a_worker_whose_clock_always_lags_is_not_confirmed() -> None:
    raw = [2e-3 + i * 1e-6 for i in range(40)]
    assert gates.clock_confirmed([5e-6] * 40, raw, gates.GPU)
    assert not gates.clock_confirmed([1e-3] * 40, raw, gates.GPU)
    assert gates.clock_confirmed([1e-3] * 20 + [5e-6] * 20, raw, gates.GPU)


def queued(device_s: list[float]) -> Lane:
    """Return a lane whose calls were queued eight at a time, each batch with 1 ms beside its events."""
    lane = Lane(cast("Station", None), "model", 10.0)
    lane.device_s = device_s
    for first in range(0, len(device_s), 8):
        events = sum(device_s[first : first + 8])
        lane.batches.append((events + 1e-3, events, events))
    return lane


@pytest.mark.parametrize("held_up", [0.0, 0.002, 0.01, 0.03])
def test_single_calls_that_the_machine_holds_up_beside_both_models_blame_neither(
    held_up: float,
) -> None:
    generator = random.Random(int(held_up * 1e4))
    confirmed = 0
    for _ in range(200):
        sides = (
            [20e-6 + 1e-3 * (generator.random() < held_up) for _ in range(480)] for _ in range(2)
        )
        mine, originals = (queued(side) for side in sides)
        confirmed += gates.batches_confirmed(mine, originals, gates.GPU)
    assert confirmed >= 190


def test_calls_of_which_some_do_the_work_of_many_are_not_confirmed() -> None:
    original = queued([200e-6] * 480)
    assert gates.batches_confirmed(queued([50e-6] * 480), original, gates.GPU)
    for every in (8, 20, 50):
        mine = [50e-6 + 150e-6 * every * (i % every == 0) for i in range(480)]
        assert not gates.batches_confirmed(queued(mine), original, gates.GPU)


def test_answers_that_take_longer_to_deliver_than_the_originals_are_late() -> None:
    usual = [2e-4 + i * 1e-6 for i in range(20)]
    assert not gates.late(usual, usual, 2e-3, gates.GPU)
    assert gates.late([1e-3] * 20, usual, 2e-3, gates.GPU)
    noisy = [2e-4] * 8 + [5e-3] * 12
    assert not gates.late(noisy, usual, 2e-3, gates.GPU)


def test_who_saves_little_may_not_deliver_as_much_later() -> None:
    usual = [2e-3 + i * 1e-6 for i in range(20)]
    hidden = [value + 4e-3 for value in usual]
    assert not gates.late(hidden, usual, 20e-3, gates.CPU)
    assert gates.late(hidden, usual, 20e-3, gates.CPU, saved_s=4e-3)
    assert not gates.late(hidden, usual, 20e-3, gates.CPU, saved_s=15e-3)
    assert not gates.late([value + 2e-4 for value in usual], usual, 20e-3, gates.CPU, saved_s=1e-4)


def test_a_saving_that_is_gone_where_all_of_the_input_is_new_was_none() -> None:
    generator = random.Random(5)

    def calls(call_s: float, delay_s: float) -> list[float]:
        return [call_s + wake for wake in late_wakes(generator, 8, delay_s)]

    for delay_s in (1e-5, 1e-3) * 50:
        original = calls(30e-3, delay_s)
        assert not gates.incremental(calls(22e-3, delay_s), original, 8e-3, gates.CPU)
        assert gates.incremental(calls(30e-3, delay_s), original, 8e-3, gates.CPU)
    assert not gates.incremental([30e-3] * 8, [30e-3] * 8, -1e-3, gates.CPU)
    assert not gates.incremental([30e-3] * 8, [30e-3] * 8, 2e-4, gates.CPU)


def test_a_saving_that_a_busy_machine_may_have_made_up_is_not_missed() -> None:
    same = [30e-3 + i * 1e-5 for i in range(8)]
    assert gates.incremental(same, same, 4e-3, gates.CPU)
    assert not gates.incremental(same, same, 4e-3, gates.CPU, unsure_s=0.146 * 30e-3)


def test_the_original_is_disturbed_only_if_it_recovers() -> None:
    assert gates.disturbed(1.0, 1.5, 1.01, 0.001, gates.GPU)
    assert not gates.disturbed(1.0, 1.5, 1.5, 0.001, gates.GPU)
    assert not gates.disturbed(1.0, 1.01, 1.0, 0.001, gates.GPU)


def late_wakes(generator: random.Random, calls: int, delay_s: float) -> list[float]:
    """Return how much later than its worker the judge sees each answer, on a machine with too much to do."""
    return [generator.expovariate(1 / delay_s) for _ in range(calls)]


@pytest.mark.parametrize("delay_s", [1e-5, 1e-3, 5e-3, 20e-3])
def test_a_judge_that_wakes_late_beside_both_models_blames_neither(delay_s: float) -> None:
    generator = random.Random(int(delay_s * 1e6))
    for _ in range(200):
        mine, originals = (late_wakes(generator, 40, delay_s) for _ in range(2))
        raw = [3e-3 + gap for gap in mine]
        assert gates.clock_confirmed(mine, raw, gates.CPU, originals)


def test_a_clock_that_lies_is_seen_where_the_originals_does_not() -> None:
    generator = random.Random(7)
    for _ in range(200):
        originals = late_wakes(generator, 40, 1e-4)
        mine = [2.5e-3 + gap for gap in late_wakes(generator, 40, 1e-4)]
        raw = [5e-3 + gap for gap in mine]
        assert not gates.clock_confirmed(mine, raw, gates.CPU, originals)


@pytest.mark.parametrize("delay_s", [1e-5, 1e-3, 5e-3])
def test_answers_that_a_busy_machine_delivers_late_are_not_the_candidates_fault(
    delay_s: float,
) -> None:
    generator = random.Random(int(delay_s * 1e6))
    for _ in range(200):
        mine, originals = (
            [2e-4 + gap for gap in late_wakes(generator, 16, delay_s)] for _ in range(2)
        )
        assert not gates.late(mine, originals, 3e-3, gates.CPU)


def test_only_a_process_that_computes_unasked_competes() -> None:
    assert not gates.competed(cpu_s=2.0, asked_s=2.1, held_s=6.0, threads=1)
    assert not gates.competed(cpu_s=2.6, asked_s=2.1, held_s=6.0, threads=1)
    assert gates.competed(cpu_s=5.9, asked_s=2.1, held_s=6.0, threads=1)
    assert not gates.competed(cpu_s=20.0, asked_s=2.1, held_s=6.0, threads=14)
    assert gates.competed(cpu_s=40.0, asked_s=2.1, held_s=6.0, threads=14)


def varied(generator: torch.Generator):
    """Return inputs as the oracle's varied draws have them."""
    gain = torch.rand(64, 1, generator=generator) * 1.5 + 0.5
    offset = torch.randn(64, 1, generator=generator) * 0.29
    return torch.rand(64, 1024, generator=generator) * gain + offset


def mixed(generator: torch.Generator):
    """Return inputs as a staged set has them after a reveal."""
    x, other = varied(generator).flatten(), varied(generator).flatten()
    at = torch.randint(x.numel(), (768,), generator=generator)
    x[at] = other[at]
    return x.view(64, 1024)


def halved(x: torch.Tensor):
    """Return a softmax as bfloat16 computes it, and as it is."""
    return torch.softmax(x.bfloat16(), 1).float(), torch.softmax(x.double(), 1)


def test_the_largest_error_of_a_few_runs_leaves_room_for_that_of_the_next() -> None:
    generator, scale = torch.Generator().manual_seed(1), 3.7e-4
    measured = max(margins_of(*halved(varied(generator)), scale)["half"] for _ in range(2))
    runs = {"bf16_cast": FormatRun([0.1], {"half": [measured]}, [0.0], [0.0])}
    (bound,) = budgets.Budget("half", ["bf16_cast"], 1.0, runs).bounds([scale])
    for _ in range(200):
        assert compare("", *halved(mixed(generator)), bound).code is None
