"""What a session will probably cost and take, told from those before it. Pure: a function of summary rows.

| likeness, tried in this order | money | time |
| --- | --- | --- |
| same task, strategy, models and kind of device | good | good |
| same task and models | good | good |
| same strategy and models, other tasks | good | rough |
| same models | fair | rough |

Only sessions that offered tools tell of one that will: a round with tools costs something else than an answer without.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

FEWEST_QUERIES = 5
"""A session with fewer says nothing about a search."""
SAMPLES = 10
"""The newest so many sessions of a likeness are looked at."""


class Likeness(StrEnum):
    """How much the earlier sessions are like the one to come."""

    SAME = "same"
    TASK = "task"
    STRATEGY = "strategy"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class Ahead:
    """The session to come, as far as its cost depends on it."""

    task: str
    strategy: str
    models: Mapping[str, str]
    """Role to label, as in the rows."""
    device: str
    limits: Mapping[str, float | int | None]
    """`queries`, `cost_usd`, `hours`; None: no limit."""
    agent_tools: bool = False
    """Whether its queries are rounds with tools, which cost and take something else than answers do."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be expected."""

    sessions: int
    """How many it is made from; 0: there is none like it, and all else is empty."""
    likeness: Likeness | None = None
    cost_usd: float | None = None
    """None: the cost of their queries is not known."""
    hours: float | None = None
    queries: int | None = None
    ends_by: str = ""
    """The limit that will probably end it: `queries`, `cost_usd` or `hours`; empty: none of them."""
    cost_range_usd: tuple[float, float] | None = None
    """The cheapest and the dearest of them, for as many queries."""


@dataclass(frozen=True, slots=True)
class _Pace:
    """What one query took in an earlier session, all else of the session shared out."""

    cost_usd: float | None
    seconds: float
    queries: int
    """How many queries the session to come would make, if it went like this one."""


def estimate(ahead: Ahead, rows: Iterable[Mapping[str, Any]]) -> Estimate:
    """Return what the session will probably cost and take, from the rows of `sessions.summary`."""
    told = sorted(filter(_tells, rows), key=lambda row: -float(row.get("created_at") or 0))
    for likeness, alike in _LIKE:
        found = [row for row in told if alike(ahead, row)][:SAMPLES]
        if found:
            return _from(ahead, likeness, [_pace(ahead, row) for row in found])
    return Estimate(0)


def _tells(row: Mapping[str, Any]) -> bool:
    return int(row.get("queries") or 0) >= FEWEST_QUERIES and bool(row.get("models"))


def _same_models(ahead: Ahead, row: Mapping[str, Any]) -> bool:
    alike = dict(ahead.models) == dict(row.get("models") or {})
    return alike and ahead.agent_tools == bool(row.get("agent_tools"))


def _same_task(ahead: Ahead, row: Mapping[str, Any]) -> bool:
    kind = str(row.get("device") or "").partition(":")[0]
    same_device = kind == ahead.device.partition(":")[0]
    return same_device and _same_models(ahead, row) and row.get("task") == ahead.task


_LIKE: Sequence[tuple[Likeness, Callable[[Ahead, Mapping[str, Any]], bool]]] = (
    (Likeness.SAME, lambda a, r: _same_task(a, r) and r.get("strategy") == a.strategy),
    (Likeness.TASK, _same_task),
    (
        Likeness.STRATEGY,
        lambda a, r: _same_models(a, r) and r.get("strategy") == a.strategy,
    ),
    (Likeness.MODELS, _same_models),
)


def _pace(ahead: Ahead, row: Mapping[str, Any]) -> _Pace:
    queries = int(row["queries"])
    known = not row.get("cost_unknown") and row.get("cost_usd") is not None
    return _Pace(
        cost_usd=float(row["cost_usd"]) / queries if known else None,
        seconds=_ran_s(row) / queries,
        queries=_asked(ahead, row),
    )


def _ran_s(row: Mapping[str, Any]) -> float:
    """Return how long it ran; a row of an older program tells only when it began and was last heard."""
    ran = row.get("running_s")
    if ran is not None:
        return float(ran)
    return max(0.0, float(row.get("updated_at") or 0) - float(row.get("created_at") or 0))


def _asked(ahead: Ahead, row: Mapping[str, Any]) -> int:
    """Return how many queries are to be expected: all, unless the search had nothing more to propose."""
    limit = ahead.limits.get("queries")
    if row.get("code") == "exhausted" or limit is None:
        return min(int(row["queries"]), int(limit or row["queries"]))
    return int(limit)


def _from(ahead: Ahead, likeness: Likeness, paces: Sequence[_Pace]) -> Estimate:
    queries = median(pace.queries for pace in paces)
    costs = [pace.cost_usd * queries for pace in paces if pace.cost_usd is not None]
    cost = median(costs) if len(costs) == len(paces) else None
    hours = median(pace.seconds for pace in paces) * queries / 3600
    share, ends_by = _ends(ahead, queries, cost, hours)
    return Estimate(
        sessions=len(paces),
        likeness=likeness,
        cost_usd=None if cost is None else cost * share,
        hours=hours * share,
        queries=round(queries * share),
        ends_by=ends_by,
        cost_range_usd=(min(costs) * share, max(costs) * share) if cost is not None else None,
    )


def _ends(ahead: Ahead, queries: float, cost: float | None, hours: float) -> tuple[float, str]:
    """Return the share of the queries that the budget lets it ask, and the limit that ends it."""
    shares = [(1.0, "queries" if queries == ahead.limits.get("queries") else "")]
    for name, expected in (("cost_usd", cost), ("hours", hours)):
        limit = ahead.limits.get(name)
        if limit is not None and expected is not None and expected > limit:
            shares.append((float(limit) / expected, name))
    return min(shares)
