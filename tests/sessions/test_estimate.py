"""The estimate before a start: from what it is made, and what it does not pretend to know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions.estimate import FEWEST_QUERIES, Ahead, Likeness, estimate

MODELS = {"ideas": "strong", "improve": "strong", "fix": "cheap"}
AHEAD = Ahead(
    "starter/softmax",
    "pike-b",
    MODELS,
    "cuda:0",
    {"queries": 300, "cost_usd": 10.0, "hours": 12.0},
)


def row(**more: Any) -> dict[str, Any]:
    """Return a session of 100 queries that cost $ 2 and ran an hour."""
    return {
        "task": "starter/softmax",
        "strategy": "pike-b",
        "models": MODELS,
        "device": "cuda:1",
        "queries": 100,
        "cost_usd": 2.0,
        "running_s": 3600.0,
        "code": "",
        "created_at": 1.0,
        **more,
    }


def test_without_an_earlier_session_nothing_is_claimed() -> None:
    found = estimate(AHEAD, [])
    assert (found.sessions, found.cost_usd, found.hours, found.likeness) == (0, None, None, None)


def test_money_and_time_follow_the_queries() -> None:
    found = estimate(AHEAD, [row(), row(cost_usd=3.0), row(cost_usd=1.0, running_s=7200.0)])
    assert found.sessions == 3
    assert found.likeness is Likeness.SAME
    assert found.cost_usd == 6.0
    assert found.cost_range_usd == (3.0, 9.0)
    assert found.hours == 3.0
    assert (found.queries, found.ends_by) == (300, "queries")


def test_rounds_with_tools_are_told_by_such_sessions_alone() -> None:
    tools = replace(AHEAD, agent_tools=True)
    assert estimate(tools, [row()]).sessions == 0
    assert estimate(tools, [row(), row(agent_tools=True, cost_usd=3.0)]).cost_usd == 9.0
    assert estimate(AHEAD, [row(), row(agent_tools=True, cost_usd=3.0)]).cost_usd == 6.0


def test_a_limit_of_dollars_ends_it_earlier() -> None:
    found = estimate(replace(AHEAD, limits={"queries": 300, "cost_usd": 2.0}), [row()])
    assert (found.cost_usd, found.hours, found.queries, found.ends_by) == (
        2.0,
        1.0,
        100,
        "cost_usd",
    )


def test_a_limit_of_hours_ends_it_earlier() -> None:
    found = estimate(replace(AHEAD, limits={"queries": 300, "hours": 1.5}), [row()])
    assert (found.hours, found.cost_usd, found.ends_by) == (1.5, 3.0, "hours")


def test_a_search_that_ran_out_of_proposals_will_again() -> None:
    found = estimate(AHEAD, [row(queries=40, cost_usd=0.8, code="exhausted")])
    assert found.queries == 40
    assert found.ends_by == ""
    assert found.cost_usd == 0.8


def test_the_likest_sessions_are_taken_and_named() -> None:
    other_task = row(task="starter/scan", cost_usd=9.0)
    other_strategy = row(strategy="best-of-n", cost_usd=4.0)
    elsewhere = row(task="starter/scan", strategy="best-of-n", cost_usd=5.0)
    assert estimate(AHEAD, [other_task, other_strategy, row()]).likeness is Likeness.SAME
    assert estimate(AHEAD, [other_task, other_strategy]).likeness is Likeness.TASK
    assert estimate(AHEAD, [other_task, elsewhere]).likeness is Likeness.STRATEGY
    assert estimate(AHEAD, [elsewhere]).likeness is Likeness.MODELS


def test_sessions_on_other_devices_say_nothing_about_the_same_task() -> None:
    assert estimate(AHEAD, [row(device="cpu")]).likeness is Likeness.STRATEGY


def test_sessions_with_other_models_are_never_taken() -> None:
    assert estimate(AHEAD, [row(models={**MODELS, "fix": "strong"})]).sessions == 0


def test_a_session_that_hardly_began_is_not_taken() -> None:
    assert estimate(AHEAD, [row(queries=FEWEST_QUERIES - 1)]).sessions == 0


def test_unknown_costs_stay_unknown_and_the_time_is_told() -> None:
    found = estimate(AHEAD, [row(cost_unknown=True), row()])
    assert found.cost_usd is None
    assert found.hours == 3.0


def test_a_row_of_an_older_program_is_timed_by_its_ends() -> None:
    old = row(created_at=0.0, updated_at=7200.0)
    del old["running_s"]
    assert estimate(AHEAD, [old]).hours == 6.0


def test_an_unreadable_session_is_passed_over() -> None:
    assert estimate(AHEAD, [{"id": "x", "state": "unreadable", "queries": None}]).sessions == 0


@given(
    st.lists(
        st.builds(
            row,
            queries=st.integers(1, 2000),
            cost_usd=st.floats(0, 1e4),
            running_s=st.floats(0, 1e6),
            code=st.sampled_from(["", "exhausted", "queries"]),
        ),
        max_size=8,
    ),
    st.floats(0.01, 100),
    st.floats(0.01, 100),
    st.integers(1, 1000),
)
def test_an_estimate_never_exceeds_a_limit(
    rows: list[dict[str, Any]], cost: float, hours: float, queries: int
) -> None:
    limits = {"queries": queries, "cost_usd": cost, "hours": hours}
    found = estimate(replace(AHEAD, limits=limits), rows)
    assert (found.cost_usd or 0) <= cost * 1.000001
    assert (found.hours or 0) <= hours * 1.000001
    assert (found.queries or 0) <= queries
