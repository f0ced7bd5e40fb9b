"""What the form of a new session shows beside what is typed: notes, checks, the estimate. Blocking: for a thread."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions import own_strategy, summary
from sessions.errors import SessionError
from sessions.estimate import Ahead
from sessions.folder import SessionFolder
from sessions.journal import JournalError, Reader
from sessions.labels import told_models
from strategies import registry
from strategies.errors import StrategyError
from workbench import (
    beginning,
    budgets,
    checks,
    config,
    evaluator,
    expected,
    form_values,
    gpus,
    machine,
    model_choice,
    starting,
    suggestions,
)
from workbench import format as fmt
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sessions.facts import Opened
    from workbench.config import Settings
    from workbench.gpus import Reading
    from workbench.machine import Machine, Row
    from workbench.suggestions import Option

NO_WISH = ("recorded",)
"""Models of sessions that nobody set up by hand: the demo is no pattern for the next one."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the form begins with."""

    settings: Settings
    rows: Sequence[Mapping[str, Any]]
    """Of `sessions.summary`."""
    last: Opened | None

    @property
    def labels(self) -> list[str]:
        """How the models of earlier sessions are called."""
        found: list[str] = []
        for row in self.rows:
            models: dict[str, str] = row.get("models") or {}
            found += models.values()
        return found


def before(under: Path) -> Before:
    """Return settings and earlier sessions.

    Raises:
        WorkbenchError: a settings file cannot be used.
    """
    try:
        rows = summary.rows(under)
    except (SessionError, OSError):
        rows = []  # the start says what is wrong with the state folder
    newest = sorted(rows, key=lambda row: -float(row.get("created_at") or 0))
    return Before(config.load(), rows, next((o for row in newest if (o := _wished(row))), None))


def _wished(row: Mapping[str, Any]) -> Opened | None:
    try:
        with Reader(SessionFolder(Path(str(row["folder"]))).journal) as reader:
            found = reader.opened()
    except (JournalError, sqlite3.Error, ValueError, OSError):
        return None
    return found if found and found.models.get("improve") not in NO_WISH else None


@dataclass(frozen=True, slots=True)
class Around:
    """What this machine has."""

    machine: Machine | None = None
    """None: the evaluator does not answer, and `trouble` says why."""
    trouble: str = ""
    tasks: tuple[Option, ...] = ()
    devices: tuple[Option, ...] = ()
    readings: tuple[Reading, ...] = ()


def around(python: str) -> Around:
    """Ask the evaluator what there is."""
    try:
        found = machine.look(python)
        listed = suggestions.tasks(evaluator.tasks())
    except WorkbenchError as error:
        return Around(trouble=str(error))
    readings = tuple(gpus.readings())
    devices = tuple(suggestions.devices(found, readings))
    return Around(found, "", tuple(listed), devices, readings)


@dataclass(frozen=True, slots=True)
class Looked:
    """What is shown beside the values that were typed."""

    expected: str
    checks: tuple[Row, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """By field."""
    refusals: Mapping[str, str] = field(default_factory=dict[str, str])
    """By field: what cannot be meant, as far as it can be known without starting."""


def look(values: Mapping[str, str], known: Before, there: Around) -> Looked:
    """Return notes, checks and estimate for these values."""
    at = [""]
    filled = {**values, "task": values.get("task") or "?"}
    try:
        wish, typed = form_values.read(filled, known.settings, at.append)
        settings = beginning.checked(typed, at.append)
        at.append("strategy")
        entry, _ = starting.strategy_of(settings)
        at.append("set")
        starting.assigned(wish.assign)
        entry.create(dict(starting.assigned(wish.assign)), 0)
    except (WorkbenchError, StrategyError) as error:
        return Looked("", notes=_notes(values, known, there), refusals={at[-1]: str(error)})
    looked = checks.checks(there.machine, settings, known.rows) if there.machine else []
    return Looked(
        _expected(values, settings, known, there),
        tuple(row for row in looked if row.name != "models" or row.state == "ok"),
        _notes(values, known, there),
        _refused_model(settings),
    )


def _refused_model(settings: Settings) -> dict[str, str]:
    """Return why a model cannot be asked, by its field; nothing while none is typed: the note names the keys."""
    at = [""]
    try:
        if not budgets.is_external(settings):
            model_choice.choose(settings, at.append)
    except WorkbenchError as error:
        return {at[-1]: str(error)} if settings.text("model") else {}
    return {}


def _expected(values: Mapping[str, str], settings: Settings, known: Before, there: Around) -> str:
    limits = budgets.limits(settings)
    try:
        choice = model_choice.choose(settings)
        device = machine.device(there.machine, settings.text("device")) if there.machine else ""
    except WorkbenchError:
        return expected.at_most(limits)
    labels = told_models(choice.models, choice.labels, choice.thinking)
    task = task_id(values.get("task", ""), there.tasks)
    tools = settings.text("agent_tools") == "yes"
    coming = Ahead(task, settings.text("strategy"), labels, device, limits, tools)
    return expected.expected(coming, known.rows)[1]


def task_id(typed: str, tasks: Sequence[Option]) -> str:
    """Return the id of the task that is typed, by name, by its beginning, or by the content of a file."""
    names = [option.key for option in tasks]
    path = Path(typed).expanduser()
    if suggestions.is_path(typed) and path.is_file():
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        except OSError:
            return typed
        return next((name for name in names if name.endswith(f"-{digest}")), typed)
    begun = [name for name in names if typed and name.startswith(typed)]
    return typed if typed in names or len(begun) != 1 else begun[0]


def _notes(values: Mapping[str, str], known: Before, there: Around) -> dict[str, str]:
    catalog = model_choice.catalog(known.settings.models)
    models = {o.key: o.note for o in suggestions.models(catalog, known.labels)}
    devices = {option.key: option.note for option in there.devices}
    model = values.get("model", "").strip()
    return {
        "task": _task_note(values.get("task", ""), known, there),
        "strategy": _says(values.get("strategy", "")),
        "model": models.get(model, "") if model else suggestions.keys(catalog),
        **{name: models.get(values.get(name, "").strip(), "") for name in form_values.SAME},
        "device": devices.get(values.get("device", "").strip(), ""),
    }


def _task_note(typed: str, known: Before, there: Around) -> str:
    name = task_id(typed, there.tasks)
    title = next((option.note for option in there.tasks if option.key == name), "")
    timed = next((r for r in known.rows if r.get("task") == name and r.get("eager_ms")), None)
    if timed is None:
        return title
    on = timed.get("device_name") or timed.get("device")
    return f"original {fmt.milliseconds(timed['eager_ms'])} ms on {on}"


def _says(strategy: str) -> str:
    if own_strategy.is_own(strategy):  # which would run it
        return "your own code: it runs in the engine with your rights"
    try:
        return registry.says(strategy.strip())
    except StrategyError:
        return ""


@dataclass(frozen=True, slots=True)
class Looker:
    """How the form looks at the world: each is blocking, and called in a thread."""

    before: Callable[[Path], Before] = before
    around: Callable[[str], Around] = around
    look: Callable[[Mapping[str, str], Before, Around], Looked] = look
