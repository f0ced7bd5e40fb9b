"""`pike clean`: shows what on disk no session needs, and frees it when told to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from workbench import format as fmt
from workbench.errors import DONE, FAILED
from workbench.freeing import Item, found, free

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from workbench.printing import Printer

HEAD = ("size", "what", "why it can go", "where")


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Show what can go; free it with `--yes`, or after asking a person."""
    items = found(tuple(typed.sessions))
    if typed.json:
        return _as_json(items, printer, yes=typed.yes)
    if not items:
        printer.talk(
            "Nothing can be freed. A session, or an experiment, goes only by its name: pike clean NAME."
        )
        return DONE
    printer.table(HEAD, [_cells(item) for item in items], right=("size",))
    chosen = items if typed.yes else _chosen(items, printer)
    return _freed(chosen, printer) if chosen else DONE


def _cells(item: Item) -> tuple[str, ...]:
    return (fmt.size(item.size), item.what, item.why, str(item.path))


def _chosen(items: Sequence[Item], printer: Printer) -> list[Item]:
    """Ask a person; without one, nothing goes."""
    total = fmt.size(sum(item.size for item in items))
    if not sys.stdin.isatty():
        printer.talk(f"{total} can be freed. Nothing was: --yes frees it.")
        return []
    plain = [item for item in items if not item.asks]
    chosen = plain if plain and _asked(printer, _question(plain)) in ("y", "yes") else []
    for name in dict.fromkeys(item.asks for item in items if item.asks):
        named = [item for item in items if item.asks == name]
        if _asked(printer, f"Type {name} to remove {_going(named)}, for good: ") == name:
            chosen = [*chosen, *named]
    return chosen


def _going(named: Sequence[Item]) -> str:
    if len(named) == 1 and named[0].session:
        return "the session with all its lineages"
    sessions = fmt.plural(sum(bool(item.session) for item in named), "session")
    return f"the experiment with its {sessions} and all their lineages"


def _question(items: Sequence[Item]) -> str:
    return f"Free {fmt.size(sum(item.size for item in items))}? [y/N] "


def _asked(printer: Printer, question: str) -> str:
    printer.talk(question)
    return sys.stdin.readline().strip()


def _freed(items: Sequence[Item], printer: Printer) -> int:
    stays = {item.path: free(item) for item in items}
    gone = sum(item.size for item in items if not stays[item.path])
    for path, why in stays.items():
        if why:
            printer.talk(f"{path} stays: {why}")
    printer.talk(f"{fmt.size(gone)} freed.")
    return FAILED if any(stays.values()) else DONE


def _as_json(items: Sequence[Item], printer: Printer, *, yes: bool) -> int:
    rows: list[dict[str, Any]] = []
    for item in items:
        stays = free(item) if yes else ""
        row = {"what": item.what, "path": str(item.path), "bytes": item.size, "why": item.why}
        rows.append(
            {**row, "session": item.session, "freed": yes and not stays, "stays_because": stays}
        )
    printer.pretty(rows)
    return FAILED if any(row["stays_because"] for row in rows) else DONE
