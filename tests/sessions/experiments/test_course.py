"""How an experiment stands and what comes next: pure, from summary rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions.experiments.course import REVIVALS, course, seen, spending
from sessions.experiments.plan import (
    Budget,
    Configuration,
    Plan,
    RunState,
    SharedPlaces,
    of_json,
    run_to_json,
    runs_of,
    runs_of_json,
    to_json,
)
from sessions.summary import NO_ENGINE

EACH = Budget(10, 2.0, 1.0)
REQUEST = {"precision": "half", "tolerance": "budget", "labels": {}, "limits": {"queries": 10}}


def plan_of(count: int = 2, **changes: Any) -> Plan:
    plan = Plan(
        name="lab",
        tasks={"starter/softmax": "ab", "starter/scan": "cd"},
        seeds=(7, 8),
        configurations=tuple(Configuration(f"c{n}", REQUEST, EACH) for n in range(count)),
    )
    return replace(plan, **changes)


def row(state: str = "running", **changes: Any) -> dict[str, Any]:
    return {"state": state, "engine": "alive", "queries": 4, "cost_usd": 1.0} | changes


def test_runs_come_repeat_by_repeat_so_that_comparisons_are_complete_early() -> None:
    runs = runs_of(plan_of())
    assert [(r.repeat, r.task, r.configuration) for r in runs[:4]] == [
        (1, "starter/softmax", "c0"),
        (1, "starter/softmax", "c1"),
        (1, "starter/scan", "c0"),
        (1, "starter/scan", "c1"),
    ]
    assert runs[0].session == "lab.c0.softmax.1"


def test_names_of_sessions_are_short_enough_and_differ() -> None:
    long = "a" * 32
    plan = plan_of(
        name=long,
        tasks=dict.fromkeys([f"{suite}/{'x' * 40}" for suite in ("a", "b", "c")], ""),
        configurations=(Configuration(long, REQUEST), Configuration(long[:-1], REQUEST)),
    )
    names = [run.session for run in runs_of(plan)]
    assert len(set(names)) == len(names) == 12
    assert max(map(len, names)) <= 64
    assert [run.session for run in runs_of(plan)] == names


def test_a_plan_and_its_runs_survive_json() -> None:
    plan = plan_of(places=SharedPlaces(2, 3, None, ("cuda:0",)), total=Budget(queries=9))
    assert of_json(to_json(plan)) == plan
    runs = [replace(run, state=RunState.UNFIT, why="so") for run in runs_of(plan)]
    assert runs_of_json([run_to_json(run) for run in runs]) == runs


def test_places_are_filled_one_at_a_time_and_no_further() -> None:
    plan = plan_of(places=SharedPlaces(sessions=2))
    runs = runs_of(plan)
    rows: dict[str, dict[str, Any]] = {}
    for wanted in runs[:2]:
        start = course(plan, runs, rows).start
        assert start is not None
        assert start.session == wanted.session
        rows[start.session] = row()
    assert course(plan, runs, rows).start is None
    rows[runs[0].session] = row("finished", code="queries")
    start = course(plan, runs, rows).start
    assert start is not None
    assert start.session == runs[2].session


def test_the_whole_budget_of_a_run_under_way_is_reserved() -> None:
    plan = plan_of(total=Budget(queries=30, cost_usd=4.0))
    runs = runs_of(plan)
    rows = {runs[0].session: row()}
    found = spending(plan, course(plan, runs, rows).runs, rows)
    assert (found.queries, found.queries_reserved) == (4, 6)
    assert (found.cost_usd, found.cost_reserved_usd) == (1.0, 1.0)
    rows[runs[1].session] = row()
    held = course(plan, runs, rows)
    assert held.start is None
    assert "too little money" in held.held
    rows = {r.session: row("finished", queries=1, cost_usd=0.1) for r in runs[:2]}
    assert course(plan, runs, rows).start is not None


def test_what_can_never_be_paid_is_passed_over() -> None:
    plan = plan_of(total=Budget(queries=25))
    runs = runs_of(plan)
    rows = {r.session: row("finished", queries=10) for r in runs[:2]}
    found = course(plan, runs, rows)
    assert found.is_over
    assert {r.state for r in found.runs[2:]} == {RunState.PASSED_OVER}


def test_free_models_reserve_no_money() -> None:
    free = tuple(replace(one, free=True) for one in plan_of().configurations)
    plan = plan_of(configurations=free, total=Budget(cost_usd=0.5))
    assert course(plan, runs_of(plan), {}).start is not None


def test_hours_used_up_stop_what_is_under_way_and_end_the_rest() -> None:
    plan = plan_of(total=Budget(hours=1.0))
    runs = runs_of(plan)
    found = course(plan, runs, {runs[0].session: row(running_s=3600.0)})
    assert "hours" in found.stop
    assert found.start is None
    assert {r.state for r in found.runs[1:]} == {RunState.PASSED_OVER}


def test_an_unfit_task_is_passed_over_by_all_who_judge_alike() -> None:
    strict = Configuration("strict", {**REQUEST, "precision": "fp32"}, EACH)
    plan = plan_of(configurations=(*plan_of().configurations, strict))
    runs = runs_of(plan)
    rows = {runs[0].session: row("finished", code="task_unfit", cause="the task does not fit")}
    by = {run.session: run for run in course(plan, runs, rows).runs}
    assert by["lab.c0.softmax.1"].state is RunState.UNFIT
    assert by["lab.c1.softmax.1"].state is RunState.PASSED_OVER
    assert by["lab.c0.softmax.2"].state is RunState.PASSED_OVER
    assert by["lab.strict.softmax.1"].state is RunState.WAITING
    assert by["lab.c0.scan.1"].state is RunState.WAITING


def test_a_crashed_engine_is_revived_a_few_times_only() -> None:
    plan = plan_of()
    runs = runs_of(plan)
    rows = {runs[0].session: row("crashed")}
    assert [r.session for r in course(plan, runs, rows).revive] == [runs[0].session]
    runs[0] = replace(runs[0], revived=REVIVALS)
    found = course(plan, runs, rows)
    assert not found.revive
    assert found.runs[0].state is RunState.FAILED
    seen_again = [replace(found.runs[0], state=RunState.CRASHED), *found.runs[1:]]
    assert course(plan, seen_again, rows).runs[0].why == found.runs[0].why


def test_a_session_without_an_engine_yet_is_given_one() -> None:
    plan = plan_of()
    runs = runs_of(plan)
    quiet = {"state": "stopped", "code": NO_ENGINE, "engine": "none"}
    assert seen(runs[0], row(**quiet)).state is RunState.CRASHED
    assert seen(runs[0], row("stopped")).state is RunState.STOPPED
    found = course(plan, runs, {runs[0].session: row(engine="none")})
    assert [r.session for r in found.revive] == [runs[0].session]


def test_a_refused_key_holds_all_back_and_other_trouble_only_when_it_repeats() -> None:
    plan = plan_of()
    runs = runs_of(plan)
    rows = {runs[0].session: row("paused", code="bad_key", cause="the key was refused")}
    found = course(plan, runs, rows)
    assert found.start is None
    assert found.is_over
    assert found.held == f"{runs[0].session} needs you: the key was refused"
    rows = {runs[0].session: row("paused", code="queries_failed", cause="3 failed")}
    assert course(plan, runs, rows).start is not None
    rows = {r.session: row("paused", code="queries_failed", cause="3 failed") for r in runs[:3]}
    assert course(plan, runs, rows).start is None


def test_a_removed_session_is_a_failure_not_a_second_start() -> None:
    plan = plan_of()
    runs = [replace(runs_of(plan)[0], state=RunState.RUNNING)]
    found = course(plan, runs, {})
    assert found.runs[0].state is RunState.FAILED
    assert found.start is None


ENDS = st.sampled_from(["finished", "unfit", "crashed", "paused", "stuck", "running"])


@given(st.lists(ENDS, max_size=60), st.integers(1, 4), st.integers(10, 90))
def test_no_fate_of_any_session_exceeds_the_budget_or_the_places(
    fates: list[str], sessions: int, queries: int
) -> None:
    plan = plan_of(places=SharedPlaces(sessions=sessions), total=Budget(queries=queries))
    runs = runs_of(plan)
    rows: dict[str, dict[str, Any]] = {}
    for fate in [*fates, *["finished"] * 12]:
        found = course(plan, runs, rows)
        runs = list(found.runs)
        if found.start is not None:
            assert found.start.session not in rows, "begun twice"
            rows[found.start.session] = row(queries=0)
        active = [name for name, one in rows.items() if one["state"] in ("running", "crashed")]
        assert len(active) <= sessions
        spent = spending(plan, runs, rows)
        assert spent.queries + spent.queries_reserved <= queries
        if active:
            rows[active[0]] = _row_after(fate)


def _row_after(fate: str) -> dict[str, Any]:
    match fate:
        case "unfit":
            return row("finished", code="task_unfit", cause="unfit", queries=0)
        case "stuck":
            return row("paused", code="queries_failed", cause="failed", queries=5)
        case "paused":
            return row("paused", code="asked", queries=5)
        case _:
            return row(fate, queries=10)
