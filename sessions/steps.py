"""What a trajectory does next: a pure function of the folded facts.

Because nothing else remembers, a search resumed after a kill goes on exactly where its facts end.

```
[Look ─▶] Reserve ─▶ Ask ─▶ Read ─▶ Evaluate ─▶ Commit ─▶ Reserve (a fix) … ─▶ Close
```
With `agent_tools`, `Use` and `Reserve` of further rounds come between Ask and Read (`tool_rounds.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from sessions import tool_rounds
from sessions.budget import UNPAID
from sessions.telling import lacks_profile
from sessions.verdicts import verdict_of
from strategies import fixing
from strategies.protocol import Attempt, Candidate, Fix, PromptRole, Reason, Role

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, QueryRecord, State, TrajectoryRecord
    from strategies.protocol import Verdict

UNANSWERED = "No answer arrived. Answer the request above."
"""What an `again` prompt says after a query that failed."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """Reserve the next query: step, template, model."""

    step: int
    role: PromptRole
    model: str
    """A configured role, or a model of the cascade."""
    fault: str = ""
    again_of: PromptRole | None = None
    round: int = 1
    """Above 1: it goes on with what the tools said."""


@dataclass(frozen=True, slots=True)
class Look:
    """Have the parent profiled, so that the first prompt can tell where its time goes."""

    candidate: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a reserved query."""

    query: str


@dataclass(frozen=True, slots=True)
class Use:
    """Call a tool that an answer asks for."""

    query: str
    call: int


@dataclass(frozen=True, slots=True)
class Read:
    """Take the candidate, or the ideas, out of an answer."""

    query: str


@dataclass(frozen=True, slots=True)
class Submit:
    """Make the attempt that a person handed in."""


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Get an attempt's verdict."""

    candidate: str


@dataclass(frozen=True, slots=True)
class Commit:
    """Keep an attempt and its verdict in git."""

    candidate: str


@dataclass(frozen=True, slots=True)
class End:
    """Close the trajectory."""

    reason: Reason
    works: str = ""


Step = Look | Reserve | Ask | Use | Read | Submit | Evaluate | Commit | End


def next_step(state: State, record: TrajectoryRecord, rules: fixing.FixRules) -> Step:
    """Return what an open trajectory does next."""
    attempt = _newest(state, record)
    if attempt is not None and not attempt.kind:
        return Evaluate(attempt.id)
    if attempt is not None and not attempt.commit:
        return Commit(attempt.id)
    query = state.queries[record.queries[-1]] if record.queries else None
    if query is not None and not query.end:
        return Ask(query.id)
    if below_ban(state, record) or _withdrawn(state, record):
        return End(Reason.CANCELLED)
    more = _round(query) if query is not None else None
    if more is not None and query is not None and not _taken(state, record, query):
        return more
    if query is not None and _unread(state, record, query):
        return Read(query.id)
    if record.proposal.role in UNPAID and not (attempt and record.proposal.meta.get("fix")):
        return _after_submission(attempt)
    return _after(state, record, rules, attempt)


def is_call(step: Step) -> bool:
    """Return whether a step starts something that a pause holds back."""
    return isinstance(step, Look | Reserve | Use | Evaluate | Submit)


def opening(role: Role) -> PromptRole:
    """Return the template of a proposal's first query."""
    match role:
        case Role.IDEAS:
            return PromptRole.IDEAS
        case Role.START:
            return PromptRole.START
        case Role.IMPROVE:
            return PromptRole.IMPROVE
        case Role.CROSS:
            return PromptRole.CROSS
        case Role.SUBMIT | Role.PLAIN:  # asked only for fixes, of an attempt that is there
            return PromptRole.FIX_ERROR
        case _:
            assert_never(role)


