"""Many tasks qualified, one row each: what a person wants to know of a suite before trusting it with a search.

What came of a task is kept in the state folder, so that a run that was interrupted goes on where it stopped. Kept with
a task: its text, policy, device, torch, driver, and the evaluator's code; what failed for reasons of the machine is
tried again.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from mcp_server import generic_cheats, kept, projects, states, task_text
from mcp_server.artifacts import new_id
from mcp_server.contract import Status
from mcp_server.errors import EvaluatorError, UnknownTask
from mcp_server.executor import Work
from mcp_server.qualify import evaluator_sha256
from mcp_server.tasks import Task, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_server.contract import Mode, Precision, Verdict
    from mcp_server.executor import Outcome, WantedStage
    from mcp_server.link import Message
    from mcp_server.local import LocalExecutor
    from mcp_server.states import State
    from mcp_server.tasks import Tasks

_ALL: tuple[WantedStage, ...] = ("build", "correctness", "timing")
_CHECK: tuple[WantedStage, ...] = ("build", "correctness")
Further = Literal["no", "graphs", "all"]
"""Baselines beyond the usual ones, on a GPU: CUDA graphs, in seconds; max-autotune and TensorRT, too, in minutes."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be found out of each task."""

    precision: Precision = "half"
    baselines: bool = True
    """Whether the baselines are measured too: minutes where they are compiled."""
    cheats: bool = False
    """Whether generic cheats are tried on it."""
    further: Further = "no"

    @property
    def mode(self) -> Mode:
        """Return in which mode that is measured."""
        return "full" if self.further == "all" else "quick"


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one task."""

    task: str
    state: State
    code: str | None = None
    reason: str = ""
    """Why it is not qualified, in a sentence."""
    policy: str | None = None
    """The precision policy in force."""
    oracle: str | None = None
    blind_to: list[str] = field(default_factory=list[str])
    flags: list[str] = field(default_factory=list[str])
    formats: list[str] = field(default_factory=list[str])
    """Those that the budget allows."""
    scales: list[float] = field(default_factory=list[float])
    """D of each output: how much the answer varies with the input."""
    errors: dict[str, float] = field(default_factory=dict[str, float])
    """e by format: the original's own error in it, over D."""
    mutants: dict[str, float] = field(default_factory=dict[str, float])
    """e of answers known to be wrong."""
    baselines_ms: dict[str, float] = field(default_factory=dict[str, float])
    classes: dict[str, str] = field(default_factory=dict[str, str])
    """The precision class of each baseline."""
    unmeasured: list[str] = field(default_factory=list[str])
    """Baselines without a time, with the reason, a line each."""
    cheats: dict[str, str] = field(default_factory=dict[str, str])
    """By name of a generic cheat: its verdict, or that there is nothing to leave out."""
    seconds: float = 0.0

    @property
    def passed(self) -> list[str]:
        """Generic cheats that got through: there must be none."""
        return [name for name, said in self.cheats.items() if said == Status.OK]


class Kept:
    """The rows of a state folder; an unreadable one counts as absent."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "cache" / "suites"

    def get(self, key: str) -> Row | None:
        """Return the row of a key, or None."""
        found = kept.read(self.folder / f"{key}.json")
        try:
            return Row(**found) if found is not None else None
        except TypeError:
            return None

    def put(self, key: str, row: Row) -> None:
        """Keep a row."""
        kept.write(self.folder / f"{key}.json", asdict(row))


def key_of(task: Task, wish: Wish, device: str) -> str:
    """Return the key of a task's row; `device`: all that is known of device, driver and torch."""
    words = [task.id, task.sha256, repr(wish), device, evaluator_sha256()]
    words += generic_cheats.NAMES if wish.cheats else ()
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:32]


def found(names: Iterable[str], tasks: Tasks) -> list[tuple[str, Path | Task]]:
    """Return what these names stand for: files, the files of folders by number, ids, or whole suites.

    Raises:
        UnknownTask: one of them is nothing of it.
    """
    listed: list[tuple[str, Path | Task]] = []
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            files = sorted(path.glob("*.py"), key=_by_number)
            listed += [(_id(file), file) for file in files if not file.name.startswith("__")]
        elif path.is_file():
            listed.append((_id(path), path))
        else:
            listed += _known(name, tasks)
    if not listed:
        raise UnknownTask("There is no task in what was named: give files, folders or ids.")
    return listed


