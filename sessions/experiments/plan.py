"""What an experiment compares: configurations × tasks × repeats, at equal budget, under shared places."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sessions.folder import stem_of
from sessions.start import NewSession

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABELS = ("experiment", "configuration", "repeat")
"""What a session of an experiment says of itself in `opened.labels`."""
NAME_LIMIT = 64
"""Characters of a session's name."""
SESSIONS = 4
"""Sessions at once, unless a file says otherwise."""


class RunState(StrEnum):
    """How one run stands."""

    WAITING = "waiting"
    """It was not begun."""
    RUNNING = "running"
    CRASHED = "crashed"
    """Its engine is gone, or was never started."""
    PAUSED = "paused"
    NEEDS_YOU = "needs you"
    """It paused by itself."""
    FINISHED = "finished"
    STOPPED = "stopped"
    UNFIT = "unfit"
    """Its task cannot judge candidates."""
    FAILED = "failed"
    """Its session could not be begun, or its engine does not stay alive."""
    PASSED_OVER = "passed over"
    """It will not be begun."""


OVER = frozenset({RunState.FINISHED, RunState.UNFIT, RunState.FAILED, RunState.PASSED_OVER})
"""Nothing more comes of these without a person."""
BEGUN = frozenset(RunState) - {RunState.WAITING, RunState.PASSED_OVER}
"""Their budget is spent, or may be."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run, or of all together; None: no limit."""

    queries: int | None = None
    cost_usd: float | None = None
    hours: float | None = None
    """Of searching; of all together: added over the sessions."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to search."""

    name: str
    request: Mapping[str, Any]
    """Fields of `sessions.start.NewSession` as decided when the experiment began, without those of one run."""
    budget: Budget = field(default_factory=Budget)
    free: bool = False
    """Its models cost nothing."""

    @property
    def judged_as(self) -> tuple[Any, ...]:
        """What decides whether a task fits: alike for all configurations that share it."""
        return tuple(self.request.get(name, "") for name in ("precision", "tolerance"))


@dataclass(frozen=True, slots=True)
class SharedPlaces:
    """What all runs of an experiment share; None: as many as there are."""

    sessions: int = SESSIONS
    model_calls: int | None = None
    evaluations: int | None = None
    """Candidates being built, checked or timed."""
    gpus: tuple[str, ...] = ()
    """Devices over which the sessions are spread; empty: the configuration's device."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is decided before the first run."""

    name: str
    tasks: Mapping[str, str]
    """Ids, in the order written, to the SHA-256 of each one's text."""
    seeds: tuple[int, ...]
    """One per repeat, the same for every configuration and task."""
    configurations: tuple[Configuration, ...]
    total: Budget = field(default_factory=Budget)
    places: SharedPlaces = field(default_factory=SharedPlaces)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """`[models.NAME]` of the settings; they name the variables of keys, never a key."""

    def configuration(self, name: str) -> Configuration:
        """Return the configuration of that name."""
        return next(one for one in self.configurations if one.name == name)

    @property
    def is_equal(self) -> bool:
        """Whether all configurations have the same budget."""
        return len({one.budget for one in self.configurations}) == 1


@dataclass(frozen=True, slots=True)
class Run:
    """One search of an experiment, begun or not."""

    configuration: str
    task: str
    repeat: int
    """1 for the first."""
    session: str
    """The name that its session has, or will have."""
    state: RunState = RunState.WAITING
    why: str = ""
    revived: int = 0
    """How often its engine was started again after a crash."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it by itself."""
        return self.state in OVER


def runs_of(plan: Plan) -> list[Run]:
    """Return every run, in the order in which they begin: comparisons are complete as early as can be."""
    runs: list[Run] = []
    taken: set[str] = set()
    for repeat in range(1, len(plan.seeds) + 1):
        for task in plan.tasks:
            for one in plan.configurations:
                name = _session_name(plan.name, one.name, task, repeat, taken)
                taken.add(name)
                runs.append(Run(one.name, task, repeat, name))
    return runs


def request_of(plan: Plan, run: Run, source: str) -> NewSession:
    """Return the session of a run on its task's text."""
    decided = dict(plan.configuration(run.configuration).request)
    own = dict(zip(LABELS, (plan.name, run.configuration, str(run.repeat)), strict=True))
    decided |= {
        "task": run.task,
        "source": source,
        "name": run.session,
        "seed": plan.seeds[run.repeat - 1],
        "labels": {**decided["labels"], **own},
    }
    return NewSession(**decided)


def to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON."""
    return asdict(plan)


def of_json(found: Mapping[str, Any]) -> Plan:
    """Return the plan that `to_json` wrote.

    Raises:
        KeyError, TypeError: it is of another program.
    """
    places: dict[str, Any] = {**found["places"], "gpus": tuple(found["places"]["gpus"])}
    changed: dict[str, Any] = {
        "seeds": tuple(found["seeds"]),
        "configurations": tuple(_configuration(one) for one in found["configurations"]),
        "total": Budget(**found["total"]),
        "places": SharedPlaces(**places),
    }
    return Plan(**{**found, **changed})


def run_to_json(run: Run) -> dict[str, Any]:
    """Return a run as a row of `runs.json`."""
    return asdict(run) | {"state": run.state.value}


def runs_of_json(rows: Sequence[Mapping[str, Any]]) -> list[Run]:
    """Return the runs of `runs.json`.

    Raises:
        KeyError, TypeError, ValueError: it is of another program.
    """
    found = [Run(**row) for row in rows]
    return [replace(run, state=RunState(run.state)) for run in found]


def unfit_like(plan: Plan, run: Run, unfit: Sequence[Run]) -> Run | None:
    """Return a run that found the same task unfit, judged in the same way."""
    mine = plan.configuration(run.configuration).judged_as
    return next(
        (
            other
            for other in unfit
            if other.task == run.task and plan.configuration(other.configuration).judged_as == mine
        ),
        None,
    )


def _configuration(found: Mapping[str, Any]) -> Configuration:
    changed: dict[str, Any] = {**found, "budget": Budget(**found["budget"])}
    return Configuration(**changed)


def _session_name(
    experiment: str, configuration: str, task: str, repeat: int, taken: set[str]
) -> str:
    """Return a readable name that is new, the same each time: `ablation.pike-b.softmax.1`."""
    whole = f"{experiment}.{configuration}.{stem_of(task)}.{repeat}"
    if len(whole) <= NAME_LIMIT and whole not in taken:
        return whole
    digest = hashlib.sha256(f"{configuration}/{task}/{repeat}".encode()).hexdigest()[:8]
    return f"{re.sub(r'[.]$', '', whole[: NAME_LIMIT - 9])}.{digest}"
