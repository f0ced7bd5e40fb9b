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


def attention(state: State) -> Attention | None:
    """Return why the session needs its person; None if it does not."""
    if state.state is SessionState.PAUSED and state.code not in ("", "asked"):
        return Attention(stopped=True, cause=state.cause, code=state.code)
    if state.state is not SessionState.RUNNING:
        return None
    causes = [*_budgets(state), *_no_gain(state), *_suspects(state)]
    if not causes:
        return None
    return Attention(stopped=False, cause=", ".join(text for _, text in causes), code=causes[0][0])


def _budgets(state: State) -> list[tuple[str, str]]:
    spent = {
        "queries": float(state.spending.queries),
        "cost_usd": state.spending.cost_usd,
        "hours": state.spending.running_s / 3600,
    }
    names = {"queries": "queries are", "cost_usd": "money is", "hours": "time is"}
    limits = {name: state.limits.get(name) for name in spent}
    nearly = [
        names[n] for n, limit in limits.items() if limit and spent[n] >= NEARLY * float(limit)
    ]
    return [("budget", f"80 % of the {name} used") for name in nearly]


def _no_gain(state: State) -> list[tuple[str, str]]:
    found = best(state)
    since = state.spending.queries - (found.queries_then if found else 0)
    return [("no_gain", f"no gain in {since} queries")] if since >= PATIENCE else []


def _suspects(state: State) -> list[tuple[str, str]]:
    found = best(state)
    top = (found.speedup if found else None) or 0.0
    above = [a for a in state.attempts.values() if _suspect_above(a, top)]
    return [("suspect", f"{above[-1].id} is suspect and above the best")] if above else []


def _suspect_above(attempt: AttemptRecord, top: float) -> bool:
    return attempt.suspect and not attempt.banned and (attempt.speedup or 0.0) > top
