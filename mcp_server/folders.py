"""Folders that untrusted code has written in: copied, counted and removed without following its links."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from mcp_server.errors import StateUnusable

_COPY_LIMIT_BYTES = 2 * 1024**3
_PREFIX = "pike-server-"


def copy(source: Path, target: Path) -> int:
    """Copy plain files and folders with their times, and nothing else; returns how many files.

    Times matter: a build system compares them, and an equal copy is not built again.
    """
    total, files = 0, 0
    pending = [(source, target)]
    while pending and total <= _COPY_LIMIT_BYTES:
        here, there = pending.pop()
        if here.is_symlink() or not here.is_dir():
            continue
        there.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            for entry in os.scandir(here):
                if entry.is_dir(follow_symlinks=False):
                    pending.append((here / entry.name, there / entry.name))
                elif entry.is_file(follow_symlinks=False):
                    total += _copy_file(entry, there / entry.name)
                    files += 1
    return files


def _copy_file(entry: os.DirEntry[str], target: Path) -> int:
    with suppress(OSError):
        shutil.copy2(entry.path, target, follow_symlinks=False)
        return entry.stat(follow_symlinks=False).st_size
    return 0


def remove(folder: Path) -> None:
    """Delete a folder, even where its writer took away the right to."""

    def unlock(_function: object, path: str, _error: object) -> None:
        with suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).unlink() if not Path(path).is_dir() else shutil.rmtree(path, True)

    shutil.rmtree(folder, onerror=unlock)


class Workspace:
    """The folder of one server's scratch and builds; it goes with the server, or with the next one's start."""

    def __init__(self, parent: Path | None = None) -> None:
        """Make the folder, after removing those of servers that were killed.

        Raises:
            StateUnusable: there is no room for temporary files.
        """
        base = parent or Path(tempfile.gettempdir())
        try:
            _sweep(base)
            self.path, self._lock = _held(base)
        except OSError as error:
            raise StateUnusable(
                f"No temporary folder can be made in {base} ({error.strerror}): set TMPDIR."
            ) from error

    def fresh(self, name: str) -> Path:
        """Make and return a folder of this name, with a number behind it where another pool has one of that name."""
        for number in itertools.count():
            path = self.path / (f"{name}-{number}" if number else name)
            with suppress(FileExistsError):
                path.mkdir(mode=0o700, parents=True)
                return path
        raise AssertionError("there is always another number")

    def close(self) -> None:
        """Remove the folder."""
        remove(self.path)
        os.close(self._lock)


def _held(base: Path) -> tuple[Path, int]:
    """Make a folder and lock its file; another, where a server that starts just now took it for a dead one's."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        held = path / ".held"
        lock = os.open(held, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if held.exists():
            return path, lock
        os.close(lock)


def _sweep(base: Path) -> None:
    """Remove the workspaces of servers that no longer live."""
    for folder in base.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid() or folder.is_symlink():
                continue
            lock = os.open(folder / ".held", os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
            finally:
                os.close(lock)
