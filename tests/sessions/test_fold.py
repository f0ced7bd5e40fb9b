"""What each fact changes, and the pure functions over the folded state."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest

from sessions import budget
from sessions import facts as f
from sessions.attention import attention
from sessions.best import best, best_of, ranked, ranked_at_first
from sessions.budget import Room, room
from sessions.facts import KINDS, Fact, UnknownFact, decode, encode
from sessions.fold import apply, fold
from sessions.live import SILENT_S, tools_at_work
from sessions.lock import Presence
from sessions.model import State
from sessions.states import SessionState
from sessions.summary import Seen, seen, shown_state, summarise
from tests.sessions.states import (
    attempt,
    done,
    opened,
    proposed,
    sent,
    state_of,
    tried,
    verdict,
)


def test_every_kind_of_fact_survives_the_journal() -> None:
    for body in (opened(), proposed("p1"), sent(1, "p1"), done(1), verdict(1, 2.0)):
        assert decode(body.KIND, encode(body)) == body
    assert len(KINDS) == 25


def test_a_fact_of_a_newer_program_is_refused_and_newer_fields_are_left_out() -> None:
    with pytest.raises(UnknownFact, match="update pike"):
        decode("dreamt", {})
    assert decode("query_lost", {"query": "q1", "colour": "blue"}) == f.QueryLost("q1")


def test_facts_apply_once_and_in_order() -> None:
    state = state_of(opened())
    with pytest.raises(ValueError, match="once, in order"):
        apply(state, Fact(1, 0.0, f.Resumed("again")))


def test_a_proposal_reserves_a_query_which_its_first_query_uses_and_its_end_settles() -> None:
    state = state_of(opened(queries=5), proposed("p1", "p2"))
    assert budget.queries_left(state) == 3
    fold([Fact(3, 1.0, sent(1, "p1"))], state)
    assert budget.queries_left(state) == 3
    fold([Fact(4, 1.0, sent(2, "p1", 1))], state)
    assert budget.queries_left(state) == 2
    fold([Fact(5, 1.0, done(1)), Fact(6, 1.0, f.QueryLost("q2"))], state)
    assert (state.spending.queries, state.spending.queries_reserved) == (2, 1)
    fold([Fact(7, 1.0, f.Closed("p2", "cancelled"))], state)
    assert (budget.queries_left(state), state.spending.queries_reserved) == (3, 0)


@pytest.mark.parametrize(("counts", "spent"), [(True, 1), (False, 0)])
def test_a_query_that_failed_counts_unless_the_model_refused_to_be_asked(
    counts: bool, spent: int
) -> None:
    failed = f.QueryFailed("q1", "no", "server", counts)
    state = state_of(opened(queries=5), proposed("p1"), sent(1, "p1", usd=0.5), failed)
    assert state.spending.queries == spent
    assert state.spending.queries_reserved == 0
    assert state.spending.cost_usd == state.spending.cost_reserved_usd == 0


def test_money_is_reserved_then_settled_and_a_lost_answer_keeps_its_estimate() -> None:
    state = state_of(
        opened(cost_usd=1.0), proposed("p1", "p2"), sent(1, "p1", usd=0.4), sent(2, "p2", usd=0.3)
    )
    assert isclose(state.spending.cost_reserved_usd, 0.7)
    fold([Fact(5, 1.0, done(1, 0.1)), Fact(6, 1.0, f.QueryLost("q2"))], state)
    assert isclose(state.spending.cost_usd, 0.4)
    assert isclose(state.spending.estimated_usd, 0.3)
    assert state.spending.cost_reserved_usd == 0


def test_an_unknown_price_is_never_zero() -> None:
    state = state_of(opened(), proposed("p1"), sent(1, "p1", usd=None), done(1, None))
    assert state.spending.unpriced == 1
    assert summarise(state)["cost_unknown"]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [(0.5, Room.YES), (0.6, Room.WAIT), (None, Room.COST)],
)
def test_money_waits_while_a_reservation_may_come_back(
    estimate: float | None, expected: Room
) -> None:
    state = state_of(opened(cost_usd=1.0), proposed("p1"), sent(1, "p1", usd=0.5))
    assert room(state, 1003.0, reserved=True, estimate_usd=estimate) is expected
    fold([Fact(4, 1003.0, done(1, 0.5))], state)
    if estimate == 0.6:
        assert room(state, 1003.0, reserved=True, estimate_usd=estimate) is Room.COST


def test_a_fix_needs_a_free_query_and_a_first_query_has_one() -> None:
    state = state_of(opened(queries=1), proposed("p1"))
    assert room(state, 1001.0, reserved=True, estimate_usd=None) is Room.YES
    assert room(state, 1001.0, reserved=False, estimate_usd=None) is Room.QUERIES
    free = state_of(opened())
    assert budget.queries_left(free) == budget.UNLIMITED


def test_hours_count_running_time_only() -> None:
    state = state_of(
        opened(hours=1.0), f.Paused("p", "asked"), f.Resumed("r"), step=1000.0, start=0.0
    )
    assert isclose(budget.running_s(state, 2500.0), 1500.0)
    assert not budget.hours_over(state, 2500.0)
    assert budget.hours_over(state, 4600.0)
    assert room(state, 4600.0, reserved=True, estimate_usd=None) is Room.HOURS
    assert not budget.grace_over(state, 4600.0)
    assert budget.grace_over(state, 4600.0 + budget.GRACE_S)
    assert not budget.grace_over(state_of(opened()), 1e9)


def test_no_time_counts_in_which_no_engine_was_alive() -> None:
    state = state_of(opened(hours=1.0), proposed("p1"), start=0.0, step=10.0)
    fold([Fact(3, 9000.0, f.Resumed("the engine had ended"))], state)
    assert isclose(budget.running_s(state, 9005.0), 15.0)


def test_a_new_limit_must_cover_what_is_spent() -> None:
    state = state_of(opened(queries=9), *tried(1, 2.0), proposed("p2"))
    assert budget.below_spent(state, {"queries": 2}, 1010.0) == ""
    assert budget.below_spent(state, {"queries": None}, 1010.0) == ""
    assert "below the 2" in budget.below_spent(state, {"queries": 1}, 1010.0)


def test_the_cost_is_projected_from_recent_queries() -> None:
    state = state_of(opened(queries=10), proposed("p1"), sent(1, "p1", usd=0.2), done(1, 0.1))
    assert isclose(budget.projected_usd(state) or 0, 0.1 + 9 * 0.1)
    assert budget.projected_usd(state_of(opened())) is None
    assert budget.projected_usd(state_of(opened(queries=3))) is None


def test_the_best_is_confirmed_never_suspect_or_banned_and_then_the_fastest() -> None:
    odd: dict[str, Any] = {"flags": ["extraordinary"], "confirmed": False}
    state = state_of(
        opened(),
        *tried(1, 1.5),
        *tried(2, 3.0, confirmed=False),
        *tried(3, 9.0, **odd),
        *tried(4, None),
        *tried(5, 1.2),
    )
    assert best(state) is state.attempts["c1"]
    assert [a.id for a in ranked(state)] == ["c1", "c5", "c2"]
    assert state.attempts["c3"].suspect
    ban = f.Steered("s1", 1, "ban", {"candidates": ["c1"]}, "ada", applied=True)
    fold([Fact(state.seq + 1, 2000.0, ban)], state)
    assert best(state) is state.attempts["c5"]
    lift = f.Steered("s2", 2, "ban", {"candidates": ["c1"], "off": True}, "ada", applied=True)
    fold([Fact(state.seq + 1, 2000.0, lift)], state)
    assert best(state) is best_of(state.attempts.values()) is state.attempts["c1"]


def test_what_is_confirmed_when_measured_again_counts_as_confirmed() -> None:
    state = state_of(opened(), *tried(1, 1.5), *tried(2, 3.0, confirmed=None))
    assert best(state) is state.attempts["c1"]
    again = state.attempts["c2"].verdict | {"confirmed": True}
    fold([Fact(state.seq + 1, 2000.0, f.Remeasured("c2", again))], state)
    assert best(state) is state.attempts["c2"]
    lost = again | {"confirmed": False}
    fold([Fact(state.seq + 1, 2001.0, f.Remeasured("c2", lost))], state)
    assert best(state) is state.attempts["c1"]


@pytest.mark.parametrize(
    ("again", "refuted"),
    [
        ({"status": "ok", "confirmed": None}, False),
        ({"status": "infra_error", "code": "unstable_clock"}, False),
        ({"status": "rejected", "code": "stale_answer"}, True),
        ({"status": "ok", "flags": ["below_roofline"], "confirmed": False}, True),
    ],
)
def test_what_fails_when_measured_again_is_suspect_and_never_the_best(
    again: dict[str, Any], refuted: bool
) -> None:
    state = state_of(opened(), *tried(1, 1.5), *tried(2, 3.0), f.Remeasured("c2", again))
    assert state.attempts["c2"].suspect is refuted
    assert state.attempts["c2"].confirmed is not refuted
    assert best(state) is state.attempts["c1" if refuted else "c2"]
    assert [a.id for a in ranked_at_first(state)] == ["c2", "c1"]


def test_a_refused_steer_changes_nothing() -> None:
    ban = f.Steered("s1", 1, "ban", {"candidates": ["c1"]}, "ada", applied=False, why="no")
    state = state_of(opened(), *tried(1, 1.5), ban)
    assert state.banned == set()
    assert best(state) is state.attempts["c1"]


def test_a_pause_by_the_engine_needs_you_and_a_pause_by_a_person_does_not() -> None:
    own = attention(state_of(opened(), f.Paused("the key was refused", "bad_key")))
    assert own is not None
    assert (own.stopped, own.cause, own.code) == (True, "the key was refused", "bad_key")
    assert attention(state_of(opened(), f.Paused("by ada", "asked", "ada"))) is None
    assert attention(state_of(opened(), f.Finished("all used", "queries"))) is None
    assert attention(state_of(opened())) is None


def test_a_search_asks_for_you_near_a_budget_without_gain_or_with_a_suspect_on_top() -> None:
    near = attention(state_of(opened(queries=5), *[b for n in range(1, 5) for b in tried(n, 1.1)]))
    assert near is not None
    assert (near.stopped, near.code) == (False, "budget")
    idle = attention(state_of(opened(), *[b for n in range(1, 62) for b in tried(n, None)]))
    assert idle is not None
    assert "no gain in 61 queries" in idle.cause
    odd: dict[str, Any] = {"flags": ["below_roofline"], "confirmed": False}
    suspect = attention(state_of(opened(), *tried(1, 1.2), *tried(2, 9.0, **odd)))
    assert suspect is not None
    assert suspect.cause == "c2 is suspect and above the best"


@pytest.mark.parametrize(
    ("bodies", "engine", "waits", "expected"),
    [
        ([], Presence.ALIVE, "", SessionState.RUNNING),
        ([], Presence.ALIVE, "no evaluator here", SessionState.WAITING),
        ([], Presence.CRASHED, "", SessionState.CRASHED),
        ([f.Paused("p", "asked")], Presence.ALIVE, "", SessionState.PAUSED),
        ([f.Finished("f", "queries")], Presence.NONE, "", SessionState.FINISHED),
        ([f.Stopped("s")], Presence.CRASHED, "", SessionState.STOPPED),
    ],
)
def test_a_person_sees_what_the_engine_does(
    bodies: list[f.Body], engine: Presence, waits: str, expected: SessionState
) -> None:
    assert shown_state(state_of(opened(), *bodies), Seen(engine, waits)) is expected


@pytest.mark.parametrize(
    ("body", "engine", "quiet_s", "expected"),
    [
        (None, Presence.NONE, SILENT_S, SessionState.STOPPED),
        (None, Presence.NONE, SILENT_S - 1, SessionState.RUNNING),
        (None, Presence.ALIVE, SILENT_S, SessionState.RUNNING),
        (f.Paused("p", "asked"), Presence.ALIVE, 0, SessionState.PAUSING),
        (f.Paused("p", "asked"), Presence.CRASHED, 0, SessionState.CRASHED),
        (f.Paused("p", "asked"), Presence.NONE, 0, SessionState.PAUSED),
    ],
)
def test_a_tool_at_work_is_waited_for_and_an_engine_that_never_was_runs_nothing(
    body: f.Body | None, engine: Presence, quiet_s: float, expected: SessionState
) -> None:
    state = state_of(opened(), *([body] if body else []))
    live = {"evaluations": [{"candidate": "q3-1"}, {"candidate": "c2"}]}
    looked = seen(engine, 0.0, live, state.last_at, state.last_at + quiet_s)
    assert shown_state(state, looked) is expected
    assert tools_at_work(live) == 1


def test_a_pause_with_calls_in_flight_is_still_pausing() -> None:
    state = state_of(opened(), proposed("p1"), sent(1, "p1"), f.Paused("p", "asked"))
    assert shown_state(state) is SessionState.PAUSING


def test_the_parts_of_a_state_are_found_by_name() -> None:
    state = state_of(opened(), proposed("p1", role="ideas"), f.Started("p1", ""))
    assert State().name == ""
    assert state.name == "twice-1"
    assert [t.proposal.id for t in state.open] == ["p1"]
    assert state.last_lineage == 0
    more = state_of(opened(), *tried(7, 2.0), attempt(8, "p7", "c7", "007"))
    assert more.lineages["007"].branch == "lineage/007"
    assert more.lineages["007"].attempts == ["c7", "c8"]
    assert more.last_number == 8


def test_every_model_that_answered_is_named_though_a_steer_changed_it_since() -> None:
    args = {"models": {"improve": "dear"}, "labels": {"dear": "dear (a test)"}}
    changed = f.Steered("s1", 1, "model", args, "ada", applied=True)
    state = state_of(opened(), *tried(1, 1.5), changed)
    assert state.answering == {"fated": "fated", "dear": "dear (a test)"}
    assert state.models == {"ideas": "fated", "improve": "dear", "fix": "fated"}
