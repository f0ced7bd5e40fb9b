"""How an experiment stands and what its runner does next: pure functions of the plan and the sessions' summary rows.

```
row of each session ─▶ seen ─▶ runs ─▶ passed over ─▶ what to revive, what to start, or why nothing starts
```
The sessions are the truth: a runner that was killed knows all again after one look at them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions.experiments.plan import BEGUN, Budget, Plan, Run, RunState, unfit_like
from sessions.summary import NO_ENGINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REVIVALS = 3
"""Times that the engine of one run is started again after a crash."""
STUCK = 3
"""Runs that need a person, after which no other is begun."""
SAME_FOR_ALL = frozenset({"bad_key", "unknown_model", "bad_settings", "disk_full", "git"})
"""Codes of a pause that the next run would only come to, too."""
ASKED = ("", "asked")
"""Codes of a pause that a person asked for."""
UNFIT = "task_unfit"
GONE = "its engine is gone"
NOT_YET = "its engine is not there yet"


@dataclass(frozen=True, slots=True)
class Spent:
    """What all runs have spent, and what those under way may still spend."""

    queries: int = 0
    cost_usd: float = 0.0
    hours: float = 0.0
    queries_reserved: int = 0
    cost_reserved_usd: float = 0.0
    cost_unknown: bool = False
    """Some of it is of unknown cost."""


@dataclass(frozen=True, slots=True)
class Course:
    """What to do next."""

    runs: tuple[Run, ...]
    """As they stand now."""
    revive: tuple[Run, ...] = ()
    start: Run | None = None
    held: str = ""
    """Why nothing more is begun, where runs wait."""
    stop: str = ""
    """Why those under way are to be stopped."""

    @property
    def is_over(self) -> bool:
        """Whether nothing runs, and nothing will."""
        busy = (RunState.RUNNING, RunState.CRASHED)
        return not self.start and not self.revive and all(r.state not in busy for r in self.runs)


def course(plan: Plan, runs: Sequence[Run], rows: Mapping[str, Mapping[str, Any]]) -> Course:
    """Return how the runs stand and what comes next. `rows`: by session, of those that there are."""
    now = [seen(run, rows.get(run.session)) for run in runs]
    now = _passed_over(plan, now)
    spent = spending(plan, now, rows)
    if plan.total.hours is not None and spent.hours >= plan.total.hours:
        over = "the hours of all its runs are used up"
        active = any(run.state in (RunState.RUNNING, RunState.CRASHED) for run in now)
        return Course(tuple(_end_waiting(now, over)), stop=over if active else "")
    revive = tuple(run for run in now if run.state is RunState.CRASHED)
    waiting = [run for run in now if run.state is RunState.WAITING]
    active = sum(run.state in (RunState.RUNNING, RunState.CRASHED) for run in now)
    held = _stuck(now, rows)
    if not waiting or held or active >= plan.places.sessions:
        return Course(tuple(now), revive, held=held if waiting else "")
    return _next(plan, now, waiting, spent, revive, active)


def seen(run: Run, row: Mapping[str, Any] | None) -> Run:
    """Return a run as its session's summary row tells it."""
    if row is None:
        if run.state in BEGUN and run.state is not RunState.FAILED:
            return replace(run, state=RunState.FAILED, why="its session was removed")
        return run
    if run.state is RunState.FAILED and row["state"] == "crashed":
        return run
    state, why = _told(row)
    said = run.why if state is RunState.CRASHED and run.why else why
    return replace(run, state=state, why=said)


def spending(plan: Plan, runs: Sequence[Run], rows: Mapping[str, Mapping[str, Any]]) -> Spent:
    """Return what is spent and reserved: a run under way reserves its whole budget."""
    found = Spent()
    for run in runs:
        row = rows.get(run.session)
        if row is None:
            continue
        queries, cost = int(row.get("queries") or 0), float(row.get("cost_usd") or 0.0)
        most = reserve(plan, run) if _is_open(run) else Budget()
        found = Spent(
            queries=found.queries + queries,
            cost_usd=found.cost_usd + cost,
            hours=found.hours + float(row.get("running_s") or 0.0) / 3600,
            queries_reserved=found.queries_reserved + max(0, (most.queries or 0) - queries),
            cost_reserved_usd=found.cost_reserved_usd + max(0.0, (most.cost_usd or 0.0) - cost),
            cost_unknown=found.cost_unknown or bool(row.get("cost_unknown")),
        )
    return found


