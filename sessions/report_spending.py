"""What was found for what was spent: speedup against queries and dollars, and where each budget is cut off.

At every point: over eager, in the paper's way (clamped; 1 where nothing correct was found yet), the geometric mean
over repeats, then over tasks. A run that has ended keeps its last number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.report_statistics import Interval, bands, mean_log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from sessions.report import Section
    from sessions.report_runs import Run

    Axis = Literal["queries", "dollars"]

AXES: tuple[Axis, ...] = ("queries", "dollars")
POINTS = 100


@dataclass(frozen=True, slots=True)
class Curve:
    """A configuration's speedup as it spends, per task and run."""

    configuration: str
    axis: Axis
    x: tuple[float, ...]
    y: tuple[float, ...]
    band: tuple[Interval, ...]
    """95 %, over repeats; empty where a task has a single run."""
    tasks: int
    runs: int


@dataclass(frozen=True, slots=True)
class Cutoff:
    """A budget for each run."""

    axis: Axis
    at: float


@dataclass(frozen=True, slots=True)
class CutoffMean:
    """What a configuration had found by then."""

    configuration: str
    cutoff: Cutoff
    value: float
    repeats: Interval | None
    runs: int
    reached: int
    """Runs that spent that much; the others ended before, or are not there yet."""
    unknown: int
    """Runs left out: what they cost is not known."""


def curves(section: Section, axis: Axis) -> list[Curve]:
    """Return a curve for each configuration; none where nothing was spent on that axis."""
    end = max((_spent(run, axis) for run in section.runs if _priced(run, axis)), default=0.0)
    if end <= 0:
        return []
    found = [_curve(section, name, axis, end) for name in section.configurations]
    return [curve for curve in found if curve is not None]


def _curve(section: Section, name: str, axis: Axis, end: float) -> Curve | None:
    strata = _priced_strata(section, name, axis)
    if not strata:
        return None
    last = max(_spent(run, axis) for runs in strata for run in runs)
    x = [end * n / POINTS for n in range(POINTS + 1)]
    x = [*[value for value in x if value < last], last]
    values = [[values_at(run, axis, x) for run in runs] for runs in strata]
    return Curve(
        configuration=name,
        axis=axis,
        x=tuple(x),
        y=tuple(
            math.exp(mean_log([[run[n] for run in runs] for runs in values])) for n in range(len(x))
        ),
        band=tuple(ends.at_least(1.0) for ends in bands(values) or ()),
        tasks=len(strata),
        runs=sum(map(len, strata)),
    )


def values_at(run: Run, axis: Axis, x: Sequence[float]) -> list[float]:
    """Return the best over eager when so much was spent, at least 1; `x` ascends."""
    found: list[float] = []
    place = 0
    for at in x:
        while place + 1 < len(run.steps) and _at(run, place + 1, axis) <= at + 1e-9:
            place += 1
        found.append(max(1.0, run.steps[place].eager or 1.0))
    return found


def cutoffs(section: Section, wanted: Sequence[Cutoff]) -> list[CutoffMean]:
    """Return what each configuration had found at each of these budgets."""
    found = [_cutoff(section, name, at) for at in wanted for name in section.configurations]
    return [mean for mean in found if mean is not None]


def _cutoff(section: Section, name: str, cutoff: Cutoff) -> CutoffMean | None:
    strata = _priced_strata(section, name, cutoff.axis)
    if not any(_spent(run, cutoff.axis) for runs in strata for run in runs):
        return None  # what costs nothing has no cut-off
    values = [[values_at(run, cutoff.axis, [cutoff.at]) for run in runs] for runs in strata]
    spread = bands(values)
    runs = [run for several in strata for run in several]
    return CutoffMean(
        configuration=name,
        cutoff=cutoff,
        value=math.exp(mean_log([[point[0] for point in several] for several in values])),
        repeats=spread[0].at_least(1.0) if spread else None,
        runs=len(runs),
        reached=sum(_spent(run, cutoff.axis) >= cutoff.at - 1e-9 for run in runs),
        unknown=sum(map(len, section.strata(name))) - len(runs),
    )


def _priced_strata(section: Section, name: str, axis: Axis) -> list[list[Run]]:
    strata = [[r for r in runs if _priced(r, axis)] for runs in section.strata(name)]
    return [runs for runs in strata if runs]


def _priced(run: Run, axis: Axis) -> bool:
    return axis == "queries" or run.unpriced == 0


def _spent(run: Run, axis: Axis) -> float:
    return float(run.queries) if axis == "queries" else run.cost_usd


def _at(run: Run, place: int, axis: Axis) -> float:
    step = run.steps[place]
    return float(step.queries) if axis == "queries" else step.cost_usd
