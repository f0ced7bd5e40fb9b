"""A program on a pseudo-terminal, and what its bytes would make a terminal do."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT_S = 60.0
"""For words to be painted, or a command to end, on a busy machine."""
SIZE = ("COLUMNS", "LINES")
"""Variables that would hide the size of the pseudo-terminal; Python's readline sets them in workers of pytest-xdist."""
SEQUENCE = re.compile(
    r"\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, clipboard, links
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # CSI
    r"|\x1b[ -/]*[0-~]?"  # two-character escapes, character sets
)
"""One escape sequence, whole or cut off."""


def sequences(text: str) -> list[str]:
    """Return the escape sequences of a terminal's input, in order."""
    return SEQUENCE.findall(text)


def words(text: str) -> str:
    """Return what is painted, without what moves and colours it."""
    return SEQUENCE.sub("", text)


@dataclass
class Pseudo:
    """A program under a pseudo-terminal; what it wrote is kept whole."""

    pid: int
    descriptor: int
    began: float
    written: bytearray = field(default_factory=bytearray)
    _read_to: int = 0

    @classmethod
    def start(cls, argv: Sequence[str], env: Mapping[str, str], columns: int, rows: int) -> Pseudo:
        """Start a program on a terminal of that size."""
        began = time.perf_counter()
        pid, descriptor = pty.fork()
        if pid == 0:
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.execve(argv[0], list(argv), {k: v for k, v in env.items() if k not in SIZE})
        return cls(pid, descriptor, began)

    @property
    def text(self) -> str:
        """Everything written so far.

        Raises:
            UnicodeDecodeError: it is not UTF-8.
        """
        return bytes(self.written).decode("utf-8")

    def press(self, keys: bytes) -> None:
        """Press keys; `until` then looks only at what is written from here on."""
        self._read_to = len(self.written)
        os.write(self.descriptor, keys)

    def until(self, *wanted: str, limit_s: float = LIMIT_S) -> float:
        """Read until all these words were painted since the last key; return the moment.

        Raises:
            AssertionError: they were not; the message holds what was.
        """
        end = time.perf_counter() + limit_s
        while True:
            fresh = words(bytes(self.written[self._read_to :]).decode("utf-8", "replace"))
            if all(word in fresh for word in wanted):
                return time.perf_counter()
            assert time.perf_counter() < end, f"not painted: {wanted}, in\n{fresh[-6000:]}"
            assert self.read(0.05) >= 0, f"it ended before it painted {wanted}: {fresh[-6000:]}"

    def read(self, seconds: float) -> int:
        """Read what comes within that time, at the first bytes at most; -1: the program ended."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return 0
        try:
            found = os.read(self.descriptor, 65_536)
        except OSError:
            return -1
        self.written += found
        return len(found) or -1

    def drain(self, seconds: float) -> int:
        """Read for a while; return how many bytes came."""
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            count += max(0, self.read(0.02))
        return count

    def to_the_end(self) -> int:
        """Read until the program ends; return its exit code.

        Raises:
            AssertionError: it does not end.
        """
        end = time.perf_counter() + LIMIT_S
        while self.read(0.05) >= 0:
            assert time.perf_counter() < end, f"it does not end: {self.written[-2000:]!r}"
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def cpu_s(self) -> float:
        """Return the processor time used so far: what a loaded machine does not inflate."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - read while it runs
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def held_bytes(self) -> int:
        """Return the memory it holds now."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:  # noqa: PTH123 - read while it runs
            line = next(row for row in file if row.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def end(self) -> None:
        """End the program, whatever it does."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)
