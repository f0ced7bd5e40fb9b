"""`pike report`: what searches found, how sure that is, what it cost; on the terminal and as files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions import report_reading, report_sources
from sessions.report_spending import Cutoff
from workbench import report_files, report_terminal
from workbench.errors import DONE, FAILED, WrongUsage
from workbench.report_view import view_of

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

CUTOFFS = "25,50"
"""Dollars per run, as in the paper."""
_CUTOFF = re.compile(r"\$?(?P<dollars>\d+(\.\d+)?)|(?P<queries>\d+)q")


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Report on what was named, or on all sessions; 1 if no run holds a number."""
    wanted = cutoffs(typed.cutoffs or CUTOFFS)
    named = report_sources.find(folders.root(), typed.names)
    found = view_of(report_reading.read(named), wanted)
    if typed.json:
        printer.pretty(report_files.as_json(found))
    else:
        report_terminal.show(found, printer)
    if not found.sections:
        printer.talk("No run holds a number yet: a session's comes when its original was measured.")
    if typed.out:
        out = Path(typed.out).expanduser()
        files = report_files.write(found, out)
        printer.talk(
            f"{len(files)} files are written to {out}; {out / report_files.PAGE} is the page to read."
        )
    elif not typed.json:
        printer.talk(
            "--out DIR writes it all: Markdown, figures, tables, and the numbers behind them."
        )
    if report_files.missing() and (typed.out or not typed.json):
        printer.talk(f"{report_files.missing()}.")
    return DONE if found.sections else FAILED


def cutoffs(text: str) -> list[Cutoff]:
    """Return the budgets of `25,50` (dollars) or `$25,100q` (queries), each once.

    Raises:
        WrongUsage: a word is neither.
    """
    return list(dict.fromkeys(_cutoff(word.strip()) for word in text.split(",")))


def _cutoff(word: str) -> Cutoff:
    found = _CUTOFF.fullmatch(word)
    dollars, queries = (found["dollars"], found["queries"]) if found else (None, None)
    at = float(dollars or queries or 0)
    if not 0 < at < math.inf:
        raise WrongUsage(
            f"--cutoffs: {word!r} is no budget; write dollars as 25, queries as 100q, commas between."
        )
    return Cutoff("dollars" if dollars else "queries", at)
