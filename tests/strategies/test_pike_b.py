"""PIKE-B's decisions, one at a time."""

import json
from typing import Any

import pytest

from strategies.errors import StateRefused
from strategies.protocol import Proposal, Reason, Role
from tests.strategies.search import ORIGINAL, Search, closed, made, pike_b, shares, started


def test_the_first_proposal_asks_for_ideas() -> None:
    (ask,) = Search(pike_b()).propose()
    assert (ask.id, ask.role, ask.parent, ask.idea) == ("p1", Role.IDEAS, "c0", None)


def test_each_idea_starts_from_the_original_at_its_own_position() -> None:
    search = Search(pike_b())
    search.close(search.propose()[0], None, "one", "two", "three")
    starts = search.propose()
    assert [p.idea for p in starts] == ["one"] * 4 + ["two"] * 3 + ["three"] * 3
    assert {(p.role, p.parent) for p in starts} == {(Role.START, "c0")}
    assert [dict(p.meta) for p in starts] == [{"phase": 0, "position": i} for i in range(10)]
    assert [p.id for p in starts] == [f"p{i}" for i in range(2, 12)]


def test_unparsable_ideas_are_asked_for_once_more_then_gone_without() -> None:
    search = Search(pike_b())
    search.close(search.propose()[0])
    second = search.propose()
    assert [p.role for p in second] == [Role.IDEAS]
    search.close(second[0])
    assert [(p.role, p.idea) for p in search.propose()] == [(Role.START, None)] * 10


def test_no_more_ideas_are_kept_than_were_set() -> None:
    search = Search(pike_b(ideas=2))
    search.close(search.propose()[0], None, "one", "two", "three")
    assert [p.idea for p in search.propose()] == ["one"] * 5 + ["two"] * 5


def test_without_ideas_the_search_starts_at_once() -> None:
    assert [p.role for p in Search(pike_b(ideas=0)).propose()] == [Role.START] * 10


def test_a_phase_waits_for_every_trajectory_of_the_one_before() -> None:
    search = started()
    for proposal in list(search.open)[:9]:
        search.close(proposal, 1.0)
        assert search.propose() == []
    search.close(search.open[0], 2.0)
    assert len(search.propose()) == 10


def test_what_a_person_forked_holds_no_barrier_and_joins_the_pool() -> None:
    search = started()
    forked = Proposal("h1", Role.IMPROVE, "c0", meta={"position": 3})
    search.open.append(forked)
    for proposal in list(search.open)[:10]:
        search.close(proposal)
    search.strategy.absorb(closed(forked, made("c99", 0.5)))
    assert shares(search.propose()) == [("c99", 5), ("c0", 5)]


def test_what_a_person_submits_before_phase_0_closes_is_not_lost() -> None:
    search = Search(pike_b())
    submitted = Proposal("h1", Role.SUBMIT, "c0")
    search.strategy.absorb(closed(submitted, made("c99", 0.5)))
    search.close(search.propose()[0], None, "one")
    search.propose()
    search.close_all()
    assert shares(search.propose()) == [("c99", 5), ("c0", 5)]


@pytest.mark.parametrize(
    ("works", "expected"),
    [
        (5, [("c1", 3), ("c2", 3), ("c3", 2), ("c4", 2)]),
        (4, [("c1", 3), ("c2", 3), ("c3", 2), ("c4", 2)]),
        (3, [("c1", 3), ("c2", 3), ("c3", 2), ("c0", 2)]),
        (2, [("c1", 4), ("c2", 3), ("c0", 3)]),
        (1, [("c1", 5), ("c0", 5)]),
        (0, [("c0", 10)]),
    ],
)
def test_the_original_takes_one_seat_when_fewer_than_four_are_correct(
    works: int, expected: list[tuple[str, int]]
) -> None:
    search = started()
    search.close_all(*[1.0 + i for i in range(works)])
    improves = search.propose()
    assert shares(improves) == expected
    assert {p.role for p in improves} == {Role.IMPROVE}
    assert {p.idea for p in improves} == {None}


def test_a_position_is_the_index_of_the_seed_and_phases_count_up() -> None:
    search = started()
    search.close_all(1.0, 2.0)
    improves = search.propose()
    assert [p.meta["position"] for p in improves] == [0] * 4 + [1] * 3 + [2] * 3
    assert {p.meta["phase"] for p in improves} == {1}
    search.close_all()
    assert {p.meta["phase"] for p in search.propose()} == {2}


def test_a_banned_candidate_is_no_seed_and_a_pinned_one_sits_first() -> None:
    search = started()
    search.close_all(1.0, 2.0, 3.0, 4.0, 5.0)
    search.banned = frozenset({"c1"})
    search.pinned = (made("c5", 5.0),)
    assert shares(search.propose()) == [("c5", 3), ("c2", 3), ("c3", 2), ("c4", 2)]


def test_a_ban_is_stronger_than_a_pin() -> None:
    search = started()
    search.close_all(1.0, 2.0)
    search.pinned = (made("c2", 2.0),)
    search.banned = frozenset({"c2"})
    assert shares(search.propose()) == [("c1", 5), ("c0", 5)]


def test_a_banned_candidate_does_not_stand_in_the_way_of_its_branch() -> None:
    search = started(seed_rule="branch-first", top=2)
    search.close_all()
    search.propose()
    search.strategy.absorb(closed(search.open[0], made("fast", 1.0)))
    search.strategy.absorb(closed(search.open[1], made("next", 2.0)))
    search.banned = frozenset({"fast"})
    search.open = []
    assert shares(search.propose()) == [("next", 5), ("c0", 5)]


