"""What of experiments no session needs, and a whole experiment with all its sessions, by name only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.errors import FolderUnusable
from sessions.experiments import folder as experiments
from workbench import freeing
from workbench.errors import CannotGoOn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.experiments.folder import ExperimentFolder
    from sessions.folder import SessionFolder


def is_one(name: str) -> bool:
    """Return whether a name is an experiment's, written out, and no session's."""
    a_session = folders.SessionFolder(folders.sessions_root() / name).path.exists()
    return not a_session and name in {one.name for one in experiments.all_in(_root())}


def whole(name: str) -> list[freeing.Item]:
    """Return an experiment and every session of it, which go together.

    Raises:
        CannotGoOn: something drives it, or an engine runs one of its sessions.
    """
    folder = experiments.find(_root(), name)
    if folder.driver is not None:
        raise CannotGoOn(
            f"experiment {name}: process {folder.driver} drives it; stop it first (pike experiment stop {name})."
        )
    sessions = [freeing.session(one, asks=name) for one in _sessions(folder)]
    what = f"experiment {name}: its plan and its list of runs"
    return [*sessions, _item(what, folder.path, "you named it", asks=name)]


def unneeded() -> Iterator[freeing.Item]:
    """Yield experiments that were never begun whole, and those that are over and of which no session is left."""
    for path in sorted(_root().iterdir()) if _root().is_dir() else ():
        if path.name.startswith(".") and path.is_dir() and not _is_being_made(path):
            yield _item("an interrupted start of an experiment", path, "it never became one")
    for folder in experiments.all_in(_root()):
        if _is_left_over(folder):
            why = "its runs are over, and no session of it is left"
            yield _item(f"experiment {folder.name}: its list of runs", folder.path, why)


def _root() -> Path:
    return experiments.experiments_root()


def _item(what: str, path: Path, why: str, asks: str = "") -> freeing.Item:
    return freeing.Item(what, path, freeing.size_of(path), why, asks=asks)


def _sessions(folder: ExperimentFolder) -> list[SessionFolder]:
    """Return the sessions that are there; a folder that cannot be read has none that anybody knows of."""
    try:
        runs = folder.runs
    except FolderUnusable:
        return []
    found = (folders.SessionFolder(folders.sessions_root() / run.session) for run in runs)
    return [one for one in found if one.path.exists()]


def _is_left_over(folder: ExperimentFolder) -> bool:
    try:
        over = all(run.is_over for run in folder.runs)
    except FolderUnusable:
        return False
    return over and folder.driver is None and not _sessions(folder)


def _is_being_made(path: Path) -> bool:
    """Whether the process in the name of a folder is alive."""
    maker = path.name.rpartition(".")[2]
    try:
        os.kill(int(maker), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
