"""Two configurations on the tasks that both ran on: who is ahead, by how much, and how sure that is.

Numbers are over eager, clamped, failures as 1 (`report_means.PAPER`): the same denominator on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sessions.report_means import PAPER, estimate
from sessions.report_statistics import Interval, bands, repeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report import Section
    from sessions.report_means import Estimate
    from sessions.report_runs import Run


@dataclass(frozen=True, slots=True)
class PairedTask:
    """One task, by both."""

    task: str
    first: Estimate
    second: Estimate
    ratio: float
    """The first over the second: above 1, the first is ahead."""
    measurement: Interval | None
    repeats: Interval | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two configurations, over the tasks they share."""

    first: str
    second: str
    tasks: tuple[PairedTask, ...]
    ratio: float
    """Geometric mean of the ratios of the tasks."""
    measurement: Interval | None
    """98 %, by timing noise alone: a lower bound of the doubt."""
    repeats: Interval | None
    """95 %, over repeats, these tasks given; None where a task has a single run of one of them."""
    over_tasks: Interval | None
    """95 %, over tasks like these; None of fewer than three."""

    @property
    def ahead(self) -> int:
        """On how many tasks the first is ahead."""
        return sum(task.ratio > 1 for task in self.tasks)

    @property
    def behind(self) -> int:
        """On how many tasks the first is behind."""
        return sum(task.ratio < 1 for task in self.tasks)


def pairs(section: Section) -> list[Pair]:
    """Return every pair of configurations that shares a task."""
    found = [_pair(section, one, two) for one, two in combinations(section.configurations, 2)]
    return [pair for pair in found if pair is not None]


def _pair(section: Section, one: str, two: str) -> Pair | None:
    shared = [t for t in section.tasks if section.repeats(one, t) and section.repeats(two, t)]
    if not shared:
        return None
    sides = [(section.repeats(one, task), section.repeats(two, task)) for task in shared]
    tasks = [_task(task, *side) for task, side in zip(shared, sides, strict=True)]
    logs = [math.log(task.ratio) for task in tasks]
    return Pair(
        first=one,
        second=two,
        tasks=tuple(tasks),
        ratio=math.exp(math.fsum(logs) / len(logs)),
        measurement=_quadrature([task.measurement for task in tasks], tasks),
        repeats=_over_repeats(sides),
        over_tasks=_over_tasks([task.ratio for task in tasks]),
    )


def _task(task: str, one: Sequence[Run], two: Sequence[Run]) -> PairedTask:
    first, second = estimate([one], "eager", PAPER), estimate([two], "eager", PAPER)
    assert first is not None  # failures count 1, so that runs always have a mean
    assert second is not None
    halves = [_half(side.measurement) for side in (first, second)]
    ratio = first.value / second.value
    known = first.measurement is not None or second.measurement is not None
    return PairedTask(
        task=task,
        first=first,
        second=second,
        ratio=ratio,
        measurement=_around(ratio, math.hypot(*halves)) if known else None,
        repeats=_over_repeats([(one, two)]),
    )


def _over_repeats(sides: Sequence[tuple[Sequence[Run], Sequence[Run]]]) -> Interval | None:
    """Return the interval of the ratio: the mean over both sides of all tasks, the second's upside down, twice."""
    strata: list[list[float]] = []
    for one, two in sides:
        strata.append([_value(run) for run in one])
        strata.append([1 / _value(run) for run in two])
    found = repeats(strata)
    return Interval(found.low**2, found.high**2) if found else None


def _value(run: Run) -> float:
    return max(1.0, run.best.eager.value) if run.best else 1.0


def _over_tasks(ratios: Sequence[float]) -> Interval | None:
    if len(ratios) < 3:
        return None
    found = bands([[[ratio] for ratio in ratios]])
    return found[0] if found else None


def _quadrature(known: Sequence[Interval | None], tasks: Sequence[PairedTask]) -> Interval | None:
    if not any(known):
        return None
    half = math.hypot(*map(_half, known)) / len(tasks)
    center = math.exp(math.fsum(math.log(task.ratio) for task in tasks) / len(tasks))
    return _around(center, half)


def _half(interval: Interval | None) -> float:
    return math.log(interval.high / interval.low) / 2 if interval else 0.0


def _around(center: float, half: float) -> Interval:
    return Interval(center * math.exp(-half), center * math.exp(half))
