"""What a session to come will cost and take, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.estimate import Ahead, Estimate, Likeness, estimate
from sessions.labels import told_models
from sessions.models.plain_variants import plain_variants
from strategies.options import held
from strategies.protocol import Candidate, Context
from workbench import format as fmt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from sessions.start import NewSession
    from strategies.protocol import Language

ENDS = {"cost_usd": "the limit of dollars", "hours": "the limit of hours"}


def ahead(request: NewSession) -> Ahead:
    """Return what an estimate is made for."""
    return Ahead(
        task=request.task,
        strategy=request.strategy,
        models=told_models(request.models, request.labels, request.thinking),
        device=request.device,
        limits=request.limits,
        agent_tools=held(request.settings).agent_tools,
    )


def plain(request: NewSession, languages: tuple[Language, ...]) -> int:
    """Return how many plain variants are evaluated before the first query (`plain_start`), by what can be built."""
    if not held(request.settings).plain_start:
        return 0
    original = Candidate("c0", "", request.source, None)
    device = request.device.partition(":")[0]
    names = (request.precision, request.tolerance)
    return len(plain_variants(Context(request.task, original, device, "", languages, *names)))


def expected(coming: Ahead, rows: Iterable[Mapping[str, Any]]) -> tuple[Estimate, str]:
    """Return the estimate, and the words for it."""
    found = estimate(coming, rows)
    return found, told(coming, found)


def told(coming: Ahead, found: Estimate) -> str:
    """Return the words for an estimate: `about $ 8.60 and 5 h, from 3 sessions like this one`."""
    if not found.sessions or found.hours is None:
        return f"no earlier session to estimate from: {at_most(coming.limits)}"
    money = "unknown cost" if found.cost_usd is None else f"about {fmt.money(found.cost_usd)}"
    spread = _spread(found)
    ends = f"; {ENDS[found.ends_by]} ends it" if found.ends_by in ENDS else ""
    time = fmt.duration(found.hours * 3600)
    return f"{money}{spread} and {time}, from {_like(coming, found)}{ends}"


def at_most(limits: Mapping[str, float | int | None]) -> str:
    """Return the upper bound by the budget: `at most 300 queries, $ 10.00 and 12 h, whichever comes first`."""
    queries, cost, hours = (limits.get(name) for name in ("queries", "cost_usd", "hours"))
    attempts = limits.get("attempts")
    parts = [
        fmt.plural(int(attempts), "attempt") if attempts is not None else "",
        fmt.plural(int(queries), "query", "queries") if queries is not None else "",
        fmt.money(cost) if cost is not None else "",
        fmt.duration(hours * 3600) if hours is not None else "",
    ]
    parts = [part for part in parts if part]
    if not parts:
        return "no limit is set, so it goes on until you stop it"
    last = f" and {parts[-1]}, whichever comes first" if len(parts) > 1 else parts[-1]
    return f"at most {', '.join(parts[:-1])}{last}"


def _spread(found: Estimate) -> str:
    if found.cost_range_usd is None or found.sessions < 2:
        return ""
    low, high = (fmt.amount(value) for value in found.cost_range_usd)
    return f" ({low}–{high})" if low != high else ""


def _like(coming: Ahead, found: Estimate) -> str:
    count = fmt.plural(found.sessions, "session")
    match found.likeness:
        case Likeness.SAME:
            return f"{count} like this one"
        case Likeness.TASK:
            return f"{count} on this task with these models"
        case Likeness.STRATEGY:
            return f"{count} of {coming.strategy} with these models on other tasks"
        case _:
            return f"{count} with these models"
