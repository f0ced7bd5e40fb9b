"""`pike steer`: the human's acts on a search, without the screens."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from sessions import commands
from workbench import config, launch, lookup
from workbench import format as fmt
from workbench.commands.control import TAKEN_LIMIT_S, steer_of
from workbench.errors import DONE, FAILED, WrongUsage

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder
    from sessions.model import SteerRecord
    from workbench.printing import Printer

BUDGETS = {"queries": "queries", "cost": "cost_usd", "time": "hours"}
"""The flag to the name of the limit."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Send the steer, and say what became of it."""
    folder = lookup.session(typed.session)
    found = lookup.state(folder)
    command = commands.send(folder.journal, typed.act, _args(typed), seen_seq=found.seq)
    if not launch.is_alive(folder):
        printer.talk(
            f"kept for {folder.name}: no engine runs it now ({found.state.value}), so nobody has checked it; "
            "the next engine takes it up."
        )
        return DONE
    return _told(folder, steer_of(folder, command, TAKEN_LIMIT_S), printer)


def scope(words: str) -> str:
    """Return a scope as steering reads it: `003` is a lineage, `c12` a candidate.

    Raises:
        WrongUsage: it is none of them.
    """
    if words == "session" or words.startswith(("lineage:", "candidate:")):
        return words
    if re.fullmatch(r"\d{1,3}", words):
        return f"lineage:{int(words):03d}"
    if re.fullmatch(r"c\d+", words):
        return f"candidate:{words}"
    raise WrongUsage(
        f"--for {words!r}: a guide is for session, a lineage (003) or a candidate (c12)."
    )


def _args(typed: argparse.Namespace) -> dict[str, Any]:
    match str(typed.act):
        case "guide":
            return _guide(typed)
        case "ban":
            return {"candidate": typed.candidate, "subtree": typed.subtree, "off": typed.off}
        case "budget":
            return _budget(typed)
        case "withdraw":
            return {"steer": typed.steer}
        case act:
            raise WrongUsage(f"no act is called {act!r}.")


def _guide(typed: argparse.Namespace) -> dict[str, Any]:
    if typed.off:
        return {"scope": scope(typed.scope), "off": True}
    text = sys.stdin.read() if typed.text == "-" else typed.text
    if not text.strip():
        raise WrongUsage("a guide needs its TEXT.")
    if typed.last is not None and typed.last < 1:
        raise WrongUsage("--last is a number of proposals, at least 1.")
    return {"text": text.strip(), "scope": scope(typed.scope), "last": typed.last or 0}


def _budget(typed: argparse.Namespace) -> dict[str, Any]:
    given = {flag: getattr(typed, flag) for flag in BUDGETS if getattr(typed, flag) is not None}
    if not given:
        raise WrongUsage("a budget needs --queries, --cost or --time.")
    return {
        BUDGETS[flag]: config.checked(config.BY_NAME[flag], value, f"--{flag}")
        for flag, value in given.items()
    }


def _told(folder: SessionFolder, steer: SteerRecord | None, printer: Printer) -> int:
    if steer is None:
        printer.talk(
            f"kept for {folder.name}, but the engine has not answered within {fmt.duration(TAKEN_LIMIT_S)}."
        )
        return FAILED
    if not steer.applied:
        printer.talk(f"{steer.id} {steer.act} refused: {steer.why}")
        return FAILED
    printer.data(steer.id)
    printer.talk(
        f"{steer.id} {steer.act} applied; `pike show {folder.name}` lists what is in force."
    )
    return DONE
