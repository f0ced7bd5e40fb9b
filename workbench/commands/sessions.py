"""`pike sessions`: the sessions, those that need you first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import folder as folders
from sessions.summary import rows
from workbench import format as fmt
from workbench.errors import DONE
from workbench.glyphs import NEEDS_YOU, glyphs
from workbench.story import precision_class

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

HEAD = ("state", "name", "strategy", "task", "best×", "class", "attempts", "queries", "cost $")


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """List the sessions."""
    found = rows(folders.sessions_root())
    if typed.json:
        printer.pretty(found)
        return DONE
    if not found:
        printer.talk("No sessions yet. `pike run TASK` starts one; `pike demo` needs no key.")
        return DONE
    printer.table(
        HEAD, [_cells(row) for row in found], right=("best×", "attempts", "queries", "cost $")
    )
    for row in found:
        if row.get("needs") or row["state"] == "unreadable":
            printer.talk(f"{row['id']}: {row.get('needs') or row['cause']}")
    return DONE


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    word = NEEDS_YOU if row.get("needs_stopped") else str(row["state"])
    return (
        f"{glyphs().session(word)} {word}",
        str(row["id"]),
        str(row["strategy"]),
        str(row["task"]),
        fmt.ratio(row["best_speedup"]),
        precision_class(row.get("best_class")),
        fmt.NONE if row["attempts"] is None else str(row["attempts"]),
        _of(row.get("queries"), row.get("queries_limit")),
        _cost(row),
    )


def _of(spent: Any, limit: Any) -> str:
    if spent is None:
        return fmt.NONE
    return f"{spent}/{limit}" if limit is not None else str(spent)


def _cost(row: dict[str, Any]) -> str:
    if row.get("cost_usd") is None:
        return fmt.NONE
    limit = row.get("cost_limit_usd")
    unknown = "+?" if row.get("cost_unknown") else ""
    return f"{fmt.amount(row['cost_usd'])}{unknown}" + (f"/{limit:g}" if limit is not None else "")
