"""The plain command `tasks`: rows for people, or JSON for programs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server import catalog, machine, needs, projects, states, task_text
from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError
from mcp_server.installed import Installed
from mcp_server.states import States
from mcp_server.tasks import Listed, Tasks, is_by_agent, kept_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.catalog import Described


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are asked for; at most one of the first three."""

    add: str | None = None
    """A file to keep and list."""
    look: str | None = None
    """A file to list as it would be kept."""
    find: str | None = None
    """A name: the tasks that it may mean."""
    reads: Sequence[str] = ()
    """Folders and files that the added file may read."""
    python: str | None = None
    """The environment whose packages count; our own by default."""


def tasks(home: Path, wanted: Wanted, *, as_json: bool) -> int:
    """Print the tasks, keep a file and print its row, or print what a name may mean.

    Raises:
        EvaluatorError: the file or the state folder cannot be used.
    """
    known = Tasks(home)
    rows = _Rows(home, wanted.python)
    found = rows.of(_asked(home, known, wanted))
    if as_json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{r['id']:<28} {printable(str(r['title']))}\n" for r in found)
    for trouble in known.troubles() if _all(wanted) else ():
        sys.stderr.write(printable(str(trouble)) + "\n")
    return 0


def _all(wanted: Wanted) -> bool:
    return not (wanted.add or wanted.look or wanted.find)


def _asked(home: Path, known: Tasks, wanted: Wanted) -> list[Listed]:
    if wanted.find:
        return [_one(known, i) for i in known.matching(wanted.find)]
    if wanted.look:
        return [_looked(Path(wanted.look))]
    if not wanted.add:
        return known.listed()
    if wanted.reads:
        projects.open_up(home, [Path(path) for path in wanted.reads])
    return [_one(known, known.add(Path(wanted.add)).id)]


def _looked(file: Path) -> Listed:
    name = kept_name(file, task_text.read(file))
    return _described(f"local/{name}", file)


def _one(known: Tasks, task_id: str) -> Listed:
    return _described(task_id, known.path(task_id))


def _described(task_id: str, path: Path | None) -> Listed:
    name = task_id.rpartition("/")[2]
    told = catalog.described(path, name) if path else None
    if path is None or told is None:
        raise EvaluatorError(
            f"{task_id} holds no task: its file has no Model, get_inputs() or get_init_inputs()."
        )
    return Listed(task_id, path, told)


class _Rows:
    """Makes rows: what the text tells, what evaluations found out, what this environment has."""

    def __init__(self, home: Path, python: str | None) -> None:
        self._known = States(home).all()
        self._installed = Installed(python)

    def of(self, listed: list[Listed]) -> list[dict[str, object]]:
        """Return what a list tells of these tasks."""
        return [self._row(one) for one in listed]

    def _row(self, one: Listed) -> dict[str, object]:
        told = one.told
        return {
            "id": one.id,
            "title": told.title,
            "suite": one.id.partition("/")[0],
            "path": str(one.path),
            "task_sha256": told.sha256,
            "by_agent": one.id.startswith("local/") and is_by_agent(one.path),
            **self._state(one.id, told),
            "needs": [self._need(n.kind, n.what) for n in told.needs],
        }

    def _state(self, task_id: str, told: Described) -> dict[str, object]:
        if told.refused:
            return {"state": "unfit", "code": "not_kernelbench", "reason": told.refused}
        known = states.current(self._known.get(task_id, []), told.sha256)
        fields = {"code": known.code, "reason": known.reason, "policy": known.policy}
        found = {"state": known.state, **fields, "device": known.device}
        return {name: value for name, value in found.items() if value}

    def _need(self, kind: str, what: str) -> dict[str, object]:
        """Return a need with whether this machine, or the sandbox, has it; without that where nobody knows."""
        row: dict[str, object] = {"kind": kind, "what": what}
        match kind:
            case "package":
                return {**row, "here": self._installed.has(what)}
            case "cuda":
                return {**row, "here": bool(machine.gpus())}
            case "memory":
                return {**row, "here": int(what) <= needs.INPUT_LIMIT_BYTES}
            case "network":
                return {**row, "here": False}
            case _:
                return row
