"""Reports over sessions that were made up: what was put in comes out, and nothing else."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions import facts as f
from sessions.errors import AmbiguousSession, FolderUnusable, NoSuchSession
from sessions.facts import Fact
from sessions.fold import fold
from sessions.report import report_of
from sessions.report_counts import agent_costs, fixes, lines, totals
from sessions.report_lines import changed, lines_of
from sessions.report_means import PAPER, Way, estimate, number, task_means
from sessions.report_names import configuration_names
from sessions.report_pairs import pairs
from sessions.report_reading import read
from sessions.report_runs import run_of
from sessions.report_sources import find
from sessions.report_spending import Cutoff, curves, cutoffs, values_at
from sessions.report_statistics import Measured, geomean
from tests.sessions.models.asking import approx
from tests.sessions.reported import Study, bodies_of, make, run_of_study, write_runs

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.report_runs import Run

TASKS = ("level3/44_MiniGPTBlock", "level3/8_ResNetBlock")


def two_by_two(gain: float = 1.2) -> list[Study]:
    """Two configurations on two tasks, twice each, the first so much better everywhere."""
    return [
        Study(f"{name}-{n}-{repeat}", name, task, repeat, factor * luck, plain=False)
        for name, factor in (("good", 3 * gain), ("plain", 3.0))
        for n, task in enumerate(TASKS)
        for repeat, luck in ((1, 1.1), (2, 1 / 1.1))
    ]


# --- one run


def test_a_best_is_chosen_by_the_first_number_and_counted_by_the_second() -> None:
    found = run_of_study(Study("s", again=0.9)).best
    assert found is not None
    assert found.again
    assert found.eager.value == approx(0.9 * found.first)


def test_a_best_that_was_wrong_when_measured_again_makes_way_for_the_next() -> None:
    study = Study("s")
    first = run_of_study(study).best
    assert first is not None
    wrong = {"status": "wrong_result", "code": "values", "cause": "output 0 differs"}
    found = run_of_study(study, f.Remeasured(first.id, wrong))
    assert found.best is not None
    assert found.best.id != first.id
    assert found.refuted == (f"{first.id}: measured again: wrong_result, values, output 0 differs",)
    assert all(step.eager != first.eager.value for step in found.steps)


def test_a_best_that_is_too_good_to_be_true_the_second_time_makes_way() -> None:
    study = Study("s")
    first = run_of_study(study).best
    assert first is not None
    verdict = {"status": "ok", "flags": ["below_roofline"], "confirmed": False}
    found = run_of_study(study, f.Remeasured(first.id, verdict))
    assert found.best is not None
    assert found.best.id != first.id
    assert "below_roofline, not confirmed" in found.refuted[0]


def test_a_busy_machine_at_the_second_measurement_leaves_the_first_number() -> None:
    study = Study("s")
    first = run_of_study(study).best
    assert first is not None
    found = run_of_study(
        study, f.Remeasured(first.id, {"status": "infra_error", "code": "unstable_clock"})
    )
    assert found.best is not None
    assert (found.best.id, found.best.again) == (first.id, False)
    assert found.best.eager.value == approx(first.first)


def test_suspect_and_banned_attempts_never_count() -> None:
    study = Study("s", plain=False)
    before = run_of_study(study)
    assert before.suspect > 0
    assert before.best is not None
    ban = f.Steered("s9", 1, "ban", {"candidates": [before.best.id]}, "ann", applied=True)
    after = run_of_study(study, ban)
    assert after.banned == 1
    assert after.best is not None
    assert after.best.id != before.best.id


def test_the_gain_over_the_best_plain_attempt_is_over_the_fastest_of_them() -> None:
    found = run_of_study(Study("s", gain=2.0, again=1.0))
    assert found.plain is not None
    assert found.best is not None
    gain = number(found, "plain")
    assert gain is not None
    assert gain.value == approx(found.best.eager.value / found.plain.eager.value)
    assert found.plain.eager.value == approx(2.05 / 0.244)


def test_a_session_whose_original_was_not_measured_is_no_run() -> None:
    opened = bodies_of(Study("s"))[0]
    assert run_of(fold([Fact(1, 0.0, opened)]), "s", ("a", 1), "running", {}) is None


# --- means


def test_failures_are_counted_both_ways() -> None:
    good = run_of_study(Study("a", gain=4.0, again=1.0, plain=False))
    bad = run_of_study(replace(Study("b", plain=False), correct=False))
    assert bad.best is None
    counted = estimate([(good, bad)], "eager", PAPER)
    without = estimate([(good, bad)], "eager", Way(clamp=True, failures=False))
    assert counted is not None
    assert without is not None
    assert good.best is not None
    assert without.value == approx(good.best.eager.value)
    assert counted.value == approx(without.value**0.5)
    assert (counted.found, counted.asked, without.runs) == (1, 2, 1)


def test_slower_than_the_original_counts_1_only_where_it_is_clamped() -> None:
    slow = run_of_study(Study("a", gain=0.05, plain=False))
    clamped = estimate([(slow,)], "eager", PAPER)
    bare = estimate([(slow,)], "eager", Way(clamp=False, failures=True))
    assert clamped is not None
    assert bare is not None
    assert clamped.value == 1.0
    assert bare.value < 1


def test_a_task_without_a_correct_answer_is_no_mean_of_nothing() -> None:
    bad = run_of_study(replace(Study("b", plain=False), correct=False))
    assert estimate([(bad,)], "eager", Way(clamp=False, failures=False)) is None
    assert estimate([(bad,)], "plain", PAPER) is None


# --- pairs


def test_a_pair_says_the_ratio_that_was_put_in(tmp_path: Path) -> None:
    make(tmp_path, two_by_two(1.2), "x")
    (section,) = read(find(tmp_path, ["x"])).sections
    (pair,) = pairs(section)
    assert (pair.first, pair.second) == ("good", "plain")
    assert pair.ratio == approx(1.2, rel=1e-3)
    assert pair.repeats is not None
    assert pair.repeats.low < 1.2 < pair.repeats.high
    assert (pair.ahead, pair.behind) == (2, 0)
    assert pair.over_tasks is None
    assert all(t.ratio == approx(1.2, rel=1e-3) for t in pair.tasks)


SPEEDS = st.lists(st.floats(0.2, 40.0), min_size=2, max_size=4)
BASE = run_of_study(Study("s", plain=False))


def runs_at(configuration: str, speeds: list[list[float]]) -> list[Run]:
    """Runs whose bests are so fast over eager: a list of repeats for each task."""
    assert BASE.best is not None
    return [
        replace(
            BASE,
            configuration=configuration,
            task=f"t{task}",
            repeat=repeat,
            best=replace(BASE.best, eager=Measured(speed, speed / 1.01, speed * 1.01)),
        )
        for task, several in enumerate(speeds)
        for repeat, speed in enumerate(several)
    ]


@settings(max_examples=25)
@given(st.lists(st.tuples(SPEEDS, SPEEDS), min_size=1, max_size=4))
def test_a_pair_turned_round_says_the_same(tasks: list[tuple[list[float], list[float]]]) -> None:
    one, two = [first for first, _ in tasks], [second for _, second in tasks]
    (ahead,) = pairs(report_of("", runs_at("a", one) + runs_at("b", two)).sections[0])
    (behind,) = pairs(report_of("", runs_at("b", one) + runs_at("a", two)).sections[0])
    known = [
        geomean([max(1.0, v) for v in a]) / geomean([max(1.0, v) for v in b]) for a, b in tasks
    ]
    assert ahead.ratio == approx(geomean(known), rel=1e-6)
    assert behind.ratio == approx(1 / ahead.ratio, rel=1e-6)
    assert ahead.repeats is not None
    assert behind.repeats is not None
    assert ahead.repeats.low <= ahead.ratio * (1 + 1e-9)
    assert ahead.ratio <= ahead.repeats.high * (1 + 1e-9)
    assert (ahead.ahead, ahead.behind) == (behind.behind, behind.ahead)


def test_the_interval_of_a_pair_covers_what_it_says() -> None:
    draw, held, trials = Random(3), 0, 150

    def speeds(mean: float) -> list[list[float]]:
        return [[math.exp(draw.gauss(mean + n, 0.2)) for _ in range(2)] for n in range(3)]

    for _ in range(trials):
        runs = runs_at("a", speeds(2.3)) + runs_at("b", speeds(2.0))
        (pair,) = pairs(report_of("", runs).sections[0])
        assert pair.repeats is not None
        held += pair.repeats.low <= math.exp(0.3) <= pair.repeats.high
    assert held / trials >= 0.91


def test_only_tasks_that_both_ran_on_are_compared(tmp_path: Path) -> None:
    studies = [s for s in two_by_two() if not (s.configuration == "plain" and s.task == TASKS[0])]
    make(tmp_path, studies, "x")
    (section,) = read(find(tmp_path, ["x"])).sections
    (pair,) = pairs(section)
    assert [task.task for task in pair.tasks] == [TASKS[1]]


# --- spending


def test_at_a_budget_the_number_is_that_of_the_leader_then() -> None:
    found = run_of_study(Study("s", gain=2.0, again=1.0, plain=False))
    moments = [float(step.queries) for step in found.steps]
    values = values_at(found, "queries", [0.0, moments[1] - 0.5, moments[1], 1e9])
    assert values[:2] == [1.0, 1.0]
    assert values[2] == approx(found.steps[1].eager or 0.0)
    assert found.best is not None
    assert values[3] == approx(found.best.eager.value)


def test_runs_of_unknown_cost_are_left_out_of_what_is_told_by_dollars() -> None:
    known, unknown = (
        run_of_study(Study("a")),
        replace(run_of_study(Study("b", repeat=2)), unpriced=3),
    )
    (section,) = report_of("", [known, unknown]).sections
    (mean,) = cutoffs(section, [Cutoff("dollars", 0.2)])
    assert (mean.runs, mean.unknown) == (1, 1)
    (curve,) = curves(section, "dollars")
    assert curve.runs == 1
    assert curves(section, "queries")[0].runs == 2


def test_what_costs_nothing_has_no_curve_by_dollars() -> None:
    (section,) = report_of("", [replace(run_of_study(Study("a")), cost_usd=0.0)]).sections
    assert curves(section, "dollars") == []
    assert cutoffs(section, [Cutoff("dollars", 25)]) == []


def test_a_curve_ends_where_its_last_run_ends_on_the_counted_mean() -> None:
    runs = [run_of_study(Study(f"s{n}", repeat=n, gain=1 + n)) for n in (1, 2, 3)]
    (section,) = report_of("", runs).sections
    (curve,) = curves(section, "queries")
    mean = estimate(section.strata("full"), "eager", PAPER)
    assert mean is not None
    assert curve.y[-1] == approx(mean.value)
    assert curve.x[-1] == max(r.queries for r in runs)
    assert len(curve.band) == len(curve.x)


# --- counts


def test_fixes_lines_and_agents_add_up(tmp_path: Path) -> None:
    make(tmp_path, two_by_two(), "x")
    (section,) = read(find(tmp_path, ["x"])).sections
    for histogram, total in zip(fixes(section), totals(section), strict=True):
        assert histogram.within <= histogram.total
        assert histogram.sure is not None
        assert total.found == total.runs == 4
    assert {step.step for step in lines(section)} == {0, 1}
    spent = [cost for cost in agent_costs(section) if cost.configuration == "good"]
    counted = next(total for total in totals(section) if total.configuration == "good")
    assert sum(cost.queries for cost in spent) == counted.queries
    assert sum(cost.cost_usd for cost in spent) == approx(counted.cost_usd)


def test_a_line_that_moved_changed_nothing() -> None:
    before, after = lines_of("a\nb\n\nc  \n"), lines_of("c\na\nb\nd\n")
    assert changed(before, after) == 1
    assert changed(before, before) == 0


# --- which sessions


def test_gpu_models_never_share_a_section(tmp_path: Path) -> None:
    make(tmp_path, [Study("a"), Study("b", device="NVIDIA H100 80GB HBM3")], "x")
    found = read(find(tmp_path, ["x"]))
    assert [section.device for section in found.sections] == [
        "NVIDIA H100 80GB HBM3",
        "NVIDIA H200",
    ]
    assert all(len(section.runs) == 1 for section in found.sections)


def test_two_texts_under_one_name_are_two_tasks() -> None:
    one, two = run_of_study(Study("a")), replace(run_of_study(Study("b")), task_sha256="f" * 64)
    (section,) = report_of("", [one, two]).sections
    assert len(section.tasks) == 2
    assert all(one.task in task for task in section.tasks)


def test_tasks_stand_in_the_order_of_their_numbers() -> None:
    names = ["level3/9_B", "level3/10_A", "level3/1_C", "a" * 30 + "9" * 6000]
    runs = [replace(BASE, task=name, task_sha256=name[:64]) for name in names]
    (section,) = report_of("", runs).sections
    assert section.tasks == (names[3], "level3/1_C", "level3/9_B", "level3/10_A")


def test_runs_that_never_began_are_left_out_and_said(tmp_path: Path) -> None:
    make(tmp_path, [Study("a")])
    row = {
        "configuration": "full",
        "task": TASKS[0],
        "repeat": 1,
        "session": "a",
        "state": "finished",
        "why": "",
    }
    unfit = row | {"session": "u", "state": "unfit", "why": "the task is stochastic"}
    gone, waiting = row | {"session": "cleaned"}, row | {"session": "w", "state": "waiting"}
    write_runs(tmp_path, "x", [row, unfit, gone, waiting])
    found = read(find(tmp_path, ["x"]))
    assert [r.session for s in found.sections for r in s.runs] == ["a"]
    assert [one.why for one in found.left_out] == [
        "unfit: the task is stochastic",
        "finished, but its session is not there any more",
        "not begun",
    ]


def test_the_beginning_of_a_name_will_do_and_whole_names_go_first(tmp_path: Path) -> None:
    make(tmp_path, [Study("ab"), Study("abc")], "notes")
    write_runs(tmp_path, "nothing", [])
    assert find(tmp_path, ["ab"]).name == ""
    assert find(tmp_path, ["note"]).name == "notes"
    with pytest.raises(AmbiguousSession, match="notes, nothing"):
        find(tmp_path, ["not"])


def test_two_experiments_keep_their_configurations_apart(tmp_path: Path) -> None:
    make(tmp_path, [Study("a")], "first")
    make(tmp_path, [Study("b")], "second")
    (section,) = read(find(tmp_path, ["first", "second"])).sections
    assert section.configurations == ("first/full", "second/full")


def test_a_session_counts_once_however_often_it_is_named(tmp_path: Path) -> None:
    make(tmp_path, [Study("a")], "x")
    (section,) = read(find(tmp_path, ["x", "a", "x"])).sections
    assert [run.configuration for run in section.runs] == ["full"]


def test_a_damaged_journal_is_left_out_and_said(tmp_path: Path) -> None:
    make(tmp_path, [Study("a"), Study("b")])
    (tmp_path / "sessions/b/journal.db").write_bytes(b"no database" * 100)
    found = read(find(tmp_path, []))
    assert [one.session for one in found.left_out] == ["b"]
    assert len(found.sections[0].runs) == 1


def test_a_journal_of_a_newer_pike_is_left_out_and_said(tmp_path: Path) -> None:
    make(tmp_path, [Study("a"), Study("b")])
    with closing(sqlite3.connect(tmp_path / "sessions/b/journal.db")) as db, db:
        db.execute("UPDATE facts SET kind='dreamt' WHERE seq=9")
    found = read(find(tmp_path, []))
    assert [one.session for one in found.left_out] == ["b"]
    assert "of a newer pike" in found.left_out[0].why


def test_an_unknown_name_lists_sessions_and_experiments(tmp_path: Path) -> None:
    make(tmp_path, [Study("softmax-1")], "ablation")
    with pytest.raises(NoSuchSession, match=r"softmax-1.*ablation"):
        find(tmp_path, ["softmax-7"])


@pytest.mark.parametrize("text", ["{", "{}", ""])
def test_a_broken_list_of_runs_is_refused(tmp_path: Path, text: str) -> None:
    write_runs(tmp_path, "x", [])
    (tmp_path / "experiments/x/runs.json").write_text(text, encoding="utf-8")
    with pytest.raises(FolderUnusable, match=r"runs\.json"):
        find(tmp_path, ["x"])


def test_a_name_that_climbs_out_of_the_folder_is_no_session(tmp_path: Path) -> None:
    make(tmp_path, [Study("a")])
    rows = [{"configuration": "c", "task": "t", "repeat": 1, "session": "../sessions/a"}]
    write_runs(tmp_path, "x", rows)
    assert read(find(tmp_path, ["x"])).sections == ()


def test_sessions_of_no_experiment_are_named_by_what_sets_them_apart() -> None:
    states = [fold([Fact(1, 0.0, bodies_of(Study(name))[0])]) for name in ("a", "b", "c")]
    assert states[2].opened is not None
    settings = states[2].opened.settings | {"fixes": 0}
    states[2].opened = replace(states[2].opened, settings=settings, seed=9)
    names = configuration_names(states)
    assert names[id(states[0])] == names[id(states[1])] == "pike-b, strong, fixes 5"
    assert names[id(states[2])] == "pike-b, strong, fixes 0"


def test_how_long_models_think_sets_sessions_apart_and_an_option_that_came_later_does_not() -> None:
    states = [fold([Fact(1, 0.0, bodies_of(Study(name))[0])]) for name in ("a", "b", "c")]
    opened = [state.opened for state in states]
    assert opened[0] is not None
    assert opened[2] is not None
    later = {**opened[0].settings, "agent_tools": False, "tool_rounds": 6}
    states[0].opened = replace(opened[0], settings=later)
    states[2].opened = replace(opened[2], thinking={"fix": "high"})
    names = configuration_names(states)
    assert names[id(states[0])] == names[id(states[1])] == "pike-b, strong, fix thinking default"
    assert names[id(states[2])] == "pike-b, strong, fix thinking high"


def test_a_session_of_an_experiment_is_named_by_its_configuration() -> None:
    state = fold([Fact(1, 0.0, bodies_of(Study("a"))[0])])
    assert state.opened is not None
    own = {"experiment": "ablation", "configuration": "no fixes", "repeat": "2"}
    state.opened = replace(state.opened, labels=own)
    assert configuration_names([state])[id(state)] == "ablation/no fixes"


def test_the_repeats_of_loose_sessions_are_counted_per_task(tmp_path: Path) -> None:
    make(tmp_path, [Study("a"), Study("b"), Study("c", task=TASKS[1])])
    (section,) = read(find(tmp_path, [])).sections
    assert sorted((r.session, r.repeat) for r in section.runs) == [("a", 1), ("b", 2), ("c", 1)]
    assert len(task_means(section)) == 2


def test_runs_are_plain_data(tmp_path: Path) -> None:
    make(tmp_path, [Study("a", end="running"), Study("b", end="paused")])
    found = read(find(tmp_path, []))
    assert [r.ended for r in found.sections[0].runs] == [False, False]
    assert json.dumps([t.runs for t in totals(found.sections[0])]) == "[2]"
