"""The task files of a folder: names only, in its order, with what is passed over and why.

Files of other people's folders are looked at with care: links that lead out of the folder are not followed, names
that cannot be typed and shown are passed over, and a folder without end is refused.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.errors import NotASuite

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 3
"""Folders below the suite's: `level3`, `removed/level3`."""
_MOST_ENTRIES = 50_000
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_TYPED = re.compile(r"[A-Za-z0-9_.+/-]+")
_LONGEST = 120
"""Characters of an id, with its suite's name: what the tools take."""


@dataclass(frozen=True, slots=True)
class File:
    """A Python file that may hold a task."""

    name: str
    """`LEVEL/STEM`, or `STEM`: its id without the suite's name."""
    path: Path
    stamp: tuple[int, int, int, int]
    """Size, inode, and when it and its entry changed, in ns: equal as long as the text is."""


@dataclass(slots=True)
class Found:
    """What a folder holds."""

    files: list[File] = field(default_factory=list[File])
    passed_over: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names as they are on disk, and why."""

    def why_none(self) -> str:
        """Return why a folder without tasks has none."""
        return self.first_passed_over() or "it has no Python files, nor have its folders"

    def first_passed_over(self) -> str:
        """Return why the first file was passed over, and how many more were; empty if none was."""
        if not self.passed_over:
            return ""
        name, why = self.passed_over[0]
        more = f", and {len(self.passed_over) - 1} more" if len(self.passed_over) > 1 else ""
        return f"{name} {why}{more}"

    def reasons(self) -> list[str]:
        """Return how many files were passed over, by reason."""
        counts = Counter(why for _, why in self.passed_over)
        return [f"{count} passed over: {why}" for why, count in counts.most_common()]


def folder(root: Path, suite: str) -> Found:
    """Return the Python files of a suite's folder and its folders, by number.

    Raises:
        NotASuite: it holds more than anybody's tasks, or cannot be listed.
    """
    found = Found()
    real = Path(os.path.realpath(root))
    for entry, parts in _entries(root, found):
        _take(found, real, entry, parts, _LONGEST - len(suite) - 1)
    found.files.sort(key=lambda file: _order(file.name))
    return found


def file_of(root: Path, name: str) -> Path | None:
    """Return the file of `LEVEL/STEM` in a folder, None where there is none that would be listed."""
    parts = name.split("/")
    if not all(_PART.fullmatch(part) for part in parts):
        return None
    path = root.joinpath(*parts[:-1], f"{parts[-1]}.py")
    return path if path.is_file() and _inside(path, Path(os.path.realpath(root))) else None


def _entries(root: Path, found: Found) -> Iterator[tuple[os.DirEntry[str], tuple[str, ...]]]:
    """Yield files with the names of the folders above them."""
    pending: list[tuple[str, ...]] = [()]
    seen = 0
    while pending:
        parts = pending.pop()
        for entry in _listed(root, parts, found):
            seen += 1
            if seen > _MOST_ENTRIES:
                raise NotASuite(
                    f"{root} holds more than {_MOST_ENTRIES} files: give the folder of the tasks."
                )
            if not entry.is_dir(follow_symlinks=False):
                yield entry, parts
            elif len(parts) < _DEPTH and not entry.name.startswith((".", "__")):
                pending.append((*parts, entry.name))


def _listed(root: Path, parts: tuple[str, ...], found: Found) -> list[os.DirEntry[str]]:
    """Return what is in a folder; one below the suite's that cannot be listed is passed over."""
    try:
        with os.scandir(root.joinpath(*parts)) as entries:
            return list(entries)
    except OSError as error:
        if not parts:
            raise NotASuite(
                f"{root} cannot be listed ({error.strerror}): check its rights."
            ) from error
        found.passed_over.append(("/".join(parts), "cannot be listed"))
        return []


def _take(
    found: Found, real: Path, entry: os.DirEntry[str], parts: tuple[str, ...], longest: int
) -> None:
    if not entry.name.endswith(".py") or entry.name.startswith((".", "__")):
        return
    name = "/".join((*parts, entry.name.removesuffix(".py")))
    why = _named_badly(name, longest) or _refusal(entry, real)
    if why:
        found.passed_over.append(("/".join((*parts, entry.name)), why))
        return
    known = entry.stat()
    stamp = (known.st_size, known.st_ino, known.st_mtime_ns, known.st_ctime_ns)
    found.files.append(File(name, Path(entry.path), stamp))


def _named_badly(name: str, longest: int) -> str:
    if len(name) > longest:
        return f"has a name of more than {longest} characters"
    if not _TYPED.fullmatch(name):
        return "has a name with other characters than A to Z, a to z, digits, '_', '.', '+' and '-'"
    if not all(_PART.fullmatch(part) for part in name.split("/")):
        return "has a name, or a folder's, that begins with '.', '+' or '-'"
    return "ends with .py twice" if name.endswith(".py") else ""


def _refusal(entry: os.DirEntry[str], real: Path) -> str:
    if entry.is_symlink() and not _inside(Path(entry.path), real):
        return "is a link out of the folder, or to nothing"
    try:
        plain = stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return "cannot be looked at"
    return "" if plain else "is no plain file"


def _inside(path: Path, real: Path) -> bool:
    return Path(os.path.realpath(path, strict=False)).is_relative_to(real) and path.exists()


def _order(name: str) -> list[tuple[int, str]]:
    """Order by numbers where names have them: `2_x` before `10_x`, `level2` before `level10`."""
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces if piece]
