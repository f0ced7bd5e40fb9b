"""Whether a session needs its person, and why. Pure: a function of the folded facts.

| form | causes |
| --- | --- |
| stopped: the engine paused itself | key refused, model unknown, three queries failed, disk full, no verdict |
| asks: the search goes on | 80 % of a budget used, no gain in 60 queries, a suspect above the best |

A budget used up is *finished*, and a pause by a person is a pause: neither needs you.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.best import best
from sessions.budget import running_s
from sessions.states import SessionState

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, State

NEARLY = 0.8
"""Share of a budget after which a person is asked."""
PATIENCE = 60
"""Queries without a gain after which a person is asked."""


@dataclass(frozen=True, slots=True)
class Attention:
    """Why a person is needed."""

    stopped: bool
    """The engine paused itself; otherwise the search goes on."""
    cause: str
    code: str
    """Of the `paused` fact, or `budget`, `no_gain`, `suspect`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One reason to ask a person while the search goes on."""

    key: str
    """Names it as long as it is the same: its numbers may change meanwhile."""
    code: str
    text: str


def attention(state: State) -> Attention | None:
    """Return why the session needs its person; None if it does not."""
    if state.state is SessionState.PAUSED and state.code not in ("", "asked"):
        return Attention(stopped=True, cause=state.cause, code=state.code)
    found = questions(state)
    if not found:
        return None
    cause = ", ".join(question.text for question in found)
    return Attention(stopped=False, cause=cause, code=found[0].code)


def questions(state: State) -> list[Question]:
    """Return what a running search asks its person, most pressing first."""
    if state.state is not SessionState.RUNNING:
        return []
    return [*_budgets(state), *_no_gain(state), *_suspects(state)]


def _budgets(state: State) -> list[Question]:
    spent = {
        "queries": float(state.spending.queries),
        "cost_usd": state.spending.cost_usd,
        "hours": running_s(state, state.last_at) / 3600,
    }
    words = {"queries": "queries are", "cost_usd": "money is", "hours": "time is"}
    limits = {name: state.limits.get(name) for name in spent}
    nearly = [n for n, limit in limits.items() if limit and spent[n] >= NEARLY * float(limit)]
    return [Question(n, "budget", f"80 % of the {words[n]} used") for n in nearly]


def _no_gain(state: State) -> list[Question]:
    found = best(state)
    since = state.spending.queries - (found.queries_then if found else 0)
    if since < PATIENCE:
        return []
    return [Question("no_gain", "no_gain", f"no gain in {since} queries")]


def _suspects(state: State) -> list[Question]:
    found = best(state)
    top = (found.speedup if found else None) or 0.0
    above = [a for a in state.attempts.values() if _suspect_above(a, top)]
    newest = above[-1].id if above else ""
    text = f"{newest} is suspect and above the best"
    return [Question(f"suspect {newest}", "suspect", text)] if above else []


def _suspect_above(attempt: AttemptRecord, top: float) -> bool:
    return attempt.suspect and not attempt.banned and (attempt.speedup or 0.0) > top
