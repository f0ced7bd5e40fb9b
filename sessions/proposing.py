"""What the strategy sees and decides, and how its proposals begin and the search ends."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions import facts as f
from sessions.ids import human_proposal_id, lineage_id
from sessions.model import ORIGINAL
from sessions.recorder import Entry
from strategies.protocol import Proposal, Role, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.model import State, TrajectoryRecord
    from sessions.parts import Parts
    from strategies.protocol import Candidate, Strategy

ENDS = {
    "queries": "all queries are used",
    "cost": "the money is used up: the next query might go above the limit",
    "hours": "the hours are used up",
    "exhausted": "the strategy has nothing more to propose",
}


async def propose(parts: Parts, strategy: Strategy) -> bool:
    """Absorb what closed, ask for proposals, write both as one fact; False if the state moved on meanwhile."""
    closed = list(parts.state.absorbed)
    records = [parts.state.trajectories[name] for name in closed]
    outcomes = [await parts.library.outcome(record) for record in records]
    original = await parts.library.original()

    def decide(state: State) -> Entry | None:
        if state.absorbed != closed or not parts.gate.is_open:
            return None
        for outcome in outcomes:
            strategy.absorb(outcome)
        proposals = strategy.propose(view_of(state, original))
        return Entry((f.Proposed([_json(p) for p in proposals], strategy.dump()),))

    return await parts.recorder.decide(decide)


def view_of(state: State, original: Candidate) -> View:
    """Return what a strategy may know."""
    assert state.opened is not None
    return View(
        queries_left=budget.queries_left(state),
        places=state.opened.places,
        open=tuple(record.proposal for record in state.open),
        original=original,
        banned=frozenset(state.banned),
    )


def submission_due(state: State) -> bool:
    """Return whether the file of `--from` was not handed in yet."""
    return bool(state.opened and state.opened.origin_key) and state.dump is None


def submission(state: State, strategy: Strategy) -> f.Proposed:
    """Return the fact that hands in the file of `--from`, before the strategy decides anything."""
    assert state.opened is not None
    meta = {"source_key": state.opened.origin_key, "origin": state.opened.origin}
    proposal = Proposal(human_proposal_id(1), Role.SUBMIT, ORIGINAL, meta=meta)
    return f.Proposed([_json(proposal)], strategy.dump())


def starter(record: TrajectoryRecord) -> Callable[[State], Entry | None]:
    """Return the decision that starts a proposal on its lineage.

    Its parent's, if the parent is its tip and no open proposal holds it; else the next number.
    """

    def decide(state: State) -> Entry | None:
        if record.started or record.closed:
            return None
        ideas = record.proposal.role is Role.IDEAS
        lineage = "" if ideas else _lineage(state, record)
        return Entry((f.Started(record.proposal.id, lineage),))

    return decide


def finished(parts: Parts) -> f.Finished:
    """Return why the search is over."""
    spent = budget.queries_left(parts.state) == 0
    code = parts.out_of or ("queries" if spent else "exhausted")
    return f.Finished(ENDS[code], code)


def _lineage(state: State, record: TrajectoryRecord) -> str:
    parent = state.attempts.get(record.proposal.parent)
    if parent is not None:
        tip = state.lineages[parent.lineage].attempts[-1] == parent.id
        held = any(other.lineage == parent.lineage for other in state.open)
        if tip and not held:
            return parent.lineage
    return lineage_id(state.last_lineage + 1)


def _json(proposal: Proposal) -> dict[str, Any]:
    return {**asdict(proposal), "meta": dict(proposal.meta)}
