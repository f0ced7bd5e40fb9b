"""Means of a section: per task and over tasks, clamped and not, failures counted both ways.

| measure | a run's number is its best attempt's speed over |
| --- | --- |
| `eager` | the original as it stands: what all runs of a task share |
| `paper` | the same by mean latencies, as in the paper |
| `baseline` | the strongest plain PyTorch of its precision class or a finer one |
| `fastest` | the fastest baseline of any class that the policy allows |
| `plain` | the best plain attempt of its own session |

The paper's way is clamped, failures as 1: who is offered nothing, or something slower, keeps the original.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from sessions.report_statistics import (
    Interval,
    Measured,
    clamped,
    mean_log,
    measurement,
    over,
    repeats,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from sessions.report import Section
    from sessions.report_runs import Run

    Measure = Literal["eager", "paper", "baseline", "fastest", "plain"]

MEASURES: tuple[Measure, ...] = ("eager", "paper", "baseline", "fastest", "plain")


@dataclass(frozen=True, slots=True)
class Way:
    """How numbers are made into a mean."""

    clamp: bool
    failures: bool
    """True: a run without a correct answer counts 1; False: it is left out."""


PAPER = Way(clamp=True, failures=True)
WAYS = (PAPER, Way(True, False), Way(False, True), Way(False, False))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A geometric mean: over the repeats of each task, then over tasks."""

    value: float
    tasks: int
    runs: int
    """Counted in."""
    found: int
    """Of all runs asked about, those with a correct answer."""
    asked: int
    measurement: Interval | None = None
    """98 %, by timing noise alone."""
    repeats: Interval | None = None
    """95 %, over repeats of the search; None where a task has a single one."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One number of the table of means."""

    configuration: str
    measure: str
    way: Way
    estimate: Estimate | None
    """None: no run has such a number."""


def number(run: Run, measure: Measure) -> Measured | None:
    """Return a run's number; None where nothing correct was found, or it has no such number."""
    best = run.best
    if best is None:
        return None
    match measure:
        case "eager":
            return best.eager
        case "paper":
            return Measured(best.paper) if best.paper else None
        case "baseline":
            return best.baseline
        case "fastest":
            return over(best.eager, Measured(run.top_baseline)) if run.top_baseline else None
        case "plain":
            return _over_plain(run)
        case _:
            assert_never(measure)


def _over_plain(run: Run) -> Measured | None:
    if run.best is None or run.plain is None:
        return None
    if run.best.id == run.plain.id:  # the very same measurement: exactly as fast as itself
        return Measured(1.0)
    return over(run.best.eager, run.plain.eager)


def applies(run: Run, measure: Measure) -> bool:
    """Return whether a run can have such a number at all: without plain attempts there is no gain over them."""
    if measure == "plain":
        return run.plain is not None
    if measure == "fastest":
        return run.top_baseline is not None
    return True


def estimate(strata: Iterable[Sequence[Run]], measure: Measure, way: Way) -> Estimate | None:
    """Return the mean over tasks of the mean over the repeats of each; None of nothing."""
    asked = [[run for run in runs if applies(run, measure)] for runs in strata]
    numbers = [[number(run, measure) for run in runs] for runs in asked]
    counted = [found for found in (_counted(values, way) for values in numbers) if found]
    if not counted:
        return None
    values = [[value.value for value in stratum] for stratum in counted]
    least = 1.0 if way.clamp else 0.0
    noise, luck = measurement(counted), repeats(values)
    return Estimate(
        value=math.exp(mean_log(values)),
        tasks=len(counted),
        runs=sum(map(len, counted)),
        found=sum(value is not None for stratum in numbers for value in stratum),
        asked=sum(map(len, numbers)),
        measurement=noise.at_least(least) if noise else None,
        repeats=luck.at_least(least) if luck else None,
    )


def _counted(values: Iterable[Measured | None], way: Way) -> list[Measured]:
    """Return the numbers that enter a mean."""
    filled = [value or Measured(1.0) for value in values if value is not None or way.failures]
    return [clamped(value) for value in filled] if way.clamp else filled


def means(section: Section) -> list[Mean]:
    """Return every mean over tasks: configurations × measures × ways."""
    return [
        Mean(name, measure, way, estimate(section.strata(name), measure, way))
        for name in section.configurations
        for measure in MEASURES
        for way in WAYS
    ]


@dataclass(frozen=True, slots=True)
class TaskMean:
    """A configuration on one task."""

    configuration: str
    task: str
    eager: Estimate
    """In the paper's way."""
    correct: Estimate | None
    """Over eager, of the correct alone, not clamped."""
    baseline: Estimate | None
    """Of the correct alone, not clamped, as the two below."""
    fastest: Estimate | None
    plain: Estimate | None
    precisions: tuple[str, ...]
    """The classes of the bests."""
    own_share: float | None
    """Mean over those whose profile is known."""
    queries: float
    """Mean per run."""
    cost_usd: float | None
    """Mean per run; None: a part of it is not known."""


def task_means(section: Section) -> list[TaskMean]:
    """Return what each configuration found on each task."""
    found: list[TaskMean] = []
    for task in section.tasks:
        for name in section.configurations:
            runs = section.repeats(name, task)
            eager = estimate([runs], "eager", PAPER)
            if eager is not None:
                found.append(_task_mean(name, task, runs, eager))
    return found


def _task_mean(name: str, task: str, runs: Sequence[Run], eager: Estimate) -> TaskMean:
    bare = Way(clamp=False, failures=False)
    bests = [run.best for run in runs if run.best is not None]
    shares = [best.own_share for best in bests if best.own_share is not None]
    known = all(run.unpriced == 0 for run in runs)
    return TaskMean(
        configuration=name,
        task=task,
        eager=eager,
        correct=estimate([runs], "eager", bare),
        baseline=estimate([runs], "baseline", bare),
        fastest=estimate([runs], "fastest", bare),
        plain=estimate([runs], "plain", bare),
        precisions=tuple(sorted({best.precision for best in bests if best.precision})),
        own_share=sum(shares) / len(shares) if shares else None,
        queries=sum(run.queries for run in runs) / len(runs),
        cost_usd=sum(run.cost_usd for run in runs) / len(runs) if known else None,
    )