def reserve(plan: Plan, run: Run) -> Budget:
    """Return what a run may spend at most."""
    found = plan.configuration(run.configuration)
    return replace(found.budget, cost_usd=0.0) if found.free else found.budget


def _is_open(run: Run) -> bool:
    return run.state in (
        RunState.RUNNING,
        RunState.CRASHED,
        RunState.PAUSED,
        RunState.NEEDS_YOU,
    )


def _told(row: Mapping[str, Any]) -> tuple[RunState, str]:
    state, cause, code = str(row["state"]), str(row.get("cause") or ""), str(row.get("code") or "")
    match state:
        case "finished":
            return (RunState.UNFIT if code == UNFIT else RunState.FINISHED), cause
        case "stopped" if code != NO_ENGINE:
            return RunState.STOPPED, cause
        case "paused" | "pausing":
            return (RunState.PAUSED if code in ASKED else RunState.NEEDS_YOU), cause
        case "crashed":
            return RunState.CRASHED, GONE
        case "unreadable":
            return RunState.FAILED, cause
        case _:
            begun = row.get("engine") != "none"
            return (RunState.RUNNING, "") if begun else (RunState.CRASHED, NOT_YET)


def _passed_over(plan: Plan, runs: Sequence[Run]) -> list[Run]:
    """Pass over what waits for a task that another run found unfit, and give up engines that do not stay alive."""
    unfit = [run for run in runs if run.state is RunState.UNFIT]
    found: list[Run] = []
    for run in runs:
        other = unfit_like(plan, run, unfit) if run.state is RunState.WAITING else None
        if other is not None:
            why = f"{other.session} found that {other.why}"
            found.append(replace(run, state=RunState.PASSED_OVER, why=why))
        elif run.state is RunState.CRASHED and run.revived >= REVIVALS:
            vain = f"its engine was started {run.revived} times again in vain: "
            why = vain + run.why.removeprefix(vain)
            found.append(replace(run, state=RunState.FAILED, why=why))
        else:
            found.append(run)
    return found


def _stuck(runs: Sequence[Run], rows: Mapping[str, Mapping[str, Any]]) -> str:
    stuck = [run for run in runs if run.state is RunState.NEEDS_YOU]
    same = [r for r in stuck if rows.get(r.session, {}).get("code") in SAME_FOR_ALL]
    if not same and len(stuck) < STUCK:
        return ""
    first = (same or stuck)[0]
    return f"{first.session} needs you: {first.why}"


def _end_waiting(runs: Sequence[Run], why: str) -> list[Run]:
    return [
        replace(run, state=RunState.PASSED_OVER, why=why) if run.state is RunState.WAITING else run
        for run in runs
    ]


def _next(
    plan: Plan,
    runs: Sequence[Run],
    waiting: Sequence[Run],
    spent: Spent,
    revive: tuple[Run, ...],
    active: int,
) -> Course:
    """Return the first run that can be paid in full; what can never be paid is passed over."""
    now = list(runs)
    for run in waiting:
        lacking = _lacking(plan, run, spent)
        if not lacking:
            return Course(tuple(now), revive, start=run)
        if active or spent.queries_reserved or spent.cost_reserved_usd:
            return Course(tuple(now), revive, held=f"{lacking}; what is not spent comes back")
        now[now.index(run)] = replace(run, state=RunState.PASSED_OVER, why=lacking)
    return Course(tuple(now), revive)


def _lacking(plan: Plan, run: Run, spent: Spent) -> str:
    """Return what is left too little of for one more whole run; empty: it can be paid."""
    most, total = reserve(plan, run), plan.total
    queries = spent.queries + spent.queries_reserved + (most.queries or 0)
    if total.queries is not None and queries > total.queries:
        return "too few queries are left for a whole run"
    cost = spent.cost_usd + spent.cost_reserved_usd + (most.cost_usd or 0.0)
    if total.cost_usd is not None and cost > total.cost_usd + 1e-9:
        return "too little money is left for a whole run"
    return ""
