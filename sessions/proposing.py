"""What the strategy sees and decides, and how its proposals begin and the search ends."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions import facts as f
from sessions.ids import human_proposal_id, lineage_id
from sessions.model import ORIGINAL
from sessions.recorder import Entry
from sessions.states import SessionState
from sessions.steering import weights
from strategies.errors import ProposalRefused
from strategies.protocol import Proposal, Role, View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.model import State, TrajectoryRecord
    from sessions.parts import Parts
    from strategies.protocol import Candidate, Outcome, Strategy

ENDS = {
    "queries": "all queries are used",
    "cost": "the money is used up: the next query might go above the limit",
    "hours": "the hours are used up",
    "attempts": "all attempts are used",
    "idle": "nobody handed anything in for its idle hours",
    "exhausted": "the strategy has nothing more to propose",
}


async def propose(parts: Parts, strategy: Strategy) -> bool:
    """Absorb what closed, ask for proposals, write both as one fact; False if the state moved on meanwhile."""
    closed = list(parts.state.absorbed)
    records = [parts.state.trajectories[name] for name in closed]
    outcomes = [await parts.library.outcome(record) for record in records]
    original = await parts.library.original()
    names = list(parts.state.pins)
    pinned = [await parts.library.candidate(name) for name in names]

    def decide(state: State) -> Entry | None:
        moved_on = state.absorbed != closed or list(state.pins) != names
        over = state.state is not SessionState.RUNNING
        if moved_on or over or not parts.gate.is_open:
            return None
        proposals, dump = _asked(strategy, outcomes, view_of(state, original, pinned))
        check(state, proposals)
        return Entry((f.Proposed([as_json(p) for p in proposals], dump),))

    return await parts.recorder.decide(decide)


def _asked(
    strategy: Strategy, outcomes: Sequence[Outcome], view: View
) -> tuple[Sequence[Proposal], dict[str, Any]]:
    """Return what the strategy proposes and its state; one that wants to leave does not take the engine along."""
    try:
        for outcome in outcomes:
            strategy.absorb(outcome)
        return strategy.propose(view), dict(strategy.dump())
    except SystemExit as error:
        raise ProposalRefused(f"it called for the end of the program: {error!r}") from error


def check(state: State, proposals: Sequence[Proposal]) -> None:
    """Refuse proposals that would break the journal or the budget: a person's own strategy may make them.

    Raises:
        ProposalRefused: it says which proposal, and what is wrong with it.
    """
    names = set(state.trajectories)
    for proposal in proposals:
        _check_form(proposal)
        if not re.fullmatch(r"p[1-9]\d*", proposal.id) or proposal.id in names:
            raise ProposalRefused(f"its proposal {proposal.id!r} must be a new name: p1, p2 ..")
        if proposal.role in budget.UNPAID:
            raise ProposalRefused(f"its proposal {proposal.id} has the role {proposal.role}")
        names.add(proposal.id)
        shown = (proposal.parent, *proposal.inspirations)
        unknown = [name for name in shown if name != ORIGINAL and name not in state.attempts]
        banned = [name for name in shown if name in state.banned]
        if unknown or banned:
            why = (
                f"{unknown[0]!r}, which is no candidate"
                if unknown
                else f"{banned[0]}, which is banned"
            )
            raise ProposalRefused(f"its proposal {proposal.id} names {why}")
    left = budget.queries_left(state)
    if len(proposals) > left:
        raise ProposalRefused(f"it proposed {len(proposals)} queries where {left} are left")


def _check_form(proposal: object) -> None:
    """Refuse what could be written but not read again: the journal would be lost with it."""
    if not isinstance(proposal, Proposal):
        raise ProposalRefused(f"it proposed {_short(proposal)}, which is no Proposal")
    texts: tuple[object, ...] = (proposal.id, proposal.parent, *proposal.inspirations)
    wrong = [text for text in (*texts, proposal.idea or "") if not _is_text(text)]
    if wrong:
        raise ProposalRefused(
            f"its proposal {_short(proposal.id)} holds {_short(wrong[0])} where text belongs"
        )
    if proposal.role not in list(Role):
        raise ProposalRefused(f"its proposal {proposal.id} has no role {_short(proposal.role)}")


def _is_text(value: object) -> bool:
    """Return whether a value is text that has an UTF-8 form, as files and commits need it."""
    return isinstance(value, str) and value == value.encode("utf-8", "replace").decode("utf-8")


def _short(value: object) -> str:
    return ascii(value)[:40]


def view_of(state: State, original: Candidate, pinned: Sequence[Candidate] = ()) -> View:
    """Return what a strategy may know."""
    assert state.opened is not None
    return View(
        queries_left=budget.queries_left(state),
        places=state.opened.places,
        open=tuple(record.proposal for record in state.open),
        original=original,
        banned=frozenset(state.banned),
        pinned=tuple(pinned),
        weight=weights(state),
    )


def submission_due(state: State) -> bool:
    """Return whether the file of `--from` was not handed in yet."""
    asked = bool(state.opened and state.opened.origin_key)
    return asked and not any(_is_origin(t.proposal) for t in state.trajectories.values())


def _is_origin(proposal: Proposal) -> bool:
    return proposal.role is Role.SUBMIT and "steer" not in proposal.meta


def submission(state: State) -> f.Proposed:
    """Return the fact that hands in the file of `--from`, before the strategy decides anything."""
    assert state.opened is not None
    meta = {"source_key": state.opened.origin_key, "origin": state.opened.origin}
    number = sum(1 for t in state.trajectories.values() if is_persons(t.proposal)) + 1
    return by_person([Proposal(human_proposal_id(number), Role.SUBMIT, ORIGINAL, meta=meta)])


def by_person(proposals: Sequence[Proposal]) -> f.Proposed:
    """Return the fact of proposals that the strategy did not make."""
    return f.Proposed([as_json(proposal) for proposal in proposals], None)


def is_persons(proposal: Proposal) -> bool:
    """Return whether a person made the proposal, not the strategy."""
    return proposal.id.startswith("h")


def in_line(state: State) -> list[TrajectoryRecord]:
    """Return the open trajectories, those under way first, then a person's, then the strategy's, each by age."""
    return sorted(state.open, key=lambda r: (not r.started, not is_persons(r.proposal)))


def starter(record: TrajectoryRecord) -> Callable[[State], Entry | None]:
    """Return the decision that starts a proposal on its lineage.

    Its parent's, if the parent is its tip and no open proposal holds it; else, and for a fork, the next number.
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
    forked = record.steer and record.proposal.role is not Role.SUBMIT
    if parent is not None and not forked:
        tip = state.lineages[parent.lineage].attempts[-1] == parent.id
        held = any(other.lineage == parent.lineage for other in state.open)
        if tip and not held:
            return parent.lineage
    return lineage_id(state.last_lineage + 1)


def as_json(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as a `proposed` fact holds it."""
    return {**asdict(proposal), "meta": dict(proposal.meta)}
