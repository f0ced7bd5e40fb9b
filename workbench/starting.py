"""From what was typed to a session that can start: every check that can be made before, made."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions import endpoints, own_strategy, prompts
from sessions import folder as folders
from sessions.journal import Reader
from sessions.start import NewSession, create_session
from sessions.storage import storage_of
from strategies import registry
from strategies.options import NAMES
from workbench import (
    budgets,
    config,
    hosts,
    kept_models,
    lookup,
    machine,
    model_choice,
    task_files,
    tools_left,
)
from workbench.errors import CannotGoOn, WrongUsage
from workbench.notify import usable
from workbench.plain import inert_line
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.folder import SessionFolder
    from workbench.config import Settings, Value
    from workbench.printing import Printer

THINKING = "thinking"
"""What `--set` takes besides the strategy's own settings."""
INSTRUCTIONS_LIMIT = 20_000
"""Characters: they are part of every prompt."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants of a session, beside the settings."""

    task: str
    """A file's path, or `SUITE/NAME`."""
    name: str = ""
    seed: int | None = None
    """None: drawn, and recorded."""
    assign: Sequence[str] = ()
    """`KEY=VALUE` of the strategy."""
    origin: str = ""
    """`FILE` or `SESSION:c12`."""
    instructions: str = ""
    """A file."""
    title: str = ""
    """What an external agent calls it; foreign text."""
    opened_by: str = ""
    """The caller who opens it for an external agent, and may see it."""
    listed: bool = False
    """Whether the task must be one that is known: an agent names no files."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A session that can start: every check is made, nothing is written."""

    request: NewSession
    task: task_files.NamedTask
    machine: machine.Machine
    """What the evaluator found here."""
    warnings: tuple[str, ...]
    """What a person should know before it starts."""
    tables: Mapping[str, Mapping[str, Value]]
    """`[models.NAME]` of the settings."""


At = Callable[[str], None]
"""Told the flag that is looked at next; empty for none."""


def plan(wish: Wish, settings: Settings, at: At = lambda _: None) -> Plan:
    """Check everything that a session needs; blocking, since the evaluator is asked.

    `at`: told the flag that is looked at, so that a form knows which field a refusal is about; empty for none.

    Raises:
        WorkbenchError, StrategyError, SessionError: something stands in the way.
    """
    at("")
    _need_git()
    at("notify")
    _need_notify(settings)
    at("name")
    folders.check_name(folders.sessions_root(), wish.name)
    at("task")
    task = task_files.listed(wish.task) if wish.listed else task_files.find(wish.task, keep=False)
    at("strategy")
    entry, own = strategy_of(settings)
    at("set")
    given = _given(wish, settings)
    strategy = entry.create(given, wish.seed or 0)
    choice = _choice(_with_assigned(wish, settings), at)
    at("model")
    model_choice.check_tools(choice, settings, entry.complete(given))
    at("from")
    origin, origin_source = _origin(wish.origin)
    at("instructions")
    instructions = _instructions(wish.instructions)
    at("python")
    python = _python(settings)
    found, fence, device = _machine(settings, python, at)
    at("task")
    check_task(task, device, choice.models)
    at("")
    request = NewSession(
        task=task.id,
        source=task.source,
        strategy=entry.name,
        strategy_file=own.file if own else "",
        strategy_sha256=own.sha256 if own else "",
        strategy_version=strategy.version,
        settings=entry.complete(given),
        models=choice.models,
        limits=budgets.of_session(settings, choice.models, entry.complete(given)),
        template_hash=prompts.load().digest,
        product_version=version(),
        name=wish.name,
        seed=_seed(wish),
        device=device,
        precision=settings.text("precision"),
        tolerance=settings.text("tolerance"),
        sandbox=settings.text("sandbox"),
        python=python,
        places=strategy.settings.places,
        instructions=instructions,
        notify=settings.text("notify"),
        origin=origin,
        origin_source=origin_source,
        labels=choice.labels,
        opened_by=wish.opened_by,
        title=wish.title,
        executor=endpoints.checked_executor("--executor", settings.text("executor")),
        thinking=choice.thinking,
    )
    mine = own_strategy.WARNING.format(inert_line(own.file)) if own else ""
    lacking = tools_left.warning(entry.name, request.settings, request.limits.get("queries"))
    told = (
        *settings.warnings, mine, fence, lacking, machine.lacking(found, device), _storage_warning(),
    )  # fmt: skip
    return Plan(request, task, found, tuple(word for word in told if word), settings.models)


def create(planned: Plan) -> SessionFolder:
    """Write the session of a plan; its engine is not started.

    Raises:
        SessionError: the folder cannot be made, or its name was taken meanwhile.
    """
    request = planned.request
    task_files.keep(planned.task)
    folder = create_session(request)
    kept_models.keep(folder, kept_models.each(request.models), planned.tables)
    return folder


def start(wish: Wish, settings: Settings, printer: Printer) -> SessionFolder:
    """Check everything and write the session; its engine is not started.

    Raises:
        WorkbenchError: something stands in the way; nothing was written.
    """
    planned = plan(wish, settings)
    folder = create(planned)
    for warning in planned.warnings:
        printer.talk(f"pike: {warning}")
    return folder


