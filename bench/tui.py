"""The screens measured from outside, through a pseudo-terminal: first paint, opening, keys, idle bytes.

`python bench/tui.py [ATTEMPTS]` prints one line of JSON. Targets of terminal-ui.md: first paint 0.8 s, opening a
session of 2,000 attempts 1.0 s, key-to-paint p95 50 ms at 160×44, nothing written while nothing changes.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sessions.folder import SessionFolder
from sessions.journal import Journal
from sessions.lock import EngineLock
from tests.tui import journals

COLUMNS, ROWS = 160, 44
CURSOR = b"48;2;42;54;69"
"""The cursor's background in the dark theme: bytes with it answer a key, not a tick."""


@dataclass
class Terminal:
    """A viewer under a pseudo-terminal."""

    pid: int
    descriptor: int
    began: float

    @classmethod
    def start(cls, code: str, home: Path) -> Terminal:
        """Start a Python program on a terminal of 160×44."""
        began = time.perf_counter()
        pid, descriptor = pty.fork()
        if pid == 0:
            env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            env |= {"PIKE_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}
            os.execve(sys.executable, [sys.executable, "-c", code], env)
        size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)
        return cls(pid, descriptor, began)

    def until(self, needle: bytes, limit_s: float = 20.0) -> float:
        """Read until the bytes were seen; return the moment.

        Raises:
            TimeoutError: they did not come.
        """
        seen, end = b"", time.perf_counter() + limit_s
        while time.perf_counter() < end:
            if select.select([self.descriptor], [], [], 0.05)[0]:
                seen += os.read(self.descriptor, 65_536)
                if needle in seen:
                    return time.perf_counter()
        raise TimeoutError(f"{needle!r} was not painted")

    def drain(self, seconds: float) -> int:
        """Read for a while; return how many bytes came."""
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            if select.select([self.descriptor], [], [], 0.02)[0]:
                count += len(os.read(self.descriptor, 65_536))
        return count

    def key(self, key: bytes, answer: bytes) -> float:
        """Press a key; return the milliseconds until its answer was painted."""
        pressed = time.perf_counter()
        os.write(self.descriptor, key)
        return (self.until(answer) - pressed) * 1000

    def cpu_s(self) -> float:
        """Return the processor time used so far: what a loaded machine does not inflate."""
        fields = (
            Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the program."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


LIST = "from workbench.app import run; raise SystemExit(run(None))"


class Heart(threading.Thread):
    """An engine's live row, written once a second as while a search runs."""

    def __init__(self, folder: SessionFolder, made: journals.Script) -> None:
        super().__init__(daemon=True)
        self.folder, self.made, self.stopped = folder, made, threading.Event()

    def run(self) -> None:
        """Beat until stopped."""
        asyncio.run(self._beat())

    async def _beat(self) -> None:
        journal, began = await Journal.open(self.folder.journal, wal=True), time.time()
        while not self.stopped.is_set():
            row = journals.live_row(self.made)
            for line in (*row["agents"], *row["evaluations"]):
                line["since"] = began
            await journal.live(time.time(), row | {"heartbeat": time.time()})
            await asyncio.sleep(1.0)  # what an engine does
        await journal.close()


def keys(terminal: Terminal, count: int = 60) -> list[float]:
    """Press j and k in turn at uneven moments; return the milliseconds of each."""
    found: list[float] = []
    for number in range(count):
        terminal.drain(0.05 + (number % 7) * 0.013)
        found.append(terminal.key(b"j" if number % 4 < 3 else b"k", CURSOR))
    return found


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return round(statistics.quantiles(values, n=20)[-1], 1)


def measure(home: Path, attempts: int) -> dict[str, float]:
    """Build a session and look at it."""
    folder = SessionFolder(home / "sessions/large")
    made = journals.build(folder.path, attempts, hostile=False)
    lock = EngineLock.take(folder)
    first = [_first_paint(home) for _ in range(5)]
    first_cpu = statistics.median(cpu for _, cpu in first)
    terminal = Terminal.start(LIST, home)
    terminal.until(b"Palette")
    terminal.drain(1.5)
    opened, before = time.perf_counter(), terminal.cpu_s()
    os.write(terminal.descriptor, b"\r")
    newest = list(made.sources)[-1].encode()
    open_s = terminal.until(newest) - opened
    open_cpu = terminal.cpu_s() - before
    terminal.drain(3.0)
    idle = terminal.drain(10.0) / 10.0
    before = terminal.cpu_s()
    quiet = keys(terminal)
    key_cpu = (terminal.cpu_s() - before) / len(quiet)
    heart = Heart(folder, made)
    heart.start()
    terminal.drain(2.0)
    before = terminal.cpu_s()
    busy_bytes = terminal.drain(10.0) / 10.0
    busy_cpu = (terminal.cpu_s() - before) / 10.0
    busy = keys(terminal)
    heart.stopped.set()
    heart.join()
    terminal.end()
    lock.release()
    return {
        "attempts": attempts,
        "first_paint_s": round(statistics.median(wall for wall, _ in first), 3),
        "first_paint_cpu_s": round(first_cpu, 3),
        "open_s": round(open_s, 3),
        "open_cpu_s": round(open_cpu, 3),
        "key_cpu_ms": round(key_cpu * 1000, 1),
        "key_p95_ms": p95(quiet),
        "key_p95_running_ms": p95(busy),
        "idle_bytes_per_s": round(idle, 1),
        "running_bytes_per_s": round(busy_bytes, 1),
        "running_cpu_share": round(busy_cpu, 3),
    }


def _first_paint(home: Path) -> tuple[float, float]:
    terminal = Terminal.start(LIST, home)
    painted = terminal.until(b"Palette") - terminal.began
    used = terminal.cpu_s()
    terminal.end()
    return painted, used


def main() -> None:
    """Measure and print."""
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    with tempfile.TemporaryDirectory() as home:
        print(json.dumps(measure(Path(home), attempts)))


if __name__ == "__main__":
    main()
