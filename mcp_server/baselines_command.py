"""The plain command `baselines`: plain PyTorch and given candidates on whole suites, a row per task, no search."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import (
    candidate_files,
    facts,
    measures_page,
    measures_table,
    provenance,
    suite,
    suite_measures,
)
from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError, Mistyped
from mcp_server.evaluate import StageLimits
from mcp_server.evaluate_command import talk
from mcp_server.local import open_local
from mcp_server.qualifying import Qualifier
from mcp_server.suite import Kept, Row, Wish
from mcp_server.suite_measures import Measured
from mcp_server.tasks import Tasks

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from mcp_server.candidate_files import CandidateFile, Matched
    from mcp_server.setting import Setting
    from mcp_server.tasks import Task

_FULL_S = 900.0
"""For the baselines of a task that take minutes, unless another limit is given."""


@dataclass(slots=True)
class _Run:
    """One run over a list of tasks."""

    listed: dict[str, Path | Task]
    matched: Matched
    folders: list[str]
    wish: Wish
    target: Path | None
    heading: str = ""
    rows: list[Measured] = field(default_factory=list[Measured])

    def said(self) -> str:
        """Return what is to be done."""
        files = sum(len(files) for files in self.matched.by_task.values())
        return f"Tasks: {len(self.listed)}, candidates: {files},"

    def put(self, one: Measured) -> None:
        """Take a row in, and say so."""
        self.rows.append(one)
        count = f"{len(self.rows):>{len(str(len(self.listed)))}}/{len(self.listed)}"
        for line in measures_table.lines(one):
            talk(printable(f"{count} {line}{'  (known)' if one.known else ''}"))
        if self.target is not None:
            self.target.write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """Return the rows so far as Markdown."""
        return measures_page.page(self.rows, self.folders, self.heading)


def main(setting: Setting, arguments: Namespace) -> int:
    """Measure what is named; 0 if anything could be.

    Raises:
        Mistyped: a name, or a folder, is nothing.
        EvaluatorError: a file cannot be written, this machine cannot evaluate.
    """
    run = _prepared(setting, arguments)
    limit_s = arguments.limit or (_FULL_S if arguments.full else StageLimits().qualify)
    setting = replace(setting, stage_limits=StageLimits(qualify=limit_s, grace=10))
    anyio.run(partial(_measure, setting, run))
    if arguments.json:
        sys.stdout.write(json.dumps([_row(one) for one in run.rows], indent=1) + "\n")
    else:
        told = measures_table.summary(run.rows, run.folders)
        sys.stdout.write("".join(f"{printable(line)}\n" for line in told))
    return 0 if any(one.row.baselines_ms for one in run.rows) else 1


def _prepared(setting: Setting, arguments: Namespace) -> _Run:
    """Return the run, once all that is named is there."""
    listed = dict(suite.found(arguments.paths, Tasks(setting.home)))
    folders = [Path(folder).expanduser() for folder in arguments.candidates]
    matched = candidate_files.matched(folders, list(listed))
    for name, why in matched.astray:
        talk(printable(f"passed over: {name} {why}"))
    if folders and not matched.by_task:
        raise Mistyped(
            "No candidate is for any of these tasks: each must bear a task's name or number."
        )
    target = Path(arguments.output).expanduser() if arguments.output else None
    if target is not None and not target.resolve().parent.is_dir():
        raise Mistyped(f"There is no folder {target.parent}: make it, or name another file.")
    names = [folder.resolve().name for folder in folders]
    wish = Wish(arguments.precision, further="all" if arguments.full else "graphs")
    return _Run(listed, matched, names, wish, target)


async def _measure(setting: Setting, run: _Run) -> None:
    async with open_local(setting) as executor:
        device, python = await executor.check_device("auto"), await executor.python()
        made_by = "pike suite baselines … --output FILE.md"
        run.heading = provenance.line(
            device, python, f"{made_by}{' --full' if run.wish.further == 'all' else ''}"
        )
        run.heading += f" Policy `{run.wish.precision}`."
        talk(
            f"{run.said()} on {device.title}, torch {python.torch}, policy {run.wish.precision}. "
            "A line as each is done; run it again to go on after an interruption."
        )
        place = facts.key_of(device, python).name
        qualifier = Qualifier(executor, run.wish, Kept(setting.home), place)
        for name, what in run.listed.items():
            files = run.matched.by_task.get(name, [])
            run.put(await _measured(qualifier, name, what, files, first=not run.rows))


async def _measured(
    qualifier: Qualifier,
    name: str,
    what: Path | Task,
    files: Sequence[CandidateFile],
    *,
    first: bool,
) -> Measured:
    """Return what came of a task: one that fails here ends the run only if nothing was measured before."""
    try:
        return await suite_measures.measured(qualifier, name, what, files)
    except EvaluatorError as error:
        if first:
            raise
        return Measured(Row(name, "not run", "machine", str(error)))


def _row(one: Measured) -> dict[str, object]:
    best = one.best_plain
    plain = {"best_plain": best[0], "best_plain_ms": best[1]} if best else {}
    told = ("task", "state", "code", "reason", "policy", "baselines_ms", "classes", "unmeasured")
    kept = {name: asdict(one.row)[name] for name in told}
    return {
        **kept,
        "eager_ms": one.eager_ms,
        **plain,
        "plain_speedup_eager_ratio": suite_measures.gain(one),
        "candidates": [asdict(result) for result in one.candidates],
    }
