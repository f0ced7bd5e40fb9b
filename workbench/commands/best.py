"""`pike best`: writes the best candidate, with its provenance in a header."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions import report_reading, report_sources
from sessions.best import best
from sessions.journal import Reader
from workbench import bundling, lookup, provenance, story, winners
from workbench import format as fmt
from workbench.errors import DONE, CannotGoOn, WrongUsage
from workbench.version import version

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State
    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Write the candidate to a file or stdout; say its first and its remeasured speedup."""
    if typed.bundle and typed.output:
        raise WrongUsage("-o writes the candidate, --bundle its evidence: ask for one at a time.")
    if typed.bundle == "-":
        raise WrongUsage("--bundle - names no file: say where the bundle is to lie.")
    if typed.all:
        return _all(typed, printer)
    if not typed.session:
        raise WrongUsage("pike best needs a session, or --all DIR for the winners of all of them.")
    folder = lookup.session(typed.session)
    found = lookup.state(folder)
    top = best(found)
    if top is None:
        raise CannotGoOn(
            f"{folder.name} has no correct attempt yet; `pike show {folder.name}` lists them."
        )
    if typed.bundle:
        _bundle(folder, found, top, Path(typed.bundle).expanduser(), printer)
        return DONE
    with Reader(folder.journal) as reader:
        source = reader.text(top.source_key)
    written = provenance.header(found, top, version()) + source
    if typed.output and typed.output != "-":
        path = Path(typed.output).expanduser()
        path.write_text(written, encoding="utf-8", errors="surrogatepass")
        printer.talk(f"{top.id} is written to {path}.")
    else:
        printer.verbatim(written)
    printer.talk(f"{top.id}: {story.verdict(top.kind, top.verdict)}")
    printer.talk(provenance.again(top) or "not measured again: that happens when a search finishes")
    return DONE


def _all(typed: argparse.Namespace, printer: Printer) -> int:
    """Write the winners of all sessions."""
    if typed.session or typed.output or typed.bundle:
        raise WrongUsage("--all DIR is about every session, and writes candidates and evidence.")
    found, left_out = report_reading.readings(report_sources.find(folders.root(), []))
    best_of_all = winners.winners(found)
    for one in left_out:
        printer.talk(f"{one.session} is left out: {one.why}")
    if not best_of_all:
        raise CannotGoOn("no session has a correct attempt yet; `pike sessions` lists them.")
    out = Path(typed.all).expanduser()
    for trouble in winners.export(best_of_all, out):
        printer.talk(trouble)
    many, sessions = fmt.plural(len(best_of_all), "winner"), fmt.plural(len(found), "session")
    printer.talk(f"{out} holds {many} of {sessions}; winners.md lists them.")
    return DONE


def _bundle(
    folder: SessionFolder, found: State, top: AttemptRecord, path: Path, printer: Printer
) -> None:
    """Write the evidence of the best, and say what is in it."""
    has_samples = bundling.write(folder, found, top, path)
    samples = "with its raw samples" if has_samples else "its raw samples are not kept here"
    printer.talk(f"the evidence of {top.id} is written to {path}, {samples}.")
    printer.talk(f"`pike replay {path}` measures it again, on this machine or another.")
