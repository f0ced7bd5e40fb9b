"""One holder per device on a machine, whoever's server it is: `flock` on a file that all users share.

| level | for | beside it |
| --- | --- | --- |
| alone | timing | nothing |
| shared | a process's start on the device, correctness | other shared ones |

Who waits holds a second lock, the turn: a holder that frees the lease and wants it again must queue behind, and who
wants the device alone lets no more shared ones in. Of one process only one at a time stands in line for the turn, and
the next of it gives the others time to take it: a server with many jobs must not starve one with few.

The lock belongs to an open file description, held by the server and passed to its judge, never to candidate code: it
is freed when both are gone, and a server killed alone keeps it until its judge has ended.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import anyio

from mcp_server.errors import StateUnusable

_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path("/tmp"))  # noqa: S108 -- machine-wide on purpose
_NAME = "pike-leases"
_ALL = 0o1777
_RETRY_S = 0.005
_SLOW_RETRY_S = 0.02
_COURTESY_S = 1.5 * _SLOW_RETRY_S
"""So long the next of the same process stays out of the line: others look for the turn meanwhile."""
_lines: dict[Path, anyio.Lock] = {}
"""Who of this process wants which device."""
_SOON_S = 0.5
"""How long a wait is short: after it, looking often would only take the holder's processor."""


class Lease:
    """The right to one device; `fd` may be passed to a judge, which then shares it."""

    def __init__(self, uuid: str, folder: Path | None = None) -> None:
        """Open the device's file, without taking the lease.

        Raises:
            StateUnusable: no folder on this machine can hold lease files.
        """
        self.path = (folder or shared_folder()) / (re.sub(r"[^A-Za-z0-9-]", "_", uuid) + ".lock")
        self.fd = _open(self.path)
        self._turn = _open(self.path.with_suffix(".turn"))
        self.held = False
        self.alone = False
        """Whether it is held alone."""
        self.held_s = 0.0
        """Seconds it was held alone, over all times."""
        self._since = 0.0

    async def take(self, *, shared: bool = False) -> float:
        """Wait until no other holds it, or none alone; returns the seconds waited."""
        started = time.monotonic()
        line = _lines.setdefault(self.path, anyio.Lock())
        follows = line.locked()
        async with line:
            if follows:
                await anyio.sleep(_COURTESY_S)
            try:
                while not _locked(self._turn):  # noqa: ASYNC110 -- another process frees it
                    await anyio.sleep(_pause_s(started))
                while not self.try_take(shared=shared):  # noqa: ASYNC110 -- another process frees it
                    await anyio.sleep(_pause_s(started))
            finally:
                if self._turn >= 0:
                    fcntl.flock(self._turn, fcntl.LOCK_UN)
        return time.monotonic() - started

    def try_take(self, *, shared: bool = False) -> bool:
        """Take it if it is free; true if it is now ours."""
        if self.held:
            return True
        if not _locked(self.fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            return False
        self.held, self.alone, self._since = True, not shared, time.monotonic()
        return True

    def free(self) -> None:
        """Give it up; harmless if it is not held."""
        if self.held:
            self.held_s += time.monotonic() - self._since if self.alone else 0.0
            self.held = self.alone = False
            fcntl.flock(self.fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close our descriptors, once: the second time their numbers may be others' files.

        A judge's copy keeps a lease that is held.
        """
        if self.fd >= 0:
            os.close(self.fd)
            os.close(self._turn)
            self.fd = self._turn = -1


def _pause_s(started: float) -> float:
    return _RETRY_S if time.monotonic() - started < _SOON_S else _SLOW_RETRY_S


def _locked(fd: int, kind: int = fcntl.LOCK_EX) -> bool:
    if fd < 0:
        raise OSError(errno.EBADF, "the lease was closed by whoever ended its judge")
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def shared_folder() -> Path:
    """Return the folder of lease files that every user of this machine can use.

    Raises:
        StateUnusable: there is none.
    """
    for parent in _FOLDERS:
        folder = parent / _NAME
        with suppress(OSError):
            _make(folder)
        if folder.is_dir() and not folder.is_symlink() and os.access(folder, os.W_OK):
            return folder
    raise StateUnusable(
        "No folder of this machine can hold the device leases: make /run/lock or /tmp writable."
    )


def _make(folder: Path) -> None:
    """Make the folder with all users' rights from its first moment on: one who saw it with less would use another."""
    if folder.is_dir():
        if folder.stat().st_mode & 0o7777 != _ALL:
            folder.chmod(_ALL)
        return
    part = Path(tempfile.mkdtemp(prefix=f".{_NAME}-", dir=folder.parent))
    part.chmod(_ALL)
    try:
        part.rename(folder)
    except OSError:  # another was faster, and it is in use
        part.rmdir()


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        # Never with O_CREAT: a sticky folder refuses to "create" another user's file.
        fd = os.open(path, flags)
    except FileNotFoundError:
        _put(path)
        fd = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise StateUnusable(f"{path} is not a plain file: remove it.")
    return fd


def _put(path: Path) -> None:
    """Put an empty file there that every user may open from its first moment on, if there is none."""
    fd, part = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        os.fchmod(fd, 0o666)
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        os.close(fd)
        os.unlink(part)  # noqa: PTH108 -- a string
