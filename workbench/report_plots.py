"""What each figure of a report shows: rows of numbers, exactly those that are drawn and written beside it.

| figure | a row is |
| --- | --- |
| speedups | a configuration on a task, or over tasks |
| by_queries, by_dollars | a configuration's best when so much was spent |
| pairs | two configurations, over tasks or on one |
| fixes | a configuration's trajectories that work after so many fixes |
| lines | a configuration's step |
| agents | a configuration's agent |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.report_counts import agent_costs, fixes, lines, totals
from sessions.report_means import PAPER, estimate, task_means
from sessions.report_pairs import pairs
from sessions.report_spending import AXES, curves
from sessions.report_statistics import mean_log
from workbench import format as fmt
from workbench.report_cells import interval_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sessions.report import Section
    from sessions.report_means import Estimate
    from sessions.report_pairs import Pair
    from sessions.report_spending import Axis

Raw = dict[str, Any]
MOST_TASKS = 40
"""More rows are not read in a figure; the table holds all."""
MOST_PAIRS = 24
EVERY = "geometric mean"
"""The row over tasks."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One figure as data."""

    name: str
    title: str
    rows: tuple[Raw, ...]
    plain: float | None = None
    """Over eager, of the best plain attempts: a line of its own."""
    fastest: float | None = None
    """Over eager, of the fastest baselines."""


def plots(section: Section) -> list[Plot]:
    """Return the figures of a section that show something."""
    made = [
        _speedups(section),
        *(_spending(section, axis) for axis in AXES),
        _pairs(section),
        _fixes(section),
        _lines(section),
        _agents(section),
    ]
    return [plot for plot in made if plot.rows]


def free_speedup(section: Section, task: str = "") -> tuple[float | None, float | None]:
    """Return what costs no query, over eager: the best plain attempts and the fastest baselines, on a task or over all.

    None where a task has none.
    """
    tasks = [task] if task else list(section.tasks)
    runs = [[r for r in section.runs if section.task_of(r) == one] for one in tasks]
    plain = [[r.plain.eager.value for r in several if r.plain] for several in runs]
    fastest = [[r.top_baseline for r in several if r.top_baseline] for several in runs]
    return _over(plain), _over(fastest)


def _over(strata: list[list[float]]) -> float | None:
    return max(1.0, math.exp(mean_log(strata))) if strata and all(strata) else None


def _speedups(section: Section) -> Plot:
    shown = section.tasks[:MOST_TASKS]
    rows = [
        _speedup_row(t.task, t.configuration, t.eager, section)
        for t in task_means(section)
        if t.task in shown
    ]
    if len(section.tasks) > 1:
        for one in section.configurations:
            mean = estimate(section.strata(one), "eager", PAPER)
            if mean is not None and mean.tasks == len(section.tasks):
                rows.append(_speedup_row(EVERY, one, mean, section))
    few = f", {len(shown)} of {len(section.tasks)} tasks" if len(shown) < len(section.tasks) else ""
    return Plot("speedups", f"Speedup over eager by task{few}", tuple(rows))


def _speedup_row(task: str, configuration: str, mean: Estimate, section: Section) -> Raw:
    plain, fastest = free_speedup(section, "" if task == EVERY else task)
    return {
        "task": task,
        "configuration": configuration,
        "speedup": mean.value,
        **interval_fields(mean.repeats, "repeats_"),
        **interval_fields(mean.measurement, "measurement_"),
        "runs_found": mean.found,
        "runs": mean.asked,
        "plain": plain,
        "fastest_baseline": fastest,
    }


def _spending(section: Section, axis: Axis) -> Plot:
    rows: list[Raw] = []
    for curve in curves(section, axis):
        for n, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
            band = curve.band[n] if curve.band else None
            rows.append(
                {
                    "configuration": curve.configuration,
                    axis: x,
                    "speedup": y,
                    **interval_fields(band, "repeats_"),
                }
            )
    tasks, runs = fmt.plural(len(section.tasks), "task"), fmt.plural(len(section.runs), "run")
    title = f"Best so far over eager, by {axis} per run ({tasks}, {runs})"
    return Plot(f"by_{axis}", title, tuple(rows), *free_speedup(section))


def _pairs(section: Section) -> Plot:
    found = pairs(section)[:MOST_PAIRS]
    rows = [row for pair in found for row in _pair_rows(pair, with_tasks=len(found) == 1)]
    return Plot("pairs", "Configurations compared on the same tasks", tuple(rows))


def _pair_rows(pair: Pair, *, with_tasks: bool) -> Iterator[Raw]:
    names = {"first": pair.first, "second": pair.second}
    if with_tasks and len(pair.tasks) > 1:
        for task in pair.tasks[:MOST_TASKS]:
            sure = {
                **interval_fields(task.repeats, "repeats_"),
                **interval_fields(None, "over_tasks_"),
            }
            noise = interval_fields(task.measurement, "measurement_")
            yield {**names, "task": task.task, "ratio": task.ratio, **sure, **noise}
    sure = {
        **interval_fields(pair.repeats, "repeats_"),
        **interval_fields(pair.over_tasks, "over_tasks_"),
    }
    noise = interval_fields(pair.measurement, "measurement_")
    yield {**names, "task": EVERY, "ratio": pair.ratio, **sure, **noise}


def _fixes(section: Section) -> Plot:
    found = [h for h in fixes(section) if h.total]
    most = max((n for h in found for n in (*h.works, *h.gave_up)), default=0)
    rows: list[Raw] = []
    for one in found:
        for n in range(most + 1):
            works = one.works.get(n, 0)
            rows.append(
                {
                    "configuration": one.configuration,
                    "outcome": str(n),
                    "trajectories": works,
                    "share": works / one.total,
                }
            )
        lost = sum(one.gave_up.values())
        rows.append(
            {
                "configuration": one.configuration,
                "outcome": "gave up",
                "trajectories": lost,
                "share": lost / one.total,
            }
        )
    return Plot("fixes", "Trajectories by the fixes after which they work", tuple(rows))


def _lines(section: Section) -> Plot:
    rows = [
        {
            "configuration": n.configuration,
            "step": n.step,
            "attempts": n.attempts,
            "median": n.median,
            "quarter": n.low,
            "three_quarters": n.high,
        }
        for n in lines(section)
    ]
    return Plot(
        "lines", "Lines changed per step: median and middle half of the attempts", tuple(rows)
    )


def _agents(section: Section) -> Plot:
    runs = {t.configuration: t.runs for t in totals(section)}
    found = agent_costs(section)
    by = "dollars" if any(a.cost_usd for a in found) else "queries"
    rows = [
        {
            "configuration": a.configuration,
            "agent": a.agent,
            f"{by}_per_run": (a.cost_usd if by == "dollars" else a.queries) / runs[a.configuration],
            "queries_of_unknown_cost": a.unknown,
        }
        for a in found
    ]
    return Plot("agents", f"What each agent costs, in {by} per run", tuple(rows))


def columns_of(rows: Iterable[Raw], column: str) -> list[Any]:
    """Return the values of a column, each once, as they come first."""
    return list(dict.fromkeys(row[column] for row in rows))
