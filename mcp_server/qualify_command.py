"""The plain command `qualify`: whole suites judged fit or unfit for judging, a line each, and a table of them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import facts, markdown, suite
from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError
from mcp_server.evaluate import StageLimits
from mcp_server.local import open_local
from mcp_server.qualifying import Qualifier
from mcp_server.rooms import parallel
from mcp_server.suite import Kept, Row, Wish
from mcp_server.tasks import Tasks

if TYPE_CHECKING:
    from argparse import Namespace

    from mcp_server.machine import Device
    from mcp_server.setting import Setting
    from mcp_server.tasks import Task


@dataclass(slots=True)
class _Run:
    """One run over a list of tasks."""

    qualifier: Qualifier
    device: Device
    torch: str
    names: list[str]
    table: Path | None
    rows: dict[str, Row] = field(default_factory=dict[str, Row])

    def put(self, row: Row, *, known: bool = False) -> None:
        """Take a row in, and say so."""
        self.rows[row.task] = row
        count = f"{len(self.rows):>{len(str(len(self.names)))}}/{len(self.names)}"
        sys.stderr.write(f"{count} {line(row)}{'  (known)' if known else ''}\n")
        sys.stderr.flush()
        if self.table is not None:
            self.table.write_text(table(self.ordered(), self.heading()), encoding="utf-8")

    def ordered(self) -> list[Row]:
        """Return the rows so far, in the order of the list."""
        return [self.rows[name] for name in self.names if name in self.rows]

    def heading(self) -> str:
        """Return where and how the rows came about."""
        cheats = (
            "generic cheats tried" if self.qualifier.wish.cheats else "generic cheats not tried"
        )
        policy = self.qualifier.wish.precision
        return f"{self.device.title}, torch {self.torch}, policy {policy}, {cheats}."


def main(setting: Setting, arguments: Namespace) -> int:
    """Qualify what is named; 0 if no generic cheat passed and all that was asked was answered.

    Raises:
        EvaluatorError: a name is nothing, a file cannot be written, this machine cannot evaluate.
    """
    listed = suite.found([*arguments.paths, *_listed(arguments.list)], Tasks(setting.home))
    target = Path(arguments.table).expanduser() if arguments.table else None
    if target is not None and not target.resolve().parent.is_dir():
        raise EvaluatorError(f"There is no folder {target.parent}: make it, or name another file.")
    limits = StageLimits(qualify=arguments.limit, grace=10)
    setting = replace(setting, stage_limits=limits)
    wish = Wish(arguments.precision, not arguments.no_baselines, arguments.cheats)
    rows = anyio.run(partial(_run, setting, listed, wish, target))
    if arguments.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    else:
        sys.stdout.write(summary(rows) + "\n")
    return 1 if any(row.passed for row in rows) else 0


def _listed(name: str | None) -> list[str]:
    """Return the paths that a file lists, one a line; a line that begins with # is none."""
    if name is None:
        return []
    path = Path(name).expanduser()
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or "it is not UTF-8 text"
        raise EvaluatorError(f"{path} cannot be read ({why}): give a file of paths.") from error
    return [str(path.parent / line) for line in lines if line and not line.startswith("#")]


async def _run(
    setting: Setting, listed: list[tuple[str, Path | Task]], wish: Wish, target: Path | None
) -> list[Row]:
    async with open_local(setting) as executor:
        device, python = await executor.check_device("auto"), await executor.python()
        place = facts.key_of(device, python).name
        names = list(dict.fromkeys(name for name, _ in listed))
        qualifier = Qualifier(executor, wish, Kept(setting.home), place)
        run = _Run(qualifier, device, python.torch, names, target)
        limiter = anyio.CapacityLimiter(parallel(device))
        async with anyio.create_task_group() as group:
            for name, what in dict(listed).items():
                group.start_soon(_one, run, limiter, name, what)
    return run.ordered()


async def _one(run: _Run, limiter: anyio.CapacityLimiter, name: str, what: Path | Task) -> None:
    async with limiter:
        row, known = await run.qualifier.row(name, what)
        run.put(row, known=known)


def line(row: Row) -> str:
    """Return what came of a task, for people, on one line."""
    return f"{printable(row.task)[:60]:<60} {row.state:<9} {row.seconds:6.1f} s  {_what(row)}"


def _what(row: Row) -> str:
    if row.state != "qualified":
        return f"{row.code}: {printable(row.reason)}"
    parts = [f"{row.policy} {_errors(row)}", f"D {_scales(row)}"]
    if row.blind_to:
        parts.append(f"blind to {', '.join(row.blind_to)}")
    if row.passed:
        parts.append(f"PASSED BY {', '.join(row.passed)}")
    return "; ".join(parts)


def _errors(row: Row) -> str:
    return " ".join(
        f"{name}={value:.1g}" if name in row.formats or name == "fp32" else f"({name}={value:.1g})"
        for name, value in row.errors.items()
    )


def _scales(row: Row) -> str:
    more = f" (+{len(row.scales) - 4})" if len(row.scales) > 4 else ""
    return ", ".join(f"{value:.2g}" for value in row.scales[:4]) + more


def summary(rows: list[Row]) -> str:
    """Return how many of each there are."""
    counts = {state: sum(row.state == state for row in rows) for state in _STATES}
    told = ", ".join(f"{count} {state}" for state, count in counts.items())
    tried = [row for row in rows if row.cheats]
    if not tried:
        return told
    passed = sum(len(row.passed) for row in tried)
    return f"{told}; {passed or 'no'} generic cheat passed on {len(tried)} tasks"


_STATES = ("qualified", "unfit", "not run")


def table(rows: list[Row], heading: str) -> str:
    """Return the rows as a page of Markdown."""
    head = ["task", "result", "policy: e of its formats (those left out)", "D", "blind to"]
    head += ["mildest wrong answer: e", "generic cheats", "s"]
    body = markdown.table(head, [_cells(row) for row in rows])
    return f"# Qualified tasks\n\n{heading} {summary(rows)}.\n\n{body}\n"


def _cells(row: Row) -> list[str]:
    cells = [row.task, row.state, "", "", "", "", "", f"{row.seconds:.1f}"]
    if row.state != "qualified":
        cells[1] = f"{row.state}: `{row.code}` {row.reason}"
    else:
        mildest = sorted(row.mutants.items(), key=lambda one: one[1])[:2]
        cells[2:7] = [
            f"{row.policy}: {_errors(row)}",
            _scales(row),
            ", ".join([*row.blind_to, *row.flags]),
            ", ".join(f"{name} {error:.2g}" for name, error in mildest),
            _cheats(row),
        ]
    return cells


def _cheats(row: Row) -> str:
    if not row.cheats:
        return "not tried"
    if row.passed:
        return f"**PASSED: {', '.join(row.passed)}**"
    return ", ".join(f"{name} {said.rpartition('/')[2]}" for name, said in row.cheats.items())
