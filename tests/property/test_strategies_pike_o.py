"""PIKE-O and steady under random closings, bans and their lifting, pins, boosts, forks and budgets."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import registry
from strategies.errors import StateRefused
from strategies.pike_o import PikeO
from strategies.protocol import (
    Attempt,
    Candidate,
    Kind,
    Outcome,
    Proposal,
    Reason,
    Role,
    Strategy,
    Verdict,
    View,
)

if TYPE_CHECKING:
    from strategies.settings import Value

RULE = settings(max_examples=int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100")), deadline=None)
ORIGINAL = Candidate("c0", "", "class Model: ...", 1.0)
Turn = tuple[int, str, float, str, int]
"""Which open proposal closes, how, its runtime; the steer that comes before, on which candidate."""
TURNS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(["works", "works", "fails", "cancelled"]),
        st.floats(0.01, 2.0),
        st.sampled_from(["", "", "", "ban", "unban", "pin", "boost", "fork", "submit"]),
        st.integers(0, 50),
    ),
    max_size=60,
)
PIKE_O = st.fixed_dictionaries(
    {
        "islands": st.integers(1, 4),
        "population": st.integers(2, 8),
        "archive": st.integers(1, 4),
        "explore": st.sampled_from([0.0, 0.2, 0.5]),
        "exploit": st.sampled_from([0.0, 0.5]),
        "prompt": st.sampled_from(["cross", "improve"]),
        "original_in_archive": st.booleans(),
        "queue_ahead": st.booleans(),
        "failed_in_library": st.booleans(),
        "migration_interval": st.integers(1, 5),
        "grid": st.integers(1, 10),
    }
)
STEADY = st.fixed_dictionaries(
    {
        "width": st.integers(1, 6),
        "top": st.integers(1, 4),
        "window": st.integers(0, 5),
        "ideas": st.sampled_from([0, 3]),
    }
)
WISHES = st.one_of(st.tuples(st.just("pike-o"), PIKE_O), st.tuples(st.just("steady"), STEADY))
Wish = tuple[str, dict[str, Any]]


@dataclass
class Run:
    """An engine of a few lines with a person at it."""

    strategy: Strategy
    places: int
    queries: int
    open: list[Proposal] = field(default_factory=list[Proposal])
    known: dict[str, Candidate] = field(default_factory=dict[str, Candidate])
    correct: list[str] = field(default_factory=list[str])
    banned: set[str] = field(default_factory=set[str])
    pinned: list[str] = field(default_factory=list[str])
    weight: dict[str, float] = field(default_factory=dict[str, float])
    said: list[tuple[View, list[Proposal]]] = field(
        default_factory=list[tuple[View, list[Proposal]]]
    )
    persons: int = 0

    def propose(self) -> None:
        view = View(
            self.queries,
            self.places,
            tuple(self.open),
            ORIGINAL,
            frozenset(self.banned),
            tuple(self.known[name] for name in self.pinned),
            dict(self.weight),
        )
        proposals = self.strategy.propose(view)
        self.said.append((view, proposals))
        self.queries -= len(proposals)
        self.open += proposals
        if isinstance(self.strategy, PikeO):
            within(self.strategy)

    def play(self, turns: list[Turn]) -> Run:
        for index, end, runtime_ms, act, number in turns:
            self.steer(act, number)
            self.propose()
            if self.open:
                self.close(self.open.pop(index % len(self.open)), end, runtime_ms)
        self.propose()
        return self

    def close(self, proposal: Proposal, end: str, runtime_ms: float) -> None:
        if end == "cancelled":
            outcome = Outcome(proposal, (), None, (), Reason.CANCELLED)
        elif proposal.role is Role.IDEAS:
            ideas = ("one", "two") if end == "works" else ()
            outcome = Outcome(proposal, (), None, ideas, Reason.WORKS)
        else:
            outcome = self._tried(proposal, works=end == "works", runtime_ms=runtime_ms)
        self.strategy.absorb(outcome)

    def _tried(self, proposal: Proposal, *, works: bool, runtime_ms: float) -> Outcome:
        name = f"c{len(self.known) + 1}"
        source = "x = 1\n" * int(40 * runtime_ms) + proposal.id
        made = Candidate(name, proposal.parent, source, runtime_ms if works else None)
        self.known[name] = made
        self.correct += [name] if works else []
        attempt = Attempt(made, 0, Verdict(Kind.CORRECT if works else Kind.WRONG))
        reason = Reason.WORKS if works else Reason.GAVE_UP
        return Outcome(proposal, (attempt,), made if works else None, (), reason)

    def steer(self, act: str, number: int) -> None:
        if act in ("fork", "submit"):
            self.persons += 1
            parents = ["c0", *self.correct]
            role = Role.SUBMIT if act == "submit" else Role.IMPROVE
            parent = parents[number % len(parents)]
            if parent not in self.banned:
                self.open.append(Proposal(f"h{self.persons}", role, parent))
        elif act and self.correct:
            self._steer(act, self.correct[number % len(self.correct)], number)

    def _steer(self, act: str, name: str, number: int) -> None:
        free = name not in self.banned and name not in self.pinned
        if act == "boost":
            self.weight[name] = 1.0 + number
        elif act == "pin" and free and len(self.pinned) < self.strategy.seats:
            self.pinned.append(name)
        elif act == "ban" and free:
            self.banned.add(name)
            self.open = [p for p in self.open if name not in (p.parent, *p.inspirations)]
        elif act == "unban":
            self.banned.discard(name)


def within(strategy: PikeO) -> None:
    """What holds of the library whenever something was decided."""
    library, chosen = strategy.library, strategy.settings
    alive = library.alive
    assert len(alive) <= chosen.population
    assert len(library.archive()) <= chosen.archive
    assert len({entry.number for entry in library.entries}) == len(library.entries)
    assert all(0 <= entry.island < chosen.islands for entry in library.entries)
    cells = [entry.cell for entry in alive if entry.owner]
    assert len(cells) == len(set(cells))


def made(wish: Wish, seed: int = 5, places: int = 3) -> Strategy:
    name, chosen = wish
    given: dict[str, Value] = {"places": places, "queries": 60, **chosen}
    return registry.create(name, given, seed)


def played(wish: Wish, queries: int, turns: list[Turn], places: int = 3) -> Run:
    return Run(made(wish, places=places), places, queries).play(turns)


RUNS = st.builds(played, WISHES, st.integers(0, 80), TURNS)


@RULE
@given(RUNS)
def test_neither_budget_nor_places_are_exceeded(run: Run) -> None:
    assert run.queries >= 0
    for view, proposals in run.said:
        assert len(proposals) <= max(0, view.queries_left)
        queued = isinstance(run.strategy, PikeO) and run.strategy.settings.queue_ahead
        if proposals and not queued:
            assert len(view.open) + len(proposals) <= view.places


@RULE
@given(RUNS)
def test_the_banned_are_neither_parents_nor_shown_and_all_that_is_named_exists(run: Run) -> None:
    for view, proposals in run.said:
        for proposal in proposals:
            named = [proposal.parent, *proposal.inspirations]
            assert not view.banned.intersection(named)
            assert len(named) == len(set(named))
            assert all(name == "c0" or name in run.known for name in named)
            assert (proposal.role is Role.CROSS) == bool(proposal.inspirations)


@RULE
@given(RUNS)
def test_no_place_is_idle_while_a_query_is_left(run: Run) -> None:
    for view, proposals in run.said:
        asking = any(p.role is Role.IDEAS for p in (*view.open, *proposals))
        if view.queries_left > len(proposals) and not asking:
            assert len(view.open) + len(proposals) >= view.places


@RULE
@given(st.tuples(st.just("pike-o"), PIKE_O), TURNS)
def test_the_best_that_is_not_banned_stays_in_the_library(wish: Wish, turns: list[Turn]) -> None:
    run = Run(made(wish), 3, 200)
    strategy = run.strategy
    assert isinstance(strategy, PikeO)
    for turn in turns:
        if turn[3] == "unban":
            continue  # what left while a faster one was there does not come back
        run.play([turn])
        there = [e.runtime_ms for e in strategy.library.alive if e.runtime_ms]
        kept = strategy.library.homes.keys() - run.banned - {"c0"}
        runtimes = [run.known[name].runtime_ms or 9.0 for name in kept if name in run.correct]
        if runtimes and not run.banned:
            assert min(there) <= min(runtimes)


@RULE
@given(WISHES, st.integers(1, 80), TURNS, TURNS)
def test_a_search_loaded_from_its_dump_goes_on_the_same(
    wish: Wish, queries: int, before: list[Turn], later: list[Turn]
) -> None:
    straight, resumed = played(wish, queries, before), played(wish, queries, before)
    for run in (straight, resumed):  # a dump may be taken with outcomes waiting in the inbox
        if run.open:
            run.close(run.open.pop(0), "works", 0.5)
    state: dict[str, Any] = json.loads(json.dumps(straight.strategy.dump(), allow_nan=False))
    resumed.strategy = made(wish, seed=99)
    resumed.strategy.load(state)
    assert resumed.strategy.dump() == straight.strategy.dump()
    assert resumed.play(later).said == straight.play(later).said


@RULE
@given(WISHES, st.integers(1, 80), TURNS)
def test_a_dump_without_its_next_id_does_not_pass_for_a_whole_one(
    wish: Wish, queries: int, turns: list[Turn]
) -> None:
    run = played(wish, queries, turns)
    state = run.strategy.dump()
    assert state["next_id"] == 1 + sum(len(some) for _, some in run.said)
    forgetful = made(wish)
    forgetful.load({**state, "next_id": 1})
    with pytest.raises(StateRefused, match="next_id"):
        made(wish).load({key: value for key, value in state.items() if key != "next_id"})
    if run.queries > 0 and state["next_id"] > 1:
        run.open = []
        other = Run(forgetful, 3, run.queries, [], run.known, banned=run.banned)
        run.pinned, run.weight = [], {}
        run.propose()
        other.propose()
        assert other.said[-1][1] != run.said[-1][1]


@RULE
@given(WISHES, TURNS)
def test_with_one_place_a_search_killed_anywhere_is_the_straight_one(
    wish: Wish, turns: list[Turn]
) -> None:
    straight = played(wish, 60, turns, places=1)
    killed = Run(made(wish, places=1), 1, 60)
    for turn in turns:
        killed.steer(turn[3], turn[4])
        killed.propose()
        state = json.loads(json.dumps(killed.strategy.dump()))
        killed.strategy = made(wish, seed=1, places=1)
        killed.strategy.load(state)
        if killed.open:
            killed.close(killed.open.pop(turn[0] % len(killed.open)), turn[1], turn[2])
    killed.propose()
    assert killed.said == straight.said