def _known(name: str, tasks: Tasks) -> list[tuple[str, Path | Task]]:
    """Return the tasks of a suite or of a level of it, or the one of an id.

    Raises:
        UnknownTask: it is none of it.
        UnknownSuite: it is of a suite whose folder is gone.
    """
    wanted = name.strip("/")
    inside = [one for one in tasks.listed() if f"/{wanted}/" in f"/{one.id}"]
    for suite in tasks.suites.all():
        if wanted.partition("/")[0] == suite.name:
            files_of(suite)
    if not inside and not tasks.matching(name):
        raise UnknownTask(f"There is no file, folder or suite {name}: `pike tasks` lists the ids.")
    if not inside:
        found = tasks.get(name)
        return [(found.id, found)]
    return [(one.id, one.path if one.told.refused else tasks.get(one.id)) for one in inside]


def _id(path: Path) -> str:
    return f"{path.resolve().parent.name}/{path.stem}"


def _by_number(path: Path) -> tuple[int, str]:
    digits = re.match(r"\d+", path.name)
    return (int(digits[0]) if digits else 10**9, path.name)


def read(name: str, what: Path | Task, home: Path) -> Task | Row:
    """Return the task, or the row of a file that holds none."""
    if isinstance(what, Task):
        return what
    try:
        source = task_text.read(what)
        task_text.check(source, what.name)
    except EvaluatorError as error:
        return Row(name, "unfit", "not_kernelbench", str(error))
    return Task(name, name, source, what, reads=projects.opened(home, source))


async def qualify(executor: LocalExecutor, task: Task, wish: Wish) -> Row:
    """Qualify a task, and try the generic cheats on it if that is wished.

    Raises:
        EvaluatorError: this machine cannot evaluate.
    """
    began = time.monotonic()
    stages = _ALL if wish.baselines else _CHECK
    work = Work(
        new_id("job"),
        task,
        "",
        precision=wish.precision,
        mode=wish.mode,
        stages=stages if wish.further == "no" else (*stages, "profile"),
        leased=wish.baselines,
    )
    row = _row(task, await executor.qualify(work, silent))
    if wish.baselines and row.state == "qualified":
        told = await executor.known_task(task, "auto", wish.precision) or {}
        row.unmeasured.extend(cast("list[str]", told.get("notes") or []))
    if wish.cheats and row.state == "qualified":
        row.cheats.update(await _cheats(executor, task, wish))
    return replace(row, seconds=round(time.monotonic() - began, 1))


def silent(_stage: str, _detail: str) -> None:
    """Report nothing."""


async def _cheats(executor: LocalExecutor, task: Task, wish: Wish) -> dict[str, str]:
    said: dict[str, str] = {}
    for name in generic_cheats.NAMES:
        source = generic_cheats.source(task.source, name)
        work = Work(
            new_id("job"),
            task,
            source,
            precision=wish.precision,
            stages=_CHECK,
            leased=wish.baselines,
        )
        said[name] = _said((await executor.run(work, silent)).verdict)
    return said


def _said(verdict: Verdict) -> str:
    if generic_cheats.NOTHING in (verdict.cause or ""):
        return generic_cheats.NOTHING
    return f"{verdict.status}/{verdict.code}" if verdict.code else str(verdict.status)


LATE = "late"


def _row(task: Task, outcome: Outcome) -> Row:
    verdict = outcome.verdict
    cause = verdict.cause or ""
    if "did not end stage" in cause or "its qualification in time" in cause:
        return Row(task.id, "not run", LATE, "It takes longer than the limit here: raise --limit.")
    if verdict.status is not Status.OK:
        unfit = verdict.status is Status.TASK_UNFIT
        return Row(task.id, states.of_unfit(verdict) if unfit else "not run", verdict.code, cause)
    found = outcome.evidence.get("qualification")
    told = cast("Message", found) if isinstance(found, dict) else {}
    names, times = verdict.baseline_names or [], verdict.baseline_times_ms or []
    return Row(
        task.id,
        "qualified",
        policy=verdict.policy_effective,
        oracle=verdict.oracle,
        blind_to=list(verdict.blind_to or []),
        flags=list(verdict.flags),
        baselines_ms=dict(zip(names, times, strict=False)),
        classes=dict(zip(names, verdict.baseline_classes or [], strict=False)),
        formats=cast("list[str]", told.get("formats") or []),
        scales=cast("list[float]", told.get("scales") or []),
        errors=cast("dict[str, float]", told.get("errors") or {}),
        mutants=cast("dict[str, float]", told.get("mutants") or {}),
    )
