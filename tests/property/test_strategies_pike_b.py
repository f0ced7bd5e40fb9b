"""PIKE-B under random closings, bans, pins, boosts, forks and budgets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.errors import StateRefused
from strategies.pike_b import PikeB, PikeBSettings
from strategies.protocol import Candidate, Outcome, Proposal, Reason, Role, View
from tests.strategies.search import ORIGINAL, closed, made

CLOSINGS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sampled_from(["works", "fails", "cancelled"]),
        st.floats(0.01, 100.0),
    ),
    max_size=60,
)
STEERS = st.lists(
    st.tuples(
        st.integers(0, 60), st.sampled_from(["ban", "pin", "boost", "fork"]), st.integers(0, 9)
    ),
    max_size=8,
)
SETTINGS = st.builds(
    PikeBSettings,
    width=st.integers(1, 12),
    top=st.integers(1, 6),
    ideas=st.sampled_from([0, 3, 10]),
    seed_rule=st.sampled_from(["global", "branch-first"]),
    keep_best=st.booleans(),
)


class Run:
    """One search, driven by drawn numbers; keeps what happened for the properties."""

    def __init__(self, chosen: PikeBSettings, queries: int) -> None:
        self.chosen = chosen
        self.strategy = PikeB(chosen, seed=3)
        self.queries = queries
        self.open: list[Proposal] = []
        self.correct: list[Candidate] = []
        self.banned: set[str] = set()
        self.pinned: dict[str, Candidate] = {}
        self.weight: dict[str, float] = {}
        self.proposed: list[tuple[View, list[Proposal]]] = []

    def view(self) -> View:
        return View(
            queries_left=self.queries,
            places=10,
            open=tuple(self.open),
            original=ORIGINAL,
            banned=frozenset(self.banned),
            pinned=tuple(self.pinned.values()),
            weight=dict(self.weight),
        )

    def propose(self) -> list[Proposal]:
        view = self.view()
        proposals = self.strategy.propose(view)
        self.proposed.append((view, proposals))
        self.open += proposals
        self.queries -= len(proposals)
        return proposals

    def close(self, index: int, end: str, runtime_ms: float) -> None:
        proposal = self.open.pop(index % len(self.open))
        self.strategy.absorb(self._outcome(proposal, end, runtime_ms))

    def _outcome(self, proposal: Proposal, end: str, runtime_ms: float) -> Outcome:
        if proposal.role is Role.IDEAS:
            return closed(proposal, None, *(["one", "two", "three"] if end == "works" else []))
        if end == "cancelled":
            return Outcome(proposal, (), None, (), Reason.CANCELLED)
        if end == "fails":
            return closed(proposal)
        self.correct.append(made(f"c{proposal.id}", runtime_ms))
        return closed(proposal, self.correct[-1])

    def steer(self, kind: str, number: int) -> None:
        if kind == "fork":
            self.open.append(Proposal(f"h{len(self.proposed)}{number}", Role.IMPROVE, "c0"))
        elif self.correct:
            candidate = self.correct[number % len(self.correct)]
            self._steer_candidate(kind, candidate, number)

    def _steer_candidate(self, kind: str, candidate: Candidate, number: int) -> None:
        if kind == "boost":
            self.weight[candidate.id] = 1.0 + number
        elif kind == "pin" and candidate.id not in self.banned and len(self.pinned) < 2:
            self.pinned[candidate.id] = candidate
        elif kind == "ban" and candidate.id not in self.pinned:
            self.banned.add(candidate.id)

    def play(
        self, closings: list[tuple[int, str, float]], steers: list[tuple[int, str, int]]
    ) -> None:
        for turn, (index, end, runtime_ms) in enumerate(closings):
            for _, kind, number in (steer for steer in steers if steer[0] == turn):
                self.steer(kind, number)
            self.propose()
            if self.open:
                self.close(index, end, runtime_ms)
        self.propose()


def played(
    chosen: PikeBSettings,
    queries: int,
    closings: list[tuple[int, str, float]],
    steers: list[tuple[int, str, int]],
) -> Run:
    run = Run(chosen, queries)
    run.play(closings, steers)
    return run


RUNS = st.builds(played, SETTINGS, st.integers(0, 80), CLOSINGS, STEERS)


@settings(deadline=None)
@given(RUNS)
def test_no_proposal_has_a_banned_parent(run: Run) -> None:
    for view, proposals in run.proposed:
        shown = {p.parent for p in proposals} | {c for p in proposals for c in p.inspirations}
        assert not shown & view.banned


@settings(deadline=None)
@given(RUNS)
def test_proposals_never_exceed_what_is_left_of_the_budget(run: Run) -> None:
    for view, proposals in run.proposed:
        assert len(proposals) <= max(view.queries_left, 0)
    assert run.queries >= 0


@settings(deadline=None)
@given(RUNS)
def test_a_phase_opens_only_when_the_one_before_is_closed(run: Run) -> None:
    for view, proposals in run.proposed:
        if any(p.id.startswith("p") for p in view.open):
            assert proposals == []


@settings(deadline=None)
@given(RUNS)
def test_work_is_never_idle_while_a_query_is_left(run: Run) -> None:
    for view, proposals in run.proposed:
        free = not any(p.id.startswith("p") for p in view.open)
        if free and view.queries_left > 0:
            asks = [p for p in proposals if p.role is Role.IDEAS]
            whole = min(run.chosen.width, view.queries_left)
            assert len(proposals) == (1 if asks else whole)


@settings(deadline=None)
@given(RUNS)
def test_ids_count_up_without_gap_and_parents_exist(run: Run) -> None:
    proposals = [p for _, some in run.proposed for p in some]
    assert [p.id for p in proposals] == [f"p{i}" for i in range(1, len(proposals) + 1)]
    assert {p.parent for p in proposals} <= {"c0", *(c.id for c in run.correct)}
    assert sum(p.role is Role.IDEAS for p in proposals) <= 2


@settings(deadline=None)
@given(RUNS)
def test_a_phase_takes_the_fastest_in_line_and_at_most_top_of_them(run: Run) -> None:
    for view, proposals in run.proposed:
        improves = [p for p in proposals if p.role is Role.IMPROVE]
        seeds = list(dict.fromkeys(p.parent for p in improves))
        assert len(seeds) <= run.chosen.top
        pinned = {c.id for c in view.pinned}
        if len(improves) >= run.chosen.top and pinned and not view.weight:
            assert set(seeds[: len(pinned)]) <= pinned


def through_json(strategy: PikeB, chosen: PikeBSettings) -> PikeB:
    state: dict[str, Any] = json.loads(json.dumps(strategy.dump(), allow_nan=False))
    other = PikeB(chosen, seed=99)
    other.load(state)
    return other


@settings(deadline=None)
@given(SETTINGS, st.integers(1, 80), CLOSINGS, CLOSINGS, STEERS)
def test_a_search_loaded_from_its_dump_proposes_the_same_to_the_end(
    chosen: PikeBSettings,
    queries: int,
    before: list[tuple[int, str, float]],
    later: list[tuple[int, str, float]],
    steers: list[tuple[int, str, int]],
) -> None:
    run = played(chosen, queries, before, steers)
    if run.open:  # a dump may be taken with outcomes waiting in the inbox
        run.close(0, "works", 1.0)
    twin = played(chosen, queries, before, steers)
    if twin.open:
        twin.close(0, "works", 1.0)
    twin.strategy = through_json(run.strategy, chosen)
    run.play(later, [])
    twin.play(later, [])
    assert twin.proposed == run.proposed


@settings(deadline=None)
@given(RUNS)
def test_a_dump_without_its_next_id_does_not_pass_for_a_whole_one(run: Run) -> None:
    state = run.strategy.dump()
    assert state["next_id"] == 1 + sum(len(some) for _, some in run.proposed)
    fresh = {**state, "next_id": 1}
    del state["next_id"]
    with pytest.raises(StateRefused, match="next_id"):
        PikeB(run.chosen, seed=3).load(state)
    if run.queries > 0 and fresh != run.strategy.dump():
        forgetful = PikeB(run.chosen, seed=3)
        forgetful.load(fresh)
        run.open = []
        assert forgetful.propose(run.view()) != run.strategy.propose(run.view())


@settings(deadline=None)
@given(
    SETTINGS, st.permutations(range(12)), st.lists(st.floats(0.5, 2.0), min_size=12, max_size=12)
)
def test_the_order_of_closing_changes_nothing(
    chosen: PikeBSettings, order: list[int], runtimes_ms: list[float]
) -> None:
    straight, shuffled = Run(chosen, 300), Run(chosen, 300)
    for run in (straight, shuffled):
        while run.propose()[0].role is Role.IDEAS:
            run.close(0, "works", 1.0)
    results = {p.id: round(ms, 1) for p, ms in zip(straight.open, runtimes_ms, strict=False)}
    for run, by in ((straight, sorted(order)), (shuffled, order)):
        for i in by:
            waiting = [p for p in run.open if p.id == f"p{i + 1 + (chosen.ideas > 0)}"]
            for proposal in waiting:
                run.close(run.open.index(proposal), "works", results[proposal.id])
    assert straight.propose() == shuffled.propose()