def test_a_pin_outlives_the_phase_of_its_candidate() -> None:
    search = started()
    search.pinned = (made("c77", 9.0),)
    search.close_all(1.0)
    assert shares(search.propose()) == [("c77", 4), ("c1", 3), ("c0", 3)]


def test_a_boost_weighs_the_share_of_a_seed() -> None:
    search = started()
    search.close_all(1.0, 2.0, 3.0, 4.0)
    search.weight = {"c2": 3.0}
    assert shares(search.propose()) == [("c1", 2), ("c2", 5), ("c3", 2), ("c4", 1)]


def test_only_the_last_phase_is_in_the_pool() -> None:
    search = started()
    search.close_all(0.1)
    search.propose()
    search.close_all(5.0)
    assert shares(search.propose()) == [("c11", 5), ("c0", 5)]


def test_keep_best_lets_the_fastest_ever_join_the_pool() -> None:
    search = started(keep_best=True)
    search.close_all(0.1, 0.2)
    assert shares(search.propose()) == [("c1", 4), ("c2", 3), ("c0", 3)]
    search.close_all(5.0)
    assert shares(search.propose()) == [("c1", 4), ("c11", 3), ("c0", 3)]


def test_keep_best_follows_a_ban_to_the_next_fastest() -> None:
    search = started(keep_best=True)
    search.close_all(0.1, 0.2)
    search.propose()
    search.close_all(5.0)
    search.banned = frozenset({"c1"})
    assert shares(search.propose()) == [("c2", 4), ("c11", 3), ("c0", 3)]


def test_a_state_stays_small_however_long_the_search() -> None:
    search = started(keep_best=True, width=50)
    sizes: list[int] = []
    for _ in range(8):
        search.queries_left = 300
        search.close_all(*[1.0 + i for i in range(50)])
        search.propose()
        sizes.append(len(json.dumps(search.strategy.dump())))
    assert sizes[-1] < 1.1 * sizes[2] < 15_000


def test_branch_first_takes_the_fastest_of_each_position_first() -> None:
    search = started(seed_rule="branch-first", top=3)
    search.close_all(1.0)
    (first, *_) = search.propose()
    by_position: dict[int, list[Proposal]] = {}
    for proposal in list(search.open):
        by_position.setdefault(proposal.meta["position"], []).append(proposal)
    fast = search.close(by_position[0][0], 1.0)
    search.close(by_position[0][1], 1.1)
    slow = search.close(by_position[1][0], 7.0)
    search.close_all()
    assert fast
    assert slow
    assert first.parent == "c1"
    assert [parent for parent, _ in shares(search.propose())] == [fast.id, slow.id, "c12"]


def test_a_phase_that_cannot_be_paid_in_full_starts_with_what_is_left() -> None:
    search = Search(pike_b(ideas=0), queries_left=13)
    assert len(search.propose()) == 10
    search.close_all(1.0, 2.0, 3.0, 4.0)
    assert shares(search.propose()) == [("c1", 1), ("c2", 1), ("c3", 1)]
    search.close_all()
    assert search.propose() == []


@pytest.mark.parametrize(("left", "roles"), [(1, [Role.START]), (2, [Role.IDEAS])])
def test_the_last_query_is_for_a_candidate_not_for_ideas(left: int, roles: list[Role]) -> None:
    search = Search(pike_b(), queries_left=left)
    assert [proposal.role for proposal in search.propose()] == roles


def test_a_cancelled_place_is_not_refilled() -> None:
    search = started()
    cancelled = search.open.pop()
    outcome = closed(cancelled)
    search.strategy.absorb(
        type(outcome)(outcome.proposal, (), None, (), Reason.CANCELLED),
    )
    assert search.propose() == []


def test_the_saved_state_is_json_and_carries_its_version() -> None:
    search = started()
    search.close_all(1.0)
    state: dict[str, Any] = json.loads(json.dumps(search.strategy.dump(), allow_nan=False))
    assert state["version"] == 1
    other = pike_b(ideas=0)
    other.load(state)
    assert other.propose(search.view()) == search.strategy.propose(search.view())


def test_a_search_loaded_between_two_asks_does_not_ask_a_third_time() -> None:
    search = Search(pike_b())
    search.close(search.propose()[0])
    other = pike_b()
    other.load(search.strategy.dump())
    search.strategy = other
    search.close(search.propose()[0])
    assert {p.role for p in search.propose()} == {Role.START}


def test_a_state_holds_no_sources() -> None:
    search = started()
    search.close_all(1.0)
    assert ORIGINAL.source not in json.dumps(search.strategy.dump())
    assert "ModelNew" not in json.dumps(search.strategy.dump())


def test_a_newer_state_is_refused_with_what_to_do() -> None:
    state = {**pike_b().dump(), "version": 2}
    with pytest.raises(
        StateRefused, match=r"version 2 of pike-b; here is version 1.*that saved it"
    ):
        pike_b().load(state)


@pytest.mark.parametrize("part", ["next_id", "seed", "pool", "inbox", "phase", "ideas"])
def test_a_state_without_one_of_its_parts_is_refused(part: str) -> None:
    state = pike_b().dump()
    del state[part]
    with pytest.raises(StateRefused, match=part):
        pike_b().load(state)


def test_a_state_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(StateRefused, match="damaged"):
        pike_b().load({**pike_b().dump(), "pool": [{"no": "seat"}]})
