"""`pike suite`: folders of tasks, named once and listed from where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench import evaluator, task_files
from workbench.commands.tasks import check_limit, placing
from workbench.errors import DONE, WrongUsage
from workbench.format import plural

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

NAME = "kernelbench"
"""Of a suite that is given no other."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Add a suite, remove one, list them, or measure what needs no search."""
    match typed.act:
        case "baselines":
            return _baselines(typed)
        case "add":
            rows = _ask("add", typed.name or NAME, str(Path(typed.path).expanduser().absolute()))
        case "remove":
            rows = _ask("remove", typed.name)
        case _:
            rows = _ask("list")
    if typed.json:
        printer.pretty(rows)
    elif typed.act == "list":
        _list(rows, printer)
    else:
        _tell(typed.act, rows[0], printer)
    return DONE


def _baselines(typed: argparse.Namespace) -> int:
    """Measure on this terminal: it takes minutes, and says a line per task."""
    check_limit(typed.limit)
    task_files.check_named(typed.tasks)
    for folder in typed.candidates:
        if not Path(folder).expanduser().is_dir():
            raise WrongUsage(f"there is no folder of candidates {folder!r}: check the path.")
    told = evaluator.flags(output=typed.output or "", limit=str(typed.limit or ""))
    folders = [word for folder in typed.candidates for word in ("--candidates", folder)]
    on = [f"--{name}" for name in ("full", "json") if getattr(typed, name)]
    words = [*placing(typed), *told, *folders, *on]
    return evaluator.run(["baselines", *words, "--", *typed.tasks])


def _ask(*words: str) -> list[dict[str, Any]]:
    return evaluator.rows(evaluator.ask("suite", *words[:1], "--", *words[1:]))


def _list(rows: list[dict[str, Any]], printer: Printer) -> None:
    if not rows:
        printer.talk(
            "No suite was added: `pike suite add kernelbench PATH` adds a folder of tasks."
        )
        return
    printer.table(("name", "tasks", "folder"), [_cells(row) for row in rows], right={"tasks"})
    for row in rows:
        if row.get("state") == "gone":
            printer.talk(str(row["reason"]))


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    count, before = row.get("tasks"), row.get("tasks_when_added")
    told = "gone" if count is None else str(count)
    changed = f" ({before} when added)" if count is not None and count != before else ""
    return (str(row["name"]), told + changed, str(row["path"]))


def _tell(act: str, row: dict[str, Any], printer: Printer) -> None:
    name = str(row["name"])
    if act == "remove":
        printer.data(f"The suite {name} is forgotten; {row['path']} stays as it is.")
        return
    levels = ", ".join(f"{level} {count}" for level, count in row["levels"].items())
    printer.data(
        f"{name}: {plural(row['tasks'], 'task')} in {row['path']}{f' ({levels})' if levels else ''}."
    )
    if row.get("unfit"):
        printer.data(
            f"{plural(row['unfit'], 'file')} cannot be a task: `pike tasks {name}` says why."
        )
    for line in cast("list[str]", row.get("passed_over") or []):  # JSON
        printer.talk(f"passed over: {line}")
    printer.talk(
        f"`pike tasks {name}` lists them; `pike tasks qualify {name}` finds out which can judge candidates."
    )
