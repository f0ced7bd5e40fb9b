"""Folders and files that a person opened to tasks of their own: read in the sandbox, never written.

`projects.json` in the state folder lists them; `pike task new` adds to it. A task is given what its own text names
(`PROJECT = "…"`, `CHECKPOINT = "…"` at the top level) if it is listed there, so that an edited file keeps its rights,
and no text gains any by itself.
"""

from __future__ import annotations

import ast
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mcp_server import kept
from mcp_server.errors import NotAProject
from mcp_server.folding import constants
from mcp_server.needs import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = (PROJECT, "CHECKPOINT")


def opened(home: Path, source: str) -> tuple[str, ...]:
    """Return what a text names and the person opened."""
    if not any(name in source for name in NAMES):
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = constants(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    named = [known.get(name) for name in NAMES]
    allowed = _listed(home)
    return tuple(n for n in named if isinstance(n, str) and n in allowed and Path(n).exists())


def open_up(home: Path, paths: Iterable[Path]) -> list[str]:
    """Remember folders and files as readable by tasks that name them.

    Raises:
        NotAProject: one of them is not there, or holds more than a project.
        StateUnusable: the state folder cannot be written.
    """
    added = [str(_checked(path, home)) for path in paths]
    file = home / "projects.json"
    with kept.alone(file):
        kept.store(file, sorted({*_listed(home), *added}))
    return added


def _checked(path: Path, home: Path) -> Path:
    """Return the true path, if a task may read all of it."""
    real = Path(os.path.realpath(path.expanduser()))
    if not real.exists():
        raise NotAProject(f"There is no {path}: check the path.")
    mine = [Path.home(), Path(os.path.realpath(home)), Path("/etc"), Path("/proc"), Path("/dev")]
    for place in mine:
        if place.is_relative_to(real) or (place != Path.home() and real.is_relative_to(place)):
            raise NotAProject(
                f"{real} holds {place}, or lies in it: tasks may not read that. Give the project's own folder."
            )
    return real


def _listed(home: Path) -> set[str]:
    try:
        found: object = json.loads((home / "projects.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {str(p) for p in cast("list[object]", found)} if isinstance(found, list) else set()
