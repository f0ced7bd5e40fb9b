"""steady: ideas first, then one of the fastest few whenever a place falls free."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from strategies.errors import StateRefused
from strategies.protocol import Candidate, Proposal, Role, View
from strategies.steady import Steady, SteadySettings
from tests.strategies.search import ORIGINAL, closed, made


class Run:
    """One steady search of four places, closed by hand."""

    def __init__(self, **settings: int) -> None:
        self.steady = Steady(SteadySettings(**settings), seed=7)
        self.open: list[Proposal] = []
        self.queries = 300
        self.banned: frozenset[str] = frozenset()
        self.pinned: tuple[Candidate, ...] = ()
        self.weight: dict[str, float] = {}

    def propose(self) -> list[Proposal]:
        made_now = self.steady.propose(
            View(self.queries, 4, tuple(self.open), ORIGINAL, self.banned, self.pinned, self.weight)
        )
        self.open += made_now
        self.queries -= len(made_now)
        return made_now

    def close(self, runtime_ms: float | None = None, *ideas: str) -> list[Proposal]:
        """Close the oldest; return what is proposed next."""
        proposal = self.open.pop(0)
        works = None if runtime_ms is None else made(f"c{proposal.id[1:]}", runtime_ms)
        self.steady.absorb(closed(proposal, works, *ideas))
        return self.propose()

    def parents(self, results: int) -> Counter[str]:
        """Return the parents of so many proposals, none of which works."""
        return Counter(proposal.parent for _ in range(results) for proposal in self.close())


def started(*runtimes_ms: float, **settings: int) -> Run:
    """A search without ideas whose first results had these runtimes: `c1`, `c2`, …."""
    run = Run(ideas=0, width=1, **settings)
    run.propose()
    for runtime_ms in runtimes_ms:
        run.close(runtime_ms)
    return run


def test_ideas_are_asked_for_alone_and_once_more_if_there_are_none() -> None:
    run = Run()
    assert [p.role for p in run.propose()] == [Role.IDEAS]
    assert run.propose() == []
    assert [p.role for p in run.close()] == [Role.IDEAS]
    assert [(p.role, p.idea) for p in run.close()] == [(Role.START, None)] * 4


def test_the_first_width_proposals_carry_out_the_ideas_in_order() -> None:
    run = Run(width=6)
    run.propose()
    starts = run.close(None, "a", "b", "c")
    for _ in range(2):
        starts += run.close(1.0)
    assert [p.idea for p in starts] == ["a", "a", "b", "b", "c", "c"]
    assert {p.parent for p in starts} == {"c0"}
    assert [p.meta["position"] for p in starts] == [0, 1, 2, 3, 4, 5]
    assert [p.role for p in run.close(2.0)] == [Role.IMPROVE]


def test_a_place_that_falls_free_is_filled_at_once() -> None:
    run = started(1.0)
    assert len(run.open) == 4
    assert len(run.close(0.5)) == 1
    run.queries = 0
    assert run.close(0.4) == []


def test_while_nothing_is_correct_the_ideas_go_round() -> None:
    run = Run(width=3)
    run.propose()
    told = [p.idea for p in run.close(None, "a", "b", "c")]
    for _ in range(5):
        told += [p.idea for p in run.close()]
    assert told == ["a", "b", "c"] * 3
    assert {p.role for p in run.close(1.0)} == {Role.IMPROVE}


def test_parents_are_the_fastest_few() -> None:
    run = started(0.9, 0.3, 0.8, 0.4, 0.5, 0.6)
    drawn = run.parents(80)
    assert set(drawn) == {"c2", "c4", "c5", "c6"}
    assert min(drawn.values()) > 8


def test_a_window_forgets_what_closed_before_it_and_failures_fill_it() -> None:
    run = started(0.1, 0.5, 0.6, window=2)
    assert set(run.parents(1)) == {"c3"}
    run.close()
    run.close()
    assert {p.role for p in run.close()} == {Role.START}
    without = started(0.1, 0.5, 0.6)
    assert "c1" in without.parents(40)


def test_the_pinned_are_always_in_the_top_and_the_banned_never() -> None:
    run = started(0.9, 0.3, 0.2, top=2)
    run.pinned = (made("c1", 0.9),)
    run.banned = frozenset({"c3"})
    assert set(run.parents(40)) == {"c1", "c2"}


def test_a_boost_weighs_the_draw() -> None:
    run = started(0.9, 0.3, 0.2)
    run.weight = {"c1": 98.0}
    assert run.parents(60)["c1"] > 50


def test_what_a_person_adds_joins_the_pool_and_takes_a_place() -> None:
    run = started(0.9, top=1)
    run.open.insert(0, Proposal("h1", Role.SUBMIT, "c0"))
    assert run.propose() == []
    assert [p.parent for p in run.close(0.1) or run.close()] == ["c1"]  # both are called c1


def test_a_dump_is_enough_to_go_on_and_a_damaged_one_is_refused() -> None:
    run = started(0.9, 0.3, 0.2)
    state = json.loads(json.dumps(run.steady.dump()))
    other = Steady(SteadySettings(ideas=0, width=1), seed=1)
    other.load(state)
    assert other.dump() == run.steady.dump()
    for part in set(state) - {"version"}:
        with pytest.raises(StateRefused, match=f"saved state of steady is damaged: '{part}'"):
            other.load({key: value for key, value in state.items() if key != part})


def test_a_state_stays_small_whatever_the_window() -> None:
    for window, kept in ((0, 100), (5, 5)):
        run = started(window=window)
        for i in range(150):
            run.close(1.0 + i)
        assert len(run.steady.dump()["pool"]) == kept
