"""`pike tasks`: the tasks there are, one of them whole, or which of many can judge candidates."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench import config, evaluator, task_files, task_rows
from workbench.errors import DONE, WrongUsage, nearest

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
    if typed.ids:
        raise WrongUsage(
            f"`pike tasks {typed.what}` takes nothing more: name one suite, or show ID."
        )
    python = config.load({"python": typed.python}).text("python")
    answer = evaluator.answer("tasks", "--json", *evaluator.flags(python=python))
    rows = evaluator.rows(answer.json)
    if typed.what:
        rows = _of_suite(rows, typed.what)
    if typed.json:
        printer.pretty(rows)
    else:
        printer.table(task_rows.HEAD, [task_rows.cells(row) for row in rows])
        printer.talk(task_rows.summary(rows))
    for line in answer.said.splitlines():
        printer.talk(line)
    if not typed.json:
        printer.talk("`pike tasks show ID` shows one; `pike run ID` starts a session on it.")
    return DONE


def _of_suite(rows: list[dict[str, Any]], named: str) -> list[dict[str, Any]]:
    found = task_rows.in_suite(rows, named)
    if not found:
        suites = {str(row["id"]).rpartition("/")[0] for row in rows}
        raise WrongUsage(
            f"there is no suite {named!r}.{nearest(named, suites)} There are: {', '.join(sorted(suites))}."
        )
    return found


def _qualify(typed: argparse.Namespace) -> int:
    """Run it on this terminal: it takes minutes, and says a line per task."""
    if not typed.ids and not typed.list:
        raise WrongUsage(
            "pike tasks qualify needs files, folders, ids or --list FILE; `pike tasks` lists ids."
        )
    check_limit(typed.limit)
    task_files.check_named(typed.ids)
    told = {name: str(getattr(typed, name) or "") for name in ("list", "limit", "table")}
    on = {"--no-baselines": typed.no_baselines, "--cheats": typed.cheats, "--json": typed.json}
    words = [name for name, is_on in on.items() if is_on]
    return evaluator.run(
        ["qualify", *placing(typed), *evaluator.flags(**told), *words, "--", *typed.ids]
    )


def check_limit(limit_s: float | None) -> None:
    """Refuse a limit that is none.

    Raises:
        WrongUsage: it is not above zero, or endless.
    """
    if limit_s is not None and not 0 < limit_s < math.inf:
        raise WrongUsage(f"--limit is {limit_s:g}, but must be seconds above zero.")


def placing(typed: argparse.Namespace) -> list[str]:
    """Return the evaluator's flags for where and how exactly it works: typed ones, else the settings'."""
    names = ("device", "precision", "sandbox", "python")
    settings = config.load({name: getattr(typed, name) for name in names})
    told = {name: settings.text(name) for name in names}
    told["device"] = "" if told["device"] == "auto" else told["device"]
    return evaluator.flags(**told)


def _show(typed: argparse.Namespace, printer: Printer) -> int:
    if len(typed.ids) != 1:
        raise WrongUsage("pike tasks show needs one ID; `pike tasks` lists them.")
    found = task_files.find(typed.ids[0])
    if typed.json:
        printer.pretty(asdict(found))
        return DONE
    printer.talk(f"{found.id}: {found.title}")
    _, state, about = task_rows.cells(evaluator.tasks(found.id)[0])
    printer.talk(state if about == found.title else f"{state}: {about}")
    printer.verbatim(found.source)
    return DONE
