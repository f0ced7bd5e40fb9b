"""Which files of a folder are candidates for which tasks, told by their names.

A candidate belongs to a task whose name or number it bears, as a file (`44_MiniGPT.py`, `softmax--fast.py`,
`task_44.py`, `44.py`) or as the folder it lies in (`44_MiniGPT/c12.py`, `task_44/best.py`). One that could be of two
tasks is of neither.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.errors import Mistyped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DEPTH = 4
_NUMBER = re.compile(r"(?:task[_-]?)?(\d+)(?![0-9])")


@dataclass(frozen=True, slots=True)
class CandidateFile:
    """A file that is measured on a task."""

    name: str
    """`FOLDER/rest`, as it is on disk."""
    path: Path
    folder: str
    """Of the set it belongs to: the one that was named."""


@dataclass(slots=True)
class Matched:
    """Candidates by task, and the files that are of none."""

    by_task: dict[str, list[CandidateFile]] = field(default_factory=dict[str, list[CandidateFile]])
    astray: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names, and why."""


def matched(folders: Iterable[Path], tasks: Sequence[str]) -> Matched:
    """Return the candidates in these folders by the ids of the tasks.

    Raises:
        Mistyped: a folder is not there, or two bear one name.
    """
    found = Matched()
    seen: set[str] = set()
    for folder in folders:
        name = folder.resolve().name
        if not folder.is_dir():
            raise Mistyped(f"There is no folder of candidates {folder}: check the path.")
        if name in seen:
            raise Mistyped(f"Two folders of candidates are called {name}: rename one of them.")
        seen.add(name)
        for path in _files(folder):
            _sort_in(found, CandidateFile(f"{name}/{path.relative_to(folder)}", path, name), tasks)
    return found


def _sort_in(found: Matched, file: CandidateFile, tasks: Sequence[str]) -> None:
    stem, above = file.path.stem, Path(file.name).parent.name
    ids = (
        _named(stem, tasks)
        or _named(stem.partition("--")[0], tasks)
        or _named(above, tasks)
        or _numbered(stem, tasks)
        or _numbered(above, tasks)
    )
    if len(ids) == 1:
        found.by_task.setdefault(ids[0], []).append(file)
    elif ids:
        found.astray.append((file.name, f"may be for {' or '.join(ids[:3])}: name one suite"))
    else:
        found.astray.append((file.name, "bears the name or number of none of these tasks"))


def _named(word: str, tasks: Sequence[str]) -> list[str]:
    return [i for i in tasks if i.rpartition("/")[2].lower() == word.lower()]


def _numbered(word: str, tasks: Sequence[str]) -> list[str]:
    """Return the tasks of the number that a name begins with."""
    number = _NUMBER.match(word.lower())
    if number is None:
        return []
    return [i for i in tasks if re.match(rf"0*{int(number[1])}(?!\d)", i.rpartition("/")[2])]


def _files(folder: Path) -> list[Path]:
    """Return the Python files of a folder and of those in it, in order; links to folders are not followed."""
    found: list[Path] = []
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")) and depth < _DEPTH)
        plain = [f for f in files if f.endswith(".py") and not f.startswith((".", "__"))]
        found += [Path(here, f) for f in sorted(plain)]
    return found
