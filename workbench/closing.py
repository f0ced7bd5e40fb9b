"""The summary after a search, or after its window was closed."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from sessions.best import best
from sessions.budget import running_s
from sessions.states import ENDED
from workbench import format as fmt
from workbench import provenance, story
from workbench.commands.git import words
from workbench.errors import CannotGoOn
from workbench.glyphs import glyphs
from workbench.outcome_words import outcome
from workbench.plain import inert_line
from workbench.printing import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State
    from workbench.printing import Printer

GRAPH_LINES = 48
LINE_WIDTH = 118


def print_summary(folder: SessionFolder, found: State, printer: Printer) -> None:
    """Print what came of a search: the best with both numbers, what it cost, where it is, what next."""
    printer.data()
    for line in _lines(folder, found):
        printer.data(line)
    graph = lineage_graph(folder)
    if graph:
        printer.data("\nlineages, one commit per attempt:")
        for line in graph:
            printer.data(f"  {line}")
    printer.data("\nnext:")
    for line in _next(folder, found):
        printer.data(f"  {line}")


def lineage_graph(folder: SessionFolder) -> list[str]:
    """Return the session's commits as git draws them, at most `GRAPH_LINES`; nothing without a repository."""
    try:
        argv = words(folder.lineage, "log", "--graph", "--all", "--format=%h%d %s")
        done = subprocess.run(argv, capture_output=True, timeout=30, check=False)
    except (CannotGoOn, OSError, subprocess.TimeoutExpired):
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    shown = [str(inert_line(line, LINE_WIDTH)) for line in lines[:GRAPH_LINES]]
    more = len(lines) - len(shown)
    return [*shown, f"and {fmt.plural(more, 'line')} more"] if more > 0 else shown


def _lines(folder: SessionFolder, found: State) -> Iterator[str]:
    yield f"{folder.name}: {found.state.value}{f', {inert_line(found.cause)}' if found.cause else ''}"
    top = best(found)
    if top is None:
        yield f"best: {'none is correct' if found.state in ENDED else 'none yet'}"
    else:
        yield f"{glyphs().best} best {top.id}: {_headline(top)}"
        yield f"  over eager: {_eager(top)}; runtime {fmt.milliseconds(top.runtime_ms)} ms"
        if top.change:
            yield f"  change: {inert_line(top.change, LINE_WIDTH)}"
        if top.remeasured:
            yield f"  {provenance.again(top)}"
    yield _counts(found)
    yield _models(found)
    yield f"folder: {folder.path}"


def _headline(top: AttemptRecord) -> str:
    told = outcome(top.verdict)
    return f"{told}{', ' if told else ''}{story.headline(top.verdict)}"


def _eager(top: AttemptRecord) -> str:
    verdict = top.verdict
    between = fmt.interval(
        verdict.get("speedup_eager_lo_ratio"), verdict.get("speedup_eager_hi_ratio")
    )
    return f"{fmt.speedup(verdict.get('speedup_eager_ratio'))}{f' ({between})' if between else ''}"


def _counts(found: State) -> str:
    spending = found.spending
    ran_s = running_s(found, time.time())
    correct = sum(1 for attempt in found.attempts.values() if attempt.correct)
    unknown = f" and {spending.unpriced} of unknown cost" if spending.unpriced else ""
    return (
        f"{fmt.plural(spending.queries, 'query', 'queries')}, {fmt.money(spending.cost_usd)}{unknown}, "
        f"{fmt.plural(len(found.attempts), 'attempt')}, {correct} correct, {fmt.duration(ran_s)}"
    )


def _models(found: State) -> str:
    told = dict.fromkeys(found.answering.values())
    return f"answers: {', '.join(inert_line(label) for label in told)}"


def _next(folder: SessionFolder, found: State) -> list[str]:
    name, top = folder.name, best(found)
    rows = [(f"pike attach {name}", "the screen again")]
    if top is not None:
        rows.append((f"pike show {name} {top.id}", "the best attempt whole"))
        rows.append((f"pike best {name} -o best.py", "the best candidate as a file"))
    rows.append((f"pike git {name} -- log --graph --all --stat", "how it got there"))
    return columns(rows, (False, False))
