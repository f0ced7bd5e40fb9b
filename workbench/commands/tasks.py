"""`pike tasks`: the tasks there are, one of them whole, or which of many can judge candidates."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench import config, evaluator, task_files
from workbench.errors import DONE, WrongUsage

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """List the tasks, show one, or qualify them."""
    match typed.what:
        case "show":
            return _show(typed, printer)
        case "qualify":
            return _qualify(typed)
        case _:
            return _list(typed, printer)


def _list(typed: argparse.Namespace, printer: Printer) -> int:
    rows = evaluator.tasks()
    if typed.json:
        printer.pretty(rows)
        return DONE
    printer.table(("id", "title"), [(str(r["id"]), str(r.get("title") or "")) for r in rows])
    printer.talk(
        "`pike tasks show ID` shows one; `pike run ID` starts a session; a file's path will do too."
    )
    return DONE


def _qualify(typed: argparse.Namespace) -> int:
    """Run it on this terminal: it takes minutes, and says a line per task."""
    if not typed.ids and not typed.list:
        raise WrongUsage(
            "pike tasks qualify needs files, folders, ids or --list FILE; `pike tasks` lists ids."
        )
    if typed.limit is not None and not 0 < typed.limit < math.inf:
        raise WrongUsage(f"--limit is {typed.limit:g}, but must be seconds above zero.")
    names = ("device", "precision", "sandbox", "python")
    settings = config.load({name: getattr(typed, name) for name in names})
    told = {name: settings.text(name) for name in names}
    told["device"] = "" if told["device"] == "auto" else told["device"]
    told |= {name: str(getattr(typed, name) or "") for name in ("list", "limit", "table")}
    on = {"--no-baselines": typed.no_baselines, "--cheats": typed.cheats, "--json": typed.json}
    words = [name for name, is_on in on.items() if is_on]
    return evaluator.run(["qualify", *evaluator.flags(**told), *words, "--", *typed.ids])


def _show(typed: argparse.Namespace, printer: Printer) -> int:
    if len(typed.ids) != 1:
        raise WrongUsage("pike tasks show needs one ID; `pike tasks` lists them.")
    found = task_files.find(typed.ids[0])
    if typed.json:
        printer.pretty(asdict(found))
        return DONE
    printer.talk(f"{found.id}: {found.title}")
    printer.verbatim(found.source)
    return DONE
