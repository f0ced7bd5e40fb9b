"""`pike tasks`: the tasks there are, or one of them whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench import evaluator, task_files
from workbench.errors import DONE, WrongUsage

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """List the tasks, or show one."""
    if typed.what == "show":
        return _show(typed, printer)
    rows = evaluator.tasks()
    if typed.json:
        printer.pretty(rows)
        return DONE
    printer.table(("id", "title"), [(str(r["id"]), str(r.get("title") or "")) for r in rows])
    printer.talk(
        "`pike tasks show ID` shows one; `pike run ID` starts a session; a file's path will do too."
    )
    return DONE


def _show(typed: argparse.Namespace, printer: Printer) -> int:
    if not typed.id:
        raise WrongUsage("pike tasks show needs an ID; `pike tasks` lists them.")
    found = task_files.find(typed.id)
    if typed.json:
        printer.pretty(asdict(found))
        return DONE
    printer.talk(f"{found.id}: {found.title}")
    printer.verbatim(found.source)
    return DONE
