"""Suites that people added: a name and a folder each; nothing of the folder is copied.

`suites.json` in the state folder holds them. A folder that has moved is said to be gone, never forgotten silently.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mcp_server import kept, scan
from mcp_server.errors import NotASuite, StateUnusable, UnknownSuite

if TYPE_CHECKING:
    from mcp_server.scan import Found

BUILT_IN = ("starter", "local")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,38}[a-z0-9_-]|[a-z0-9]")
_CHECKOUT = "KernelBench"
"""The folder of a checkout of KernelBench or PIKE that holds the levels."""


@dataclass(frozen=True, slots=True)
class AddedSuite:
    """One of them."""

    name: str
    path: Path
    """As it was given, absolute; it may not be there any more."""
    tasks: int
    """How many tasks it held when it was added."""

    @property
    def is_here(self) -> bool:
        """Return whether its folder can be listed now."""
        return self.path.is_dir() and os.access(self.path, os.R_OK | os.X_OK)

    def gone(self) -> UnknownSuite:
        """Return the refusal of a suite whose folder is not there."""
        return UnknownSuite(
            f"The folder of the suite {self.name} is not there any more: {self.path}. Put it back, or "
            f"`pike suite remove {self.name}` and add its new place."
        )


class AddedSuites:
    """Those of one state folder."""

    def __init__(self, home: Path) -> None:
        self._file = home / "suites.json"

    def all(self) -> list[AddedSuite]:
        """Return them by name.

        Raises:
            StateUnusable: the file that holds them is damaged; it is left as it is.
        """
        try:
            found: object = json.loads(self._file.read_text(encoding="utf-8"))
            return [_suite(name, row) for name, row in sorted(_rows(found).items())]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StateUnusable(
                f"{self._file} cannot be read ({type(error).__name__}): repair it, or remove it and add them again."
            ) from error

    def get(self, name: str) -> AddedSuite:
        """Return the one of a name.

        Raises:
            UnknownSuite: there is none.
        """
        for suite in self.all():
            if suite.name == name:
                return suite
        raise UnknownSuite(f"There is no suite {name!r}: `pike suite list` shows those you added.")

    def add(self, path: Path, name: str) -> tuple[AddedSuite, Found]:
        """Remember a folder under a name; return it with what is in it.

        Raises:
            NotASuite: the name or the folder cannot be one, or another folder has the name.
            StateUnusable: the state folder cannot be written.
        """
        _check_name(name)
        root = _root(path)
        with kept.alone(self._file):
            return self._added(root, name)

    def _added(self, root: Path, name: str) -> tuple[AddedSuite, Found]:
        others = {suite.name: suite for suite in self.all()}
        taken = others.get(name)
        if taken is not None and taken.path != root:
            raise NotASuite(
                f"There is a suite {name} already, in {taken.path}: give this one another --name."
            )
        found = scan.folder(root, name)
        if not found.files:
            raise NotASuite(f"There is no KernelBench-format file in {root}: {found.why_none()}.")
        suite = AddedSuite(name, root, len(found.files))
        self._write({**others, name: suite})
        return suite, found

    def counted(self, suite: AddedSuite, tasks: int) -> AddedSuite:
        """Remember how many tasks a suite's files hold; return it so.

        Raises:
            StateUnusable: the state folder cannot be written.
        """
        suite = replace(suite, tasks=tasks)
        with kept.alone(self._file):
            self._write({**{s.name: s for s in self.all()}, suite.name: suite})
        return suite

    def remove(self, name: str) -> AddedSuite:
        """Forget a suite; its folder and what was found out of its tasks stay.

        Raises:
            UnknownSuite: there is none of that name.
        """
        if name in BUILT_IN:
            raise UnknownSuite(f"{name} is not an added suite: it cannot be removed.")
        with kept.alone(self._file):
            suite = self.get(name)
            self._write({s.name: s for s in self.all() if s.name != name})
        return suite

    def _write(self, suites: dict[str, AddedSuite]) -> None:
        rows = {name: {"path": str(s.path), "tasks": s.tasks} for name, s in suites.items()}
        kept.store(self._file, rows)


def _rows(found: object) -> dict[str, dict[str, object]]:
    if not isinstance(found, dict):
        raise TypeError("no object")
    return cast("dict[str, dict[str, object]]", found)


def _suite(name: str, row: dict[str, object]) -> AddedSuite:
    tasks = row.get("tasks")
    return AddedSuite(name, Path(str(row["path"])), tasks if isinstance(tasks, int) else 0)


def _check_name(name: str) -> None:
    if name in BUILT_IN:
        raise NotASuite(f"{name} is a suite of the product: give another --name.")
    if not _NAME.fullmatch(name):
        raise NotASuite(
            f"{name!r} cannot name a suite: at most 40 small letters, digits, '.', '_' and '-', no path."
        )


def _root(path: Path) -> Path:
    """Return the folder that holds the tasks or the levels, without following a link to it."""
    path = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100  links stay: they may be moved on purpose
    if path.is_file():
        raise NotASuite(f"{path} is a file: give the folder; a single file needs no suite.")
    if not path.is_dir():
        raise NotASuite(f"There is no folder {path}: check the path.")
    inner = path / _CHECKOUT
    return inner if inner.is_dir() else path
