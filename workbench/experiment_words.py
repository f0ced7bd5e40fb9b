"""An experiment in words: a line per change, a table, what is spent and what is left to do."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sessions.experiments.plan import OVER, RunState, run_to_json
from workbench import format as fmt
from workbench.glyphs import glyphs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.experiments.course import Spent
    from sessions.experiments.folder import ExperimentFolder
    from sessions.experiments.plan import Budget, Plan, Run
    from workbench.experiment_plan import Outlook

HEAD = (
    "state",
    "configuration",
    "task",
    "repeat",
    "best×",
    "attempts",
    "queries",
    "cost $",
    "session",
)
RIGHT = ("repeat", "best×", "attempts", "queries", "cost $")
OUTLOOK = ("configuration", "runs", "each", "all: $", "all: time")
_GLYPH = {
    RunState.UNFIT: "finished",
    RunState.FAILED: "crashed",
    RunState.PASSED_OVER: "stopped",
    RunState.NEEDS_YOU: "needs you",
    RunState.WAITING: "waiting",
}
_TOLD = (RunState.FINISHED, RunState.STOPPED, RunState.PAUSED, RunState.NEEDS_YOU)
"""What a run came to is told with these."""


def line(run: Run, row: Mapping[str, Any]) -> str:
    """Return what became of a run: `pike-b, starter/softmax, 1: finished, best 1.41×, 30 queries, $ 0.12`."""
    parts = [str(run.state)]
    if run.state in _TOLD and row.get("attempts") is not None:
        parts += [f"best {fmt.speedup(row.get('best_speedup'))}"]
        parts += [fmt.plural(int(row.get("queries") or 0), "query", "queries")]
        parts += [_money(row)]
    why = f": {run.why}" if run.why else ""
    return f"{run.session}: {', '.join(parts)}{why}"


def cells(run: Run, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a run's row of the table."""
    known = row.get("attempts") is not None
    return (
        f"{glyphs().session(_GLYPH.get(run.state, run.state.value))} {run.state}",
        run.configuration,
        run.task,
        str(run.repeat),
        fmt.ratio(row.get("best_speedup")),
        str(row["attempts"]) if known else fmt.NONE,
        str(row.get("queries")) if known else fmt.NONE,
        _money(row).removeprefix("$ ") if known else fmt.NONE,
        run.session if known else fmt.NONE,
    )


def as_json(run: Run, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run and what its session tells of it."""
    kept = ("best_speedup", "best_candidate", "attempts", "queries", "cost_usd", "cost_unknown")
    return run_to_json(run) | {name: row.get(name) for name in (*kept, "running_s")}


def whys(runs: Sequence[Run]) -> list[str]:
    """Return why runs are not what a person wants them to be, the same reason once."""
    odd = [r for r in runs if r.why and r.state not in (RunState.FINISHED, RunState.RUNNING)]
    counted = Counter((str(run.state), run.why) for run in odd)
    first = {(str(run.state), run.why): run for run in reversed(odd)}
    return [
        f"{first[key].session}{f' and {count - 1} more' if count > 1 else ''}: {key[0]}: {key[1]}"
        for key, count in counted.items()
    ]


def progress(runs: Sequence[Run]) -> str:
    """Return how far the runs are: `12 runs: 9 finished, 1 unfit, 2 waiting`."""
    counted = Counter(run.state for run in runs)
    listed = ", ".join(f"{counted[state]} {state}" for state in RunState if counted[state])
    return f"{fmt.plural(len(runs), 'run')}: {listed}"


def spending(spent: Spent, total: Budget) -> str:
    """Return what is spent: `240/3000 queries, $ 3.20/20.00, 4 h of searching`."""
    unknown = " and what has no known price" if spent.cost_unknown else ""
    queries = f"{spent.queries}{_of(total.queries, '{:,}')}"
    money = f"{fmt.money(spent.cost_usd)}{_of(total.cost_usd, '{:.2f}')}{unknown}"
    hours = fmt.duration(spent.hours * 3600)
    limit = "" if total.hours is None else f" of {fmt.duration(total.hours * 3600)}"
    return f"{queries} queries, {money}, {hours}{limit} of searching"


def outlook_cells(found: Outlook) -> tuple[str, ...]:
    """Return a configuration's row of the estimate."""
    return (
        found.configuration,
        str(found.runs),
        found.told,
        "?" if found.cost_usd is None else fmt.amount(found.cost_usd),
        "?" if found.hours is None else fmt.duration(found.hours * 3600),
    )


def at_most(plan: Plan, runs: int) -> str:
    """Return the upper bound of all: `at most 1,200 queries and $ 40.00`."""
    each = [one.budget for one in plan.configurations]
    per = runs // max(1, len(each))
    queries = _sum([one.queries for one in each], per, plan.total.queries)
    free = [0.0 if one.free else one.budget.cost_usd for one in plan.configurations]
    money = _sum(free, per, plan.total.cost_usd)
    parts = [
        "no limit of queries" if queries is None else f"{queries:,.0f} queries",
        "no limit of dollars" if money is None else fmt.money(money),
    ]
    return f"at most {' and '.join(parts)}"


def state_of(folder: ExperimentFolder, runs: Sequence[Run]) -> str:
    """Return one word on an experiment: what it does now."""
    if all(run.state in OVER for run in runs):
        return "finished"
    if folder.driver is not None:
        return "running"
    return {"pause": "paused", "stop": "stopped"}.get(folder.wanted.value, "no runner")


def _sum(values: Sequence[float | None], times: int, limit: float | None) -> float | None:
    known = [value for value in values if value is not None]
    whole = sum(known) * times if len(known) == len(values) else None
    return whole if limit is None else limit if whole is None else min(limit, whole)


def _of(limit: float | None, form: str) -> str:
    return "" if limit is None else f"/{form.format(limit)}"


def _money(row: Mapping[str, Any]) -> str:
    return fmt.money(row.get("cost_usd")) + ("+?" if row.get("cost_unknown") else "")
