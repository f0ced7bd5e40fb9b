"""What may still be spent: reserve, then settle; settled + reserved never exceeds a limit.

| limit | reserved | settled | at the limit |
| --- | --- | --- | --- |
| queries | 1 per proposal, 1 per fix | when it ends | nothing new; open trajectories close `budget` |
| dollars | an upper estimate per query | usage at price | wait while a reservation may come back, else stop |
| hours | – | running time without pauses | no new call; 15 minutes for calls in flight |
| attempts | 1 per submission | when it is made | nothing new; with the last verdict the search ends |
| idle hours | – | time since the last fact, while nothing is open | the search ends |
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from strategies.protocol import Role

if TYPE_CHECKING:
    from sessions.model import State

UNPAID = frozenset({Role.SUBMIT, Role.PLAIN})
"""Roles whose proposals need no query."""
GRACE_S = 15 * 60
"""For calls in flight when the hours are over."""
UNLIMITED = 1_000_000_000
_CENT_DUST = 1e-9


class Room(StrEnum):
    """Whether one more query may be sent."""

    YES = "yes"
    WAIT = "wait"
    """A reservation may come back."""
    QUERIES = "queries"
    COST = "cost"
    HOURS = "hours"


def shuts_out(out_of: str, role: Role) -> bool:
    """Return whether a budget that is used up keeps a proposal from beginning: one without a query costs only time."""
    return out_of == Room.HOURS or (bool(out_of) and role not in UNPAID)


def queries_left(state: State) -> int:
    """Return limit − settled − reserved."""
    limit = state.limits.get("queries")
    if limit is None:
        return UNLIMITED
    return max(0, int(limit) - state.spending.queries - state.spending.queries_reserved)


def room(state: State, now: float, *, reserved: bool, estimate_usd: float | None) -> Room:
    """Return whether a query may be sent.

    `reserved`: its query was reserved when it was proposed. `estimate_usd`: None if its price is unknown, which
    a dollar limit does not allow.
    """
    if hours_over(state, now):
        return Room.HOURS
    if not reserved and queries_left(state) < 1:
        return Room.QUERIES
    return _dollars(state, estimate_usd)


def _dollars(state: State, estimate_usd: float | None) -> Room:
    limit = state.limits.get("cost_usd")
    if limit is None:
        return Room.YES
    if estimate_usd is None:
        return Room.COST
    spending = state.spending
    if spending.cost_usd + spending.cost_reserved_usd + estimate_usd <= float(limit) + _CENT_DUST:
        return Room.YES
    return Room.WAIT if spending.cost_reserved_usd > 0 else Room.COST


def running_s(state: State, now: float) -> float:
    """Return how long the search has run, without pauses."""
    stretch = now - state.running_since if state.running_since is not None else 0.0
    return state.spending.running_s + max(0.0, stretch)


def hours_over(state: State, now: float) -> bool:
    """Return whether the hours are used up."""
    limit = state.limits.get("hours")
    return limit is not None and running_s(state, now) >= float(limit) * 3600


def grace_over(state: State, now: float) -> bool:
    """Return whether even calls in flight have had their time."""
    limit = state.limits.get("hours")
    return limit is not None and running_s(state, now) >= float(limit) * 3600 + GRACE_S


def attempts_left(state: State) -> int | None:
    """Return how many submissions an external search still takes; None: no limit."""
    limit = state.limits.get("attempts")
    return None if limit is None else max(0, int(limit) - _submitted(state))


def idle_over(state: State, now: float) -> bool:
    """Return whether an external search was left alone for its idle hours."""
    limit = state.limits.get("idle_hours")
    running = state.running_since is not None and not state.open_now
    return limit is not None and running and now - state.last_at >= float(limit) * 3600


def _submitted(state: State) -> int:
    return sum(1 for t in state.trajectories.values() if t.proposal.role is Role.SUBMIT)


def below_spent(state: State, limits: dict[str, float | int | None], now: float) -> str:
    """Return why new limits cannot hold, or an empty text: each must cover what is settled and reserved."""
    spending = state.spending
    spent = {
        "queries": float(spending.queries + spending.queries_reserved),
        "cost_usd": spending.cost_usd + spending.cost_reserved_usd,
        "hours": running_s(state, now) / 3600,
        "attempts": float(_submitted(state)),
    }
    for name, limit in limits.items():
        if name in spent and limit is not None and float(limit) < spent[name]:
            return f"{name} {limit:g} is below the {spent[name]:g} already spent and reserved"
    return ""


def projected_usd(state: State) -> float | None:
    """Return what the whole search will cost: mean of each role's last 30 queries × queries left; None if unknown."""
    if state.limits.get("queries") is None or state.spending.unpriced:
        return None
    costs = [
        q.cost_usd for q in list(state.queries.values())[-30:] if q.end and q.cost_usd is not None
    ]
    if not costs:
        return None
    left = queries_left(state) + state.spending.queries_reserved
    return state.spending.cost_usd + left * sum(costs) / len(costs)