def assigned(pairs: Sequence[str]) -> dict[str, str]:
    """Return `KEY=VALUE` pairs.

    Raises:
        WrongUsage: one is no pair.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise WrongUsage(f"--set {pair!r} is not KEY=VALUE.")
        found[key.strip()] = value.strip()
    if "queries" in found:
        raise WrongUsage("--set queries= is the hard limit of queries: say --queries N.")
    return found


def strategy_of(settings: Settings) -> tuple[registry.Entry, own_strategy.Own | None]:
    """Return the strategy that the settings name, and where it comes from if it is a person's own, which runs it.

    Raises:
        StrategyError: there is none, or it is no strategy.
        WrongUsage: a folder's settings name code to run: whoever works in a folder need not trust it.
    """
    name, origin = settings.text("strategy"), settings.values["strategy"].origin
    if not own_strategy.is_own(name):
        return registry.entry(name), None
    if Path(origin).name == config.PROJECT_FILE:
        raise WrongUsage(
            f"{origin} names a strategy of its own, {name}, which would run that file. If you trust it, say so "
            f"yourself: --strategy {name}."
        )
    own = own_strategy.load(name)
    return own.entry, own


def _given(wish: Wish, settings: Settings) -> dict[str, Any]:
    """Return what was set of the strategy: by `--set` before what flags, environment and files say."""
    given: dict[str, Any] = dict(assigned(wish.assign))
    given.pop(THINKING, None)
    for name in NAMES:
        if settings.text(name) != "auto":
            given.setdefault(name, settings.text(name))
    queries = settings.number("queries")
    if queries is not None and not budgets.is_external(settings):
        given.setdefault("queries", int(queries))
    return given


def _with_assigned(wish: Wish, settings: Settings) -> Settings:
    """Return the settings with what `--set` says that is no setting of the strategy, but of its models."""
    said = assigned(wish.assign).get(THINKING)
    if said is None:
        return settings
    return replace(settings, values={**settings.values, THINKING: config.Held(said, "--set")})


def _machine(settings: Settings, python: str, at: At) -> tuple[machine.Machine, str, str]:
    """Return this machine, what its fence lacks, and the device; of elsewhere, where all is evaluated there."""
    at("executor")
    executor = endpoints.checked_executor("--executor", settings.text("executor"))
    if executor:
        used = hosts.usable(executor, settings)
        at("device")
        return machine.ELSEWHERE, used.told, hosts.device(used.hosts, settings.text("device"))
    at("")
    if endpoints.elsewhere(endpoints.read(settings.evaluators)):
        device = settings.text("device")
        return machine.ELSEWHERE, "", "cuda:0" if device in ("auto", "cuda") else device
    found = machine.look(python)
    machine.check(found)
    at("sandbox")
    fence = machine.check_sandbox(found, settings.text("sandbox"))
    at("device")
    return found, fence, machine.device(found, settings.text("device"))


def _choice(settings: Settings, at: At) -> model_choice.Choice:
    if not budgets.is_external(settings):
        return model_choice.choose(settings, at)
    at("model")
    budgets.check_external(settings)
    return model_choice.Choice({}, {}, {})


def _seed(wish: Wish) -> int:
    return secrets.randbelow(2**31) if wish.seed is None else wish.seed


def _need_git() -> None:
    if shutil.which("git") is None:
        raise CannotGoOn(
            "git is not installed, or not on PATH; every attempt is kept as a commit. Install git and start again."
        )


def _need_notify(settings: Settings) -> None:
    command = settings.text("notify")
    why = usable(command) if command else ""
    if why:
        raise WrongUsage(why)


def _python(settings: Settings) -> str:
    given = settings.text("python")
    if not given:
        return ""
    path = Path(given).expanduser()
    return str(path.absolute()) if path.exists() else given


def check_task(task: task_files.NamedTask, device: str, models: Mapping[str, str]) -> None:
    """Refuse a task that cannot be worked on there, with these models by role.

    Raises:
        CannotGoOn: it asks for CUDA where there is none.
        WrongUsage: no answers were recorded for it.
    """
    if device == "cpu" and task.needs_cuda:
        raise CannotGoOn(
            f"{task.id} asks for CUDA itself, and this session would run on the CPU. Use a machine with a GPU, or "
            "write the task without naming a device."
        )
    if "recorded" in kept_models.each(models):
        _check_recorded(task.id, device)


def _check_recorded(task: str, device: str) -> None:
    from sessions.models.recorded import index, recorded_tasks

    kind = device.partition(":")[0]
    if (task, kind) not in index():
        known = ", ".join(recorded_tasks())
        raise WrongUsage(
            f"recorded answers exist for {known} only, not for {task} on {kind}. --model offline needs no key either."
        )


def _instructions(path: str) -> str:
    return task_files.text(Path(path), INSTRUCTIONS_LIMIT) if path else ""


def _origin(named: str) -> tuple[str, str]:
    """Return what `--from` names, and its source."""
    if not named:
        return "", ""
    path = Path(named).expanduser()
    if path.is_file():
        return str(path.absolute()), task_files.candidate(path)
    session, sign, candidate = named.rpartition(":")
    if not sign:
        raise WrongUsage(f"--from {named!r}: there is no such file, and it is not SESSION:c12.")
    folder = lookup.session(session)
    attempt = lookup.attempt(lookup.state(folder), candidate)
    with Reader(folder.journal) as reader:
        return f"{folder.name}:{attempt.id}", reader.text(attempt.source_key)


def _storage_warning() -> str:
    home = folders.sessions_root()
    there = next((p for p in (home, *home.parents) if p.exists()), Path("/"))
    return storage_of(there).warning
