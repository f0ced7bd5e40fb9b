"""Who runs a session: one engine, on one host.

The file holds host, pid, boot id and the process's start time, so that a reused pid is not mistaken for the engine;
a file lock on it keeps a second engine out. A clean end empties the file.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.errors import FolderUnusable, SessionBusy
from sessions.folder import unusable

if TYPE_CHECKING:
    from sessions.folder import SessionFolder


class Presence(StrEnum):
    """Whether an engine is there."""

    NONE = "none"
    """It never ran, or ended by itself."""
    ALIVE = "alive"
    CRASHED = "crashed"
    FOREIGN = "foreign"
    """It runs, or crashed, on another host: this one cannot tell."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The engine that a lock names."""

    host: str
    pid: int
    boot: str
    started: str
    """The process's start time in clock ticks since boot."""


class EngineLock:
    """Held while an engine runs a session."""

    def __init__(self, folder: SessionFolder, descriptor: int) -> None:
        """Use `take`."""
        self.folder = folder
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: SessionFolder, *, take_over: bool = False) -> EngineLock:
        """Become the one engine of a session.

        `take_over`: a person says that the engine on another host is gone.

        Raises:
            SessionBusy: another engine has it.
            FolderUnusable: the lock file cannot be written.
        """
        try:
            descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise FolderUnusable(unusable(folder.path, error)) from error
        try:
            _take(folder, descriptor, take_over=take_over)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(folder, descriptor)

    def release(self) -> None:
        """Say that this engine ended by itself."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def presence(folder: SessionFolder) -> Presence:
    """Return whether an engine runs the session. Only looks: no lock is taken."""
    found = holder(folder)
    if found is None:
        return Presence.NONE
    if found.host != socket.gethostname():
        return Presence.FOREIGN
    alive = found.boot == _boot() and found.started == _start_time(found.pid) != ""
    return Presence.ALIVE if alive else Presence.CRASHED


def holder(folder: SessionFolder) -> Holder | None:
    """Return the engine that the lock names; None after a clean end."""
    try:
        text = folder.lock.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    try:
        return Holder(**json.loads(text)) if text.strip() else None
    except (TypeError, ValueError):
        return None


def _take(folder: SessionFolder, descriptor: int, *, take_over: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SessionBusy(f"session {folder.name} is already run by {_who(folder)}") from error
    found = holder(folder)
    if found is not None and found.host != socket.gethostname() and not take_over:
        raise SessionBusy(
            f"session {folder.name} was last run by {_who(folder)}; if that engine is gone, say so with --take-over"
        )
    mine = Holder(socket.gethostname(), os.getpid(), _boot(), _start_time(os.getpid()))
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(asdict(mine)).encode(), 0)


def _who(folder: SessionFolder) -> str:
    found = holder(folder)
    return f"process {found.pid} on {found.host}" if found else "another engine"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    """Return when a live process began, in clock ticks; empty if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]
