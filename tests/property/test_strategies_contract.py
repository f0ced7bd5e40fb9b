"""What every strategy owes the engine, whatever it searches by: one run through all that exist."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import registry
from strategies.errors import StateRefused
from strategies.protocol import Candidate, Outcome, Proposal, Role, Strategy, View
from tests.strategies.search import ORIGINAL, closed, made

PLACES = 4
Turn = tuple[int, bool, float, bool]
"""Which open proposal closes, whether it works, its runtime, whether its candidate is banned."""
TURNS = st.lists(
    st.tuples(st.integers(0, 20), st.booleans(), st.floats(0.01, 100.0), st.booleans()), max_size=50
)
NAMES = st.sampled_from(registry.searching())


@dataclass
class Game:
    """An engine of a few lines: opens all that is proposed, closes what it is told to."""

    strategy: Strategy
    queries: int
    open: list[Proposal] = field(default_factory=list[Proposal])
    banned: set[str] = field(default_factory=set[str])
    candidates: set[str] = field(default_factory=lambda: {"c0"})
    said: list[tuple[View, list[Proposal]]] = field(
        default_factory=list[tuple[View, list[Proposal]]]
    )

    def propose(self) -> None:
        view = View(self.queries, PLACES, tuple(self.open), ORIGINAL, banned=frozenset(self.banned))
        proposals = self.strategy.propose(view)
        self.said.append((view, proposals))
        self.queries -= len(proposals)
        self.open += proposals

    def close(self, turn: Turn) -> None:
        index, worked, runtime_ms, ban = turn
        proposal = self.open.pop(index % len(self.open))
        outcome = self._outcome(proposal, made(f"c{proposal.id[1:]}", runtime_ms), worked)
        self.strategy.absorb(outcome)
        if outcome.works is not None:
            self.candidates.add(outcome.works.id)
            self.banned |= {outcome.works.id} if ban else set()

    def _outcome(self, proposal: Proposal, candidate: Candidate, worked: bool) -> Outcome:
        if proposal.role is Role.IDEAS:
            return closed(proposal, None, *(["one", "two"] if worked else []))
        return closed(proposal, candidate if worked else None)

    def play(self, turns: list[Turn]) -> None:
        for turn in turns:
            self.propose()
            if not self.open:
                return
            self.close(turn)


def play(name: str, queries: int, turns: list[Turn]) -> Game:
    game = Game(registry.create(name, {"places": PLACES}, seed=5), queries)
    game.play(turns)
    return game


@settings(deadline=None)
@given(NAMES, st.integers(0, 60), TURNS)
def test_the_budget_is_never_exceeded(name: str, queries: int, turns: list[Turn]) -> None:
    game = play(name, queries, turns)
    assert game.queries >= 0
    assert all(len(proposals) <= view.queries_left for view, proposals in game.said)


@settings(deadline=None)
@given(NAMES, st.integers(0, 60), TURNS)
def test_no_banned_candidate_is_ever_named_again(
    name: str, queries: int, turns: list[Turn]
) -> None:
    for view, proposals in play(name, queries, turns).said:
        for proposal in proposals:
            assert not {proposal.parent, *proposal.inspirations} & view.banned


@settings(deadline=None)
@given(NAMES, st.integers(0, 60), TURNS)
def test_every_proposal_is_new_and_names_what_exists(
    name: str, queries: int, turns: list[Turn]
) -> None:
    game = play(name, queries, turns)
    proposals = [p for _, some in game.said for p in some]
    assert [p.id for p in proposals] == [f"p{i + 1}" for i in range(len(proposals))]
    assert {p.parent for p in proposals} <= game.candidates
    assert json.loads(json.dumps([dict(p.meta) for p in proposals])) is not None


@settings(deadline=None)
@given(NAMES, st.integers(1, 60), TURNS)
def test_with_nothing_open_there_is_work_while_a_query_is_left(
    name: str, queries: int, turns: list[Turn]
) -> None:
    for view, proposals in play(name, queries, turns).said:
        if not view.open and view.queries_left > 0:
            assert proposals


@settings(deadline=None)
@given(NAMES, st.integers(1, 60), TURNS, TURNS)
def test_a_search_goes_on_from_its_dump_as_if_nothing_had_happened(
    name: str, queries: int, before: list[Turn], later: list[Turn]
) -> None:
    straight, resumed = play(name, queries, before), play(name, queries, before)
    state: dict[str, Any] = json.loads(json.dumps(straight.strategy.dump(), allow_nan=False))
    resumed.strategy = registry.create(name, {"places": PLACES}, seed=6)
    resumed.strategy.load(state)
    assert resumed.strategy.dump() == straight.strategy.dump()
    straight.play(later)
    resumed.play(later)
    assert resumed.said == straight.said


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("version", [0, 999, None, "1"])
def test_a_state_of_another_version_is_refused_by_name(name: str, version: object) -> None:
    strategy = registry.create(name, {}, seed=1)
    with pytest.raises(StateRefused, match=f"version {version} of {strategy.name}"):
        strategy.load({**strategy.dump(), "version": version})
