"""`pike compare`: attempts of a session, or sessions on one task, side by side."""

from __future__ import annotations

import re
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions.journal import Reader
from sessions.model import ORIGINAL
from sessions.verdicts import kind_of
from workbench import comparing, comparing_sessions, config, lookup
from workbench.errors import DONE, FAILED, WrongUsage
from workbench.patches import patch
from workbench.remeasure import Remeasurement, elsewhere

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.printing import Printer

Verdicts = dict[str, dict[str, Any]]


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Compare what was named; with --again, 1 if an attempt is not correct when measured again."""
    folder = lookup.session(typed.session)
    if all(re.fullmatch(r"c\d+", name) for name in typed.others):
        return _attempts(folder, typed, printer)
    if typed.again or typed.diff:
        raise WrongUsage(
            "--again and --diff are for attempts of one session: pike compare S c1 c2."
        )
    return _sessions([folder, *map(lookup.session, typed.others)], typed, printer)


# --- attempts


def _attempts(folder: SessionFolder, typed: argparse.Namespace, printer: Printer) -> int:
    found = lookup.state(folder)
    ids = comparing.pick(found, typed.others)
    if typed.diff:
        printer.verbatim(patch_between(folder, found, ids))
        return DONE
    there = elsewhere(found.opened, config.load()) if typed.again else ""
    if there:
        printer.talk(f"{folder.name} is measured by {there}; again is measured on this machine.")
    again = _again(folder, found, ids, printer) if typed.again else {}
    sides = comparing.sides(found, ids, at_work=comparing.at_work(folder))
    if typed.json:
        printer.pretty(_json(found, sides, again, there))
    else:
        _print(sides, again, there, printer)
        told = comparing.labels(found, ids)
        if told:
            printer.data(f"These are numbers of another kind: {', '.join(told)}.")
    return DONE if all(v.get("status") == "ok" for v in again.values()) else FAILED


def _again(folder: SessionFolder, found: State, ids: Sequence[str], printer: Printer) -> Verdicts:
    work = Remeasurement(folder, found, ids)
    try:
        return work.run(lambda name, what: printer.talk(f"{name}: {what}"))
    except KeyboardInterrupt:
        work.stop()
        raise


def _print(sides: Sequence[comparing.Side], again: Verdicts, there: str, printer: Printer) -> None:
    rows = [(name, *(side.cells[name] for side in sides)) for name in comparing.ROWS]
    if again:
        cells = [_again_cells(again.get(side.id)) for side in sides]
        rows += [(name, *(cell.get(name, "") for cell in cells)) for name in comparing.AGAIN_ROWS]
    printer.table(("", *(comparing.head(side) for side in sides)), rows)
    printer.data()
    printer.data(comparing.told_again(sides, again, there) or comparing.told(sides))
    apart = comparing.told_apart(sides)
    if apart and not again:
        printer.data(f"{apart} --again times them back to back.")


def _again_cells(verdict: Mapping[str, Any] | None) -> dict[str, str]:
    return comparing.again_cells(_word(verdict), verdict) if verdict else {}


def _word(verdict: Mapping[str, Any]) -> str:
    return kind_of(verdict).value


def _json(
    found: State, sides: Sequence[comparing.Side], again: Verdicts, there: str
) -> dict[str, Any]:
    return {
        "session": found.name,
        "attempts": [
            {
                **asdict(side),
                "verdict": found.attempts[side.id].verdict,
                "again": again.get(side.id),
            }
            for side in sides
            if side.id != ORIGINAL
        ],
        "eager_ms": found.baseline.eager_ms if found.baseline else None,
        "told": comparing.told(sides),
        "told_again": comparing.told_again(sides, again, there),
        "measured_elsewhere": there,
        "labels": comparing.labels(found, [side.id for side in sides]),
        "apart_s": comparing.apart_s(sides),
    }


def patch_between(folder: SessionFolder, found: State, ids: Sequence[str]) -> str:
    """Return the change from the first attempt to the last, as a patch."""
    with Reader(folder.journal) as reader:
        before, after = (reader.text(source_key(found, name)) for name in (ids[0], ids[-1]))
    return patch(before, after, f"{ids[0]}.py", f"{ids[-1]}.py")


def source_key(found: State, name: str) -> str:
    """Return where the source of a candidate is kept, c0 among them."""
    if name == ORIGINAL:
        return found.opened.source_key if found.opened else ""
    return found.attempts[name].source_key


# --- sessions


def _sessions(folders: Sequence[SessionFolder], typed: argparse.Namespace, printer: Printer) -> int:
    states = [lookup.state(folder) for folder in dict.fromkeys(folders)]
    comparing_sessions.same_task(states)
    found = comparing_sessions.columns(states, time.time())
    if typed.json:
        told = comparing_sessions.told(found)
        printer.pretty({"sessions": [asdict(column) for column in found], "told": told})
        return DONE
    rows = [(name, *(c.cells[name] for c in found)) for name in comparing_sessions.ROWS]
    printer.table(("", *(column.name for column in found)), rows)
    printer.data()
    printer.data(comparing_sessions.told(found))
    return DONE
