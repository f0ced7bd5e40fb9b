"""The plain command `suite`: folders of tasks added, listed and removed, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.added_suites import AddedSuites
from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError, NotASuite, UnknownSuite
from mcp_server.tasks import Tasks, files_of

if TYPE_CHECKING:
    from argparse import Namespace

    from mcp_server.added_suites import AddedSuite

_MOST_TOLD = 20
"""Files passed over that are told by name."""


def main(home: Path, arguments: Namespace) -> int:
    """Carry out one act and print its rows.

    Raises:
        EvaluatorError: the folder, the name or the state folder cannot be used.
    """
    match arguments.act:
        case "add":
            rows = [_added(home, Path(arguments.path), arguments.name)]
        case "remove":
            rows = [_row(AddedSuites(home).remove(arguments.name))]
        case _:
            rows = [_counted(home, suite) for suite in AddedSuites(home).all()]
    sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    return 0


def _added(home: Path, path: Path, name: str) -> dict[str, object]:
    suite, found = AddedSuites(home).add(path, name)
    listed = [one for one in Tasks(home).listed() if one.id.startswith(f"{name}/")]
    if all(one.told.refused for one in listed):
        AddedSuites(home).remove(name)
        why = listed[0].told.refused if listed else "none defines class Model"
        over = f" Passed over: {more}." if (more := found.first_passed_over()) else ""
        raise EvaluatorError(f"No file in {suite.path} is in KernelBench format: {why}{over}")
    suite = AddedSuites(home).counted(suite, len(listed))
    told = [f"{printable(file)} {why}" for file, why in found.passed_over[:_MOST_TOLD]]
    unfit = sum(bool(one.told.refused) for one in listed)
    more = {"tasks": len(listed), "unfit": unfit, "levels": _levels([one.id for one in listed])}
    return {**_row(suite), **more, "passed_over": told, "reasons": found.reasons()}


def _levels(ids: list[str]) -> dict[str, int]:
    """Return how many tasks lie in each folder of a suite."""
    folders = ["/".join(i.split("/")[1:-1]) for i in ids]
    return {folder: folders.count(folder) for folder in dict.fromkeys(folders) if folder}


def _counted(home: Path, suite: AddedSuite) -> dict[str, object]:
    """Return a suite's row with what its folder holds now."""
    try:
        files = files_of(suite)
    except (UnknownSuite, NotASuite) as error:
        return {**_row(suite), "state": "gone", "reason": str(error)}
    return {**_row(suite), "state": "here", "tasks": len(Tasks(home).of(suite.name, files))}


def _row(suite: AddedSuite) -> dict[str, object]:
    return {"name": suite.name, "path": str(suite.path), "tasks_when_added": suite.tasks}
