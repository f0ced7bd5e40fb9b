"""What a tree of processes uses: its members, memory and files; read from /proc."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def tree(root: int) -> list[int]:
    """Return a process and its living descendants, those that changed their parent apart."""
    found = [root]
    for pid in found:  # grows while it is walked
        found += _children(pid)
        if len(found) > 20_000:
            break
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 -- fifty times a second
    except OSError:
        return found
    for thread in threads:
        with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
            found += map(int, file.read().split())
    return found


def memory_bytes(pids: Iterable[int], limit: int) -> int:
    """Return the memory of processes together; pages they share count once when the limit seems passed."""
    members = list(pids)
    resident = sum(_resident(pid) for pid in members)
    if resident <= limit or len(members) == 1:
        return resident
    return sum(_proportional(pid) for pid in members)


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 -- fifty times a second
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)


def cpu_s(pids: Iterable[int]) -> float:
    """Return the processor seconds of processes, their ended children included."""
    total = 0.0
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            numbers = fields.rsplit(")", 1)[1].split()
            total += sum(map(int, numbers[11:15])) / _TICKS
    return total


def folder_bytes(folder: str, limit: int) -> int:
    """Return the bytes that files under a folder occupy; counting stops past the limit."""
    total = 0
    pending = [folder]
    while pending and total <= limit:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def strays(marker: bytes) -> list[int]:
    """Return the processes whose environment holds a marker: descendants that left their tree."""
    found: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- names only
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                if marker in file.read(65_536):
                    found.append(int(name))
    return found


def threads_of_user(uid: int) -> int:
    """Return how many threads a user has running: `RLIMIT_NPROC` counts them all."""
    total = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 -- names only
        if name.isdigit():
            with suppress(OSError):
                if Path("/proc", name).stat().st_uid == uid:
                    total += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return total


def kill(pids: Sequence[int]) -> None:
    """Kill processes that may be gone already."""
    signal_all(pids, signal.SIGKILL)


def signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to processes that may be gone already."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
