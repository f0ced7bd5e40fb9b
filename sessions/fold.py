"""Facts to state: the one place that says what each fact changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sessions import facts as f
from sessions import fold_steers, tool_rounds
from sessions.best import best_of
from sessions.budget import UNPAID
from sessions.ids import number_of
from sessions.model import (
    AttemptRecord,
    CallRecord,
    LineageRecord,
    QueryRecord,
    State,
    ToolCall,
    TrajectoryRecord,
)
from sessions.states import SessionState
from strategies.protocol import Proposal, Role

if TYPE_CHECKING:
    from collections.abc import Iterable


def fold(facts: Iterable[f.Fact], state: State | None = None) -> State:
    """Return the state after the facts, applied in order to `state` (a new one if None), which is changed."""
    state = state if state is not None else State()
    for fact in facts:
        apply(state, fact)
    return state


def apply(state: State, fact: f.Fact) -> None:
    """Change the state by one fact.

    Raises:
        ValueError: the fact is not the next one.
    """
    if fact.seq <= state.seq:
        raise ValueError(f"fact {fact.seq} after {state.seq}: facts are applied once, in order")
    state.seq = fact.seq
    _apply(state, fact.body, fact.at)
    state.last_at = max(state.last_at, fact.at)


def proposal_of(data: dict[str, Any]) -> Proposal:
    """Return the proposal that a `proposed` fact holds."""
    return Proposal(
        id=data["id"],
        role=Role(data["role"]),
        parent=data["parent"],
        inspirations=tuple(data.get("inspirations") or ()),
        idea=data.get("idea"),
        meta=data.get("meta") or {},
    )


def _apply(state: State, body: f.Body, at: float) -> None:  # noqa: C901 - one switch over every kind
    match body:
        case f.Opened():
            _opened(state, body, at)
        case f.Baseline():
            state.baseline = body
        case f.Informed():
            state.informed = body
        case f.Profiled():
            state.profiles[body.candidate] = body
        case f.Proposed():
            _proposed(state, body, at)
        case f.Started():
            _started(state, body)
        case f.QuerySent():
            _query_sent(state, body, at)
        case f.QueryDone():
            _query_done(state, body)
        case f.QueryLost():
            _query_lost(state, body)
        case f.QueryFailed():
            _query_failed(state, body)
        case f.Unusable():
            _unusable(state, body)
        case f.AttemptMade():
            _attempt(state, body, at)
        case f.EvaluationSent():
            _evaluation_sent(state, body)
        case f.ToolCalled():
            call = ToolCall(body.agent, body.tool, body.ok, body.seconds)
            state.attempts[body.candidate].tools.append(call)
        case f.ToolAnswered():
            _tool_answered(state, body)
        case f.RoundsEnded():
            state.queries[body.query].cut_short = body.cause
        case f.VerdictReached():
            _verdict(state, body, at)
        case f.Committed():
            attempt = state.attempts.get(body.candidate)
            if attempt is not None:
                attempt.commit, attempt.branch = body.commit, body.branch
        case f.Closed():
            _closed(state, body)
        case f.Steered():
            fold_steers.steered(state, body, at)
        case f.Remeasured():
            state.attempts[body.candidate].remeasured = body.verdict
            state.leader = best_of(state.attempts.values())
        case f.Paused():
            if body.now:
                _end_evaluations(state)
            _enter(state, SessionState.PAUSED, at, body.cause, body.code, body.author)
        case f.Resumed():
            if state.state is SessionState.RUNNING:
                _take_over(state)
            _enter(state, SessionState.RUNNING, at, body.cause, "", body.author)
        case f.Stopped():
            _end_evaluations(state)
            _enter(state, SessionState.STOPPED, at, body.cause, body.code, body.author)
        case f.Finished():
            _enter(state, SessionState.FINISHED, at, body.cause, body.code, "")
        case _:
            assert_never(body)


def _opened(state: State, body: f.Opened, at: float) -> None:
    state.opened, state.opened_at = body, at
    state.limits, state.models = dict(body.limits), dict(body.models)
    state.labels = dict(body.labels)
    state.running_since = at


def _end_evaluations(state: State) -> None:
    """Nobody evaluates any more: what has no verdict is evaluated again when the search goes on."""
    for record in state.open:
        for name in record.attempts:
            state.attempts[name].evaluating = ""


def _take_over(state: State) -> None:
    """Count no time in which no engine was alive: a running stretch ends with the last fact."""
    _end_evaluations(state)
    if state.running_since is not None:
        state.spending.running_s += max(0.0, state.last_at - state.running_since)
        state.running_since = None


def _enter(state: State, to: SessionState, at: float, cause: str, code: str, author: str) -> None:
    if state.running_since is not None and to is not SessionState.RUNNING:
        state.spending.running_s += max(0.0, at - state.running_since)
        state.running_since = None
    if to is SessionState.RUNNING:
        state.running_since = state.running_since if state.running_since is not None else at
        state.failures_in_a_row = 0
    state.state, state.cause, state.code, state.cause_author = to, cause, code, author


def _proposed(state: State, body: f.Proposed, at: float) -> None:
    for data in body.proposals:
        proposal = proposal_of(data)
        record = TrajectoryRecord(proposal, at, state.seq)
        state.trajectories[proposal.id] = state.open_now[proposal.id] = record
        if proposal.role not in UNPAID:
            state.spending.queries_reserved += 1
        phase = proposal.meta.get("phase")
        state.phase = phase if isinstance(phase, int) else state.phase
    if body.dump is not None:
        state.dump, state.absorbed = body.dump, []


def _started(state: State, body: f.Started) -> None:
    trajectory = state.trajectories[body.proposal]
    trajectory.started, trajectory.lineage = True, body.lineage
    if body.lineage:
        state.last_lineage = max(state.last_lineage, int(body.lineage))


def _query_sent(state: State, body: f.QuerySent, at: float) -> None:
    query = QueryRecord(
        id=body.query,
        proposal=body.proposal,
        step=body.step,
        role=body.role,
        agent=body.agent,
        model=body.model,
        prompt_key=body.prompt_key,
        sample=body.sample,
        reserved_usd=body.reserved_usd,
        sent_at=at,
        steers=list(body.steers),
        thinking=body.thinking,
        seq=state.seq,
        round=body.round,
        last_round=body.last_round,
    )
    trajectory = state.trajectories[body.proposal]
    first = not trajectory.queries and trajectory.proposal.role not in UNPAID
    state.queries[body.query] = state.asked_now[body.query] = query
    state.last_number = max(state.last_number, number_of(body.query))
    trajectory.queries.append(body.query)
    trajectory.agent = body.agent
    if not first:
        state.spending.queries_reserved += 1
    state.spending.cost_reserved_usd += body.reserved_usd or 0.0
    for steer in body.steers:
        if steer in state.steers:
            state.steers[steer].uses += 1


def _settle(state: State, query: QueryRecord, end: str, *, counts: bool) -> None:
    query.end, query.counts = end, counts
    state.asked_now.pop(query.id, None)
    state.spending.queries_reserved -= 1
    state.spending.queries += int(counts)
    state.spending.cost_reserved_usd -= query.reserved_usd or 0.0
    if abs(state.spending.cost_reserved_usd) < 1e-12:
        state.spending.cost_reserved_usd = 0.0


def _query_done(state: State, body: f.QueryDone) -> None:
    query = state.queries[body.query]
    _settle(state, query, "done", counts=True)
    query.reply_key, query.finish, query.replayed = body.reply_key, body.finish, body.replayed
    query.input_tokens, query.cached_tokens = body.input_tokens, body.cached_tokens
    query.output_tokens, query.seconds = body.output_tokens, body.seconds
    query.thinking_tokens = body.thinking_tokens
    query.cache_write_tokens = body.cache_write_tokens
    query.client, query.claimed = body.client, body.claimed
    query.calls, query.turn_key = [CallRecord(tool) for tool in body.calls], body.turn_key
    query.cost_usd = 0.0 if body.replayed else body.cost_usd
    if query.cost_usd is None:
        state.spending.unpriced += 1
    else:
        state.spending.cost_usd += query.cost_usd
    state.failures_in_a_row = 0


def _tool_answered(state: State, body: f.ToolAnswered) -> None:
    call = state.queries[body.query].calls[body.call]
    call.result_key, call.agent, call.ok = body.result_key, body.agent, body.ok
    call.said, call.seconds = body.said, body.seconds


def _query_lost(state: State, body: f.QueryLost) -> None:
    query = state.queries[body.query]
    _settle(state, query, "lost", counts=True)
    query.cost_usd = query.reserved_usd
    state.spending.cost_usd += query.reserved_usd or 0.0
    state.spending.estimated_usd += query.reserved_usd or 0.0


def _query_failed(state: State, body: f.QueryFailed) -> None:
    query = state.queries[body.query]
    _settle(state, query, "failed", counts=body.counts)
    query.cause, query.cost_usd = body.cause, 0.0
    state.failures_in_a_row += int(body.counts)


def _unusable(state: State, body: f.Unusable) -> None:
    query = state.queries[body.query]
    query.unusable, query.cause = True, body.fault


def _attempt(state: State, body: f.AttemptMade, at: float) -> None:
    query = state.queries.get(body.query)
    state.last_number = max(state.last_number, number_of(body.candidate))
    state.attempts[body.candidate] = AttemptRecord(
        id=body.candidate,
        parent=body.parent,
        proposal=body.proposal,
        step=body.step,
        lineage=body.lineage,
        source_key=body.source_key,
        query=body.query,
        author=body.author,
        change=body.change,
        at=at,
        cost_usd=tool_rounds.cost_usd(state, query) if query else None,
    )
    state.trajectories[body.proposal].attempts.append(body.candidate)
    state.by_source.setdefault(body.source_key, []).append(body.candidate)
    lineage = state.lineages.setdefault(body.lineage, LineageRecord(body.lineage))
    lineage.attempts.append(body.candidate)


def _evaluation_sent(state: State, body: f.EvaluationSent) -> None:
    attempt = state.attempts[body.candidate]
    attempt.evaluating, attempt.turns = body.agent, body.turn
    attempt.job, attempt.endpoint = body.job, body.endpoint


def _verdict(state: State, body: f.VerdictReached, at: float) -> None:
    attempt = state.attempts[body.candidate]
    attempt.kind, attempt.runtime_ms = body.kind, body.runtime_ms
    attempt.verdict, attempt.reused = body.verdict, body.reused
    attempt.evaluating, attempt.verdict_at, attempt.verdict_seq = "", at, state.seq
    attempt.queries_then = state.spending.queries
    attempt.cost_then = state.spending.cost_usd
    state.leader = best_of([*([state.leader] if state.leader else []), attempt])


def _closed(state: State, body: f.Closed) -> None:
    trajectory = state.trajectories[body.proposal]
    if not trajectory.queries and trajectory.proposal.role not in UNPAID:
        state.spending.queries_reserved -= 1
    trajectory.closed, trajectory.works = body.reason, body.works
    trajectory.closed_seq = state.seq
    trajectory.ideas = tuple(body.ideas)
    state.absorbed.append(body.proposal)
    state.open_now.pop(body.proposal, None)
