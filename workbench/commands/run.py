"""`pike run`: starts a session on a task and shows it; with --dry-run, says what it would start."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.models import thinking
from sessions.summary import rows
from workbench import checks, expected, run_line, starting
from workbench import format as fmt
from workbench.commands import step
from workbench.errors import DONE, FAILED, WrongUsage
from workbench.kept_models import each
from workbench.machine import languages
from workbench.watching import Way, begin

if TYPE_CHECKING:
    import argparse

    from sessions.start import NewSession
    from workbench.config import Settings, Value
    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Start the session; 0 when it finished, 1 when it paused by itself or nothing is correct."""
    flags: dict[str, Value] = {
        name: getattr(typed, name) for name in (*run_line.FLAGS, *run_line.OPTIONS)
    }
    settings = run_line.settings(flags)
    _refuse_empty(typed)
    wish = starting.Wish(
        task=typed.task,
        name=typed.name or "",
        seed=typed.seed,
        assign=typed.assign,
        origin=typed.origin or "",
        instructions=typed.instructions or "",
    )
    if typed.dry_run:
        same = run_line.line(wish, flags)
        return _only_tell(starting.plan(wish, settings), settings, same, printer, typed)
    folder = starting.start(wish, settings, printer)
    printer.talk(f"session {folder.name}: {folder.path}")
    if typed.step:
        return step.take(folder, step.How(json=typed.json), printer)
    return begin(folder, Way.of(typed), printer)


def _refuse_empty(typed: argparse.Namespace) -> None:
    """Refuse an empty word where none would do, as of a shell's variable that is not set."""
    for flag, value in (
        ("name", typed.name),
        ("from", typed.origin),
        ("instructions", typed.instructions),
    ):
        if value == "":
            raise WrongUsage(f"--{flag} is empty: give it a value, or leave it out.")


def _only_tell(
    planned: starting.Plan,
    settings: Settings,
    same: str,
    printer: Printer,
    typed: argparse.Namespace,
) -> int:
    """Print checks and estimate; 1 if something needed is missing."""
    request = planned.request
    earlier = rows(folders.sessions_root())
    variants = expected.plain(request, languages(planned.machine, request.device))
    looked = checks.checks(planned.machine, settings, earlier)
    found, told = expected.expected(expected.ahead(request), earlier)
    ready = all(row.state != "missing" for row in looked)
    if typed.json:
        printer.pretty(
            {
                "ready": ready,
                "session": _about(request),
                "checks": [asdict(row) for row in looked],
                "warnings": planned.warnings,
                "estimate": {**asdict(found), "told": told, "plain": variants},
                "command": same,
            }
        )
        return DONE if ready else FAILED
    for warning in planned.warnings:
        printer.talk(f"pike: {warning}")
    for name, value in _about(request).items():
        printer.data(f"{name:<10} {_said(value)}")
    printer.data(f"expected   {told}")
    if variants:
        before = fmt.plural(variants, "plain variant")
        printer.data(
            f"before     {before} of the original: evaluations, but no query and no dollar"
        )
    heads = ("check", "state", "found", "what to do")
    printer.table(heads, [(r.name, r.state, r.found, r.remedy) for r in looked])
    printer.talk(f"Nothing was started. To start it: {same}")
    return DONE if ready else FAILED


def _about(request: NewSession) -> dict[str, object]:
    names = each(request.models)
    return {
        "task": request.task,
        "strategy": request.strategy,
        "settings": request.settings,
        "models": [request.labels.get(name, name) for name in names],
        "thinking": request.thinking or thinking.DEFAULT,
        "limits": request.limits,
        "device": request.device,
        "executor": request.executor or "local",
        "precision": request.precision,
        "sandbox": request.sandbox,
    }


def _said(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{key} {_said(one)}" for key, one in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON of ours
        case list():
            return ", ".join(map(str, value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON of ours
        case None:
            return "none"
        case _:
            return str(value)
