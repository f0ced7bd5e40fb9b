"""The tasks of suites with all that a list tells of them; a text is read once and kept while it is unchanged.

`cache/listings/SUITE.json` keeps one suite; a file whose size, inode and times are the same is not read again.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server import folding, input_sizes, kept, needs, task_text
from mcp_server.errors import NotATask, UnknownTask
from mcp_server.needs import Need

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_server.scan import File

_SETTLED_S = 2.0
"""A file younger than this may change again without a change of its times."""


@dataclass(frozen=True, slots=True)
class Described:
    """What the text of a task tells."""

    title: str = ""
    sha256: str = ""
    refused: str = ""
    """Why it is not in KernelBench format; empty if it is."""
    needs: tuple[Need, ...] = field(default_factory=tuple)


def described(path: Path, name: str) -> Described | None:
    """Return what the text of a file tells; None if it holds nothing of a task."""
    try:
        source = task_text.read(path)
    except UnknownTask:  # removed since it was listed
        return None
    except NotATask as error:
        return Described(title=task_text.plain_title(name), refused=str(error))
    return of_source(source, path.name, name)


def of_source(source: str, file_name: str, name: str) -> Described | None:
    """Return what a text tells; None if it binds no name that a task does."""
    digest = hashlib.sha256(source.encode()).hexdigest()
    try:
        tree = task_text.parsed(source, file_name)
    except NotATask as error:
        return Described(task_text.plain_title(name), digest, str(error))
    bound = task_text.bound_names(tree)
    if not bound & set(task_text.NEEDED):
        return None
    refused = task_text.missing(bound, file_name)
    try:
        found = () if refused else tuple(needs.of(tree))
    except RecursionError:  # of an expression that nobody wrote by hand
        found = ()
    return Described(task_text.title(tree, name), digest, refused, found)


class Catalog:
    """The kept listings of a state folder; an unreadable one counts as absent."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "listings"

    def of(self, suite: str, files: Iterable[File]) -> dict[str, Described]:
        """Return by name what each file of a suite tells; files that hold no task are left out."""
        known = self._read(suite)
        fresh: dict[str, list[Any]] = {}
        listed: dict[str, Described] = {}
        for file in files:
            row = known.get(str(file.path))
            if row is None or tuple(row[0]) != file.stamp:
                told = described(file.path, file.name.rpartition("/")[2])
                row = [list(file.stamp), _packed(told)]
            fresh[str(file.path)] = row
            if row[1] is not None:
                listed[file.name] = _unpacked(row[1])
        if fresh != known:
            self._write(suite, fresh)
        return listed

    def _read(self, suite: str) -> dict[str, list[Any]]:
        whole = kept.read(self._folder / f"{suite}.json") or {}
        return whole.get("files", {}) if whole.get("version") == _version() else {}

    def _write(self, suite: str, files: dict[str, list[Any]]) -> None:
        now = time.time_ns()
        settled = {
            name: row
            for name, row in files.items()
            if now - max(row[0][2], row[0][3]) > _SETTLED_S * 1e9
        }
        kept.write(self._folder / f"{suite}.json", {"version": _version(), "files": settled})


def _packed(told: Described | None) -> list[Any] | None:
    if told is None:
        return None
    return [told.title, told.sha256, told.refused, [[n.kind, n.what] for n in told.needs]]


def _unpacked(row: list[Any]) -> Described:
    title, digest, refused, wanted = row
    return Described(title, digest, refused, tuple(Need(kind, what) for kind, what in wanted))


@lru_cache(maxsize=1)
def _version() -> str:
    """Return the digest of the modules that describe: what they kept before they changed is read again."""
    texts = [Path(str(m.__file__)).read_bytes() for m in (needs, folding, input_sizes, task_text)]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]
