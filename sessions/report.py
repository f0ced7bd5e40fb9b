"""Reports: runs grouped by GPU model, and by task and configuration within it. Pure functions of the runs.

```
Report ── Section (one GPU model) ── runs ── by (configuration, task): its repeats
       └─ LeftOut: what holds no number, and why
```
Numbers of two GPU models never stand in one table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.report_runs import Run


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that a report holds no number of."""

    session: str
    """Empty: it never began."""
    configuration: str
    task: str
    why: str
    """Foreign text."""


@dataclass(frozen=True)
class Section:
    """What ran on one GPU model."""

    device: str
    runs: tuple[Run, ...]

    @cached_property
    def configurations(self) -> tuple[str, ...]:
        """The configurations, as they come first."""
        return tuple(dict.fromkeys(run.configuration for run in self.runs))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks by name; where one name has several texts, with a piece of its hash."""
        return tuple(sorted({self.task_of(run) for run in self.runs}, key=natural))

    @cached_property
    def _texts(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for run in self.runs:
            found.setdefault(run.task, set()).add(run.task_sha256)
        return found

    def task_of(self, run: Run) -> str:
        """Return the name of a run's task: two texts are two tasks, whatever they are called."""
        several = len(self._texts[run.task]) > 1
        return f"{run.task} ({run.task_sha256[:8]})" if several else run.task

    @cached_property
    def _cells(self) -> dict[tuple[str, str], tuple[Run, ...]]:
        found: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            found.setdefault((run.configuration, self.task_of(run)), []).append(run)
        return {key: tuple(runs) for key, runs in found.items()}

    def repeats(self, configuration: str, task: str) -> tuple[Run, ...]:
        """Return the runs of a configuration on a task."""
        return self._cells.get((configuration, task), ())

    def strata(self, configuration: str, tasks: Iterable[str] = ()) -> list[tuple[Run, ...]]:
        """Return the runs of a configuration, task by task: of these tasks, or of all it ran on."""
        found = [self.repeats(configuration, task) for task in (tuple(tasks) or self.tasks)]
        return [runs for runs in found if runs]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report tells."""

    name: str
    """The experiment's, or empty."""
    sections: tuple[Section, ...]
    left_out: tuple[LeftOut, ...] = ()


def report_of(name: str, runs: Iterable[Run], left_out: Sequence[LeftOut] = ()) -> Report:
    """Return the report over these runs: sections by GPU model, within them by task, configuration and repeat."""
    order: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda r: r.device):
        order.setdefault(run.device, []).append(run)
    sections = [Section(device, tuple(_in_order(found))) for device, found in order.items()]
    return Report(name, tuple(sections), tuple(left_out))


def _in_order(runs: Iterable[Run]) -> list[Run]:
    return sorted(
        runs,
        key=lambda r: (r.configuration, natural(r.task), r.task_sha256, r.repeat, r.session),
    )


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key by which `9_Softmax` stands before `10_Relu`."""
    parts = re.split(r"([0-9]{1,9})", text)
    return tuple((int(part) if n % 2 else -1, part) for n, part in enumerate(parts))
