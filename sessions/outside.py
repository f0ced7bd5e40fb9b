"""A session as an external agent sees it: plain JSON out of the folded state."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions.answers_on_candidates import as_kept
from sessions.best import best
from sessions.guidance import guidance
from sessions.journal import key_of
from sessions.model import ORIGINAL
from sessions.states import SessionState
from sessions.verdicts import headline
from strategies.external import NAME as EXTERNAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.model import AttemptRecord, State, TrajectoryRecord

JOB = "att_"
"""How the id of a submission's job begins."""
CLOSED = frozenset({"lost", "cancelled", "budget"})
"""Submissions that came to no verdict: the same source may be handed in again."""


def job_of(session: str, parent: str, source: str) -> str:
    """Return the id of a submission's job: the same for the same source on the same parent."""
    text = f"{session}\n{parent}\n{key_of(as_kept(source))}"
    return f"{JOB}{mark_of(session)}_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def mark_of(session: str) -> str:
    """Return the part of a job's id that finds its session."""
    return hashlib.sha256(session.encode()).hexdigest()[:10]


def is_external(state: State) -> bool:
    """Return whether its attempts are handed in from outside."""
    return state.opened is not None and state.opened.strategy == EXTERNAL


def parent_of(state: State, caller: str, named: str) -> str:
    """Return the parent of what a caller hands in: by default its last attempt that was judged and is not banned."""
    if named:
        return named
    for record in reversed(state.trajectories.values()):
        attempt = state.attempts.get(record.attempts[-1]) if record.attempts else None
        mine = record.proposal.meta.get("caller") == caller
        if mine and attempt is not None and attempt.commit and not attempt.banned:
            return attempt.id
    return ORIGINAL


def earlier(state: State, caller: str, source: str, named: str) -> TrajectoryRecord | None:
    """Return a caller's submission of this source, on this parent or, where none is named, on any."""
    key = key_of(as_kept(source))
    for record in state.trajectories.values():
        meta = record.proposal.meta
        mine = meta.get("source_key") == key and meta.get("caller") == caller
        same = not named or record.proposal.parent == named
        if mine and same and record.closed not in CLOSED:
            return record
    return None


def by_job(state: State, job: str) -> TrajectoryRecord | None:
    """Return the newest submission of a job."""
    records = reversed(state.trajectories.values())
    return next((record for record in records if record.proposal.meta.get("job") == job), None)


def page(state: State, word: str) -> dict[str, Any]:
    """Return a session; `word`: its state, as a person would read it."""
    opened, top = state.opened, best(state)
    assert opened is not None
    return {
        "session_id": opened.session,
        "task_id": opened.task,
        "title": opened.title or None,
        "strategy": opened.strategy,
        "state": word,
        "cause": state.cause or None,
        "device": state.baseline.device if state.baseline else opened.device,
        "device_name": state.baseline.device_name if state.baseline else None,
        "eager_ms": state.baseline.eager_ms if state.baseline else None,
        "attempts_total": len(state.attempts),
        "attempts_left": budget.attempts_left(state),
        "queries_left": None if is_external(state) else _left(state),
        "prompts_waiting": sum(query.model == "mcp" for query in state.in_flight) or None,
        "best": line(top) if top else None,
        "best_attempt_id": top.id if top else None,
        "guidance": guidance(state) or None,
        "accepts_attempts": is_external(state) and state.state is not SessionState.FINISHED,
    }


def lines(state: State) -> list[str]:
    """Return a line per attempt, newest first."""
    return [line(attempt) for attempt in reversed(state.attempts.values())]


def line(attempt: AttemptRecord) -> str:
    """Return an attempt in one line; its idea is foreign text."""
    told = _told(attempt)
    banned = ", banned" if attempt.banned else ""
    return f"{attempt.id} from {attempt.parent}{banned}: {told} | {attempt.change}"[:300]


def _told(attempt: AttemptRecord) -> str:
    if not attempt.kind:
        return "being judged"
    if attempt.speedup is None:
        return headline(attempt.verdict)
    sure = "" if attempt.confirmed else ", not confirmed"
    return f"ok, {attempt.speedup:.3f}x over {attempt.verdict.get('baseline')}{sure}"


def standing(state: State, record: TrajectoryRecord) -> dict[str, Any]:
    """Return how a submission stands."""
    attempt = state.attempts[record.attempts[-1]] if record.attempts else None
    over = record.closed or (attempt is not None and attempt.commit)
    found: dict[str, Any] = {
        "session_id": state.name,
        "state": "done" if over else "running" if attempt else "queued",
        "attempts_left": budget.attempts_left(state),
        "guidance": guidance(state) or None,
    }
    if attempt is None:
        return found
    return found | about(state, attempt)


def about(state: State, attempt: AttemptRecord) -> dict[str, Any]:
    """Return an attempt's place in the search, and its verdict once there is one."""
    top = best(state)
    return {
        "attempt_id": attempt.id,
        "parent_id": attempt.parent,
        "lineage": attempt.lineage,
        "commit": attempt.commit or None,
        "is_best": bool(top and top.id == attempt.id) if attempt.kind else None,
        "verdict": attempt.verdict,
    }


def prompts_of(state: State) -> Iterator[str]:
    """Yield the queries that an external agent may answer, oldest first."""
    for query in state.in_flight:
        if query.model == "mcp":
            yield query.id


def agents_open(state: State, caller: str) -> bool:
    """Return whether a search counts as one that a caller has open."""
    opened = state.opened
    mine = opened is not None and opened.opened_by == caller and is_external(state)
    return mine and state.state not in (SessionState.FINISHED, SessionState.STOPPED)


def _left(state: State) -> int | None:
    return None if state.limits.get("queries") is None else budget.queries_left(state)