def history(state: State, record: TrajectoryRecord) -> list[fixing.Step]:
    """Return the steps taken, as the fix policy reads them; sources are left out."""
    handed_in = [state.attempts[a] for a in record.attempts if not state.attempts[a].query]
    steps: list[fixing.Step] = [
        Attempt(_bare(attempt), attempt.step, _verdict(state, attempt)) for attempt in handed_in
    ]
    for name in record.queries:
        query = state.queries[name]
        made = _attempt_of(state, record, query)
        if made is not None:
            steps.append(Attempt(_bare(made), query.step, _verdict(state, made)))
        elif query.unusable:
            steps.append(fixing.Unusable(query.cause))
        elif query.end == "failed" and query.counts and query.round <= 1:
            steps.append(fixing.Unusable(UNANSWERED))
    return steps


def attempts_of(state: State, record: TrajectoryRecord) -> list[AttemptRecord]:
    """Return a trajectory's attempts, oldest first."""
    return [state.attempts[name] for name in record.attempts]


def below_ban(state: State, record: TrajectoryRecord) -> bool:
    """Return whether a ban cancels the trajectory."""
    named = {record.proposal.parent, *record.proposal.inspirations, *record.attempts}
    return not named.isdisjoint(state.banned)


def _withdrawn(state: State, record: TrajectoryRecord) -> bool:
    """Whether its fork was withdrawn before anything of it was sent."""
    steer = state.steers.get(record.steer)
    return steer is not None and steer.withdrawn and not record.queries


def _after(
    state: State,
    record: TrajectoryRecord,
    rules: fixing.FixRules,
    attempt: AttemptRecord | None,
) -> Step:
    steps = history(state, record)
    first = opening(record.proposal.role)
    if not steps and lacks_profile(state, record):
        return Look(record.proposal.parent)
    if not steps:
        model = "ideas" if first is PromptRole.IDEAS else fixing.IMPROVE_MODEL
        return Reserve(0, first, model)
    if first is PromptRole.IDEAS:
        return End(Reason.GAVE_UP)
    decision = fixing.after(steps, rules)
    if not isinstance(decision, Fix):
        works = attempt.id if attempt and decision.reason is Reason.WORKS else ""
        return End(decision.reason, works)
    last = steps[-1]
    fault = last.fault if isinstance(last, fixing.Unusable) else ""
    again_of = fixing.asked(steps, first) if decision.role is PromptRole.AGAIN else None
    return Reserve(len(steps), decision.role, decision.model, fault, again_of)


def _after_submission(attempt: AttemptRecord | None) -> Step:
    if attempt is None:
        return Submit()
    if attempt.correct:
        return End(Reason.WORKS, attempt.id)
    return End(Reason.LOST if attempt.kind == "unavailable" else Reason.GAVE_UP)


def _newest(state: State, record: TrajectoryRecord) -> AttemptRecord | None:
    return state.attempts[record.attempts[-1]] if record.attempts else None


def _round(query: QueryRecord) -> Step | None:
    """Return what goes on with the rounds of a step; None where they are over."""
    role = PromptRole(query.role)
    if query.end == "done" and query.goes_on:
        call = tool_rounds.pending(query)
        if call is not None:
            return Use(query.id, call)
        return Reserve(query.step, role, query.model, round=query.round + 1)
    if tool_rounds.is_open(query):
        return Reserve(query.step, role, query.model, round=query.round)
    return None


def _unread(state: State, record: TrajectoryRecord, query: QueryRecord) -> bool:
    """Return whether an answer was not read yet; without one, the rounds before may hold a file."""
    failed = query.end == "failed" and query.counts and query.round > 1
    stopped = query.end in ("lost", "failed") and bool(query.cut_short)
    return (query.end == "done" or failed or stopped) and not _taken(state, record, query)


def _taken(state: State, record: TrajectoryRecord, query: QueryRecord) -> bool:
    return query.unusable or _attempt_of(state, record, query) is not None


def _attempt_of(state: State, record: TrajectoryRecord, query: QueryRecord) -> AttemptRecord | None:
    found = (state.attempts[name] for name in record.attempts)
    return next((attempt for attempt in found if attempt.query == query.id), None)


def _bare(attempt: AttemptRecord) -> Candidate:
    return Candidate(attempt.id, attempt.parent, "", attempt.runtime_ms)


def _verdict(state: State, attempt: AttemptRecord) -> Verdict:
    eager = state.baseline.eager_ms if state.baseline else None
    return verdict_of(attempt.verdict, eager)
