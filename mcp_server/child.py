"""One fenced child process: started, watched, its output kept, killed with all it started.

Start it from the event loop's own thread: `PR_SET_PDEATHSIG` follows the thread that forked.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.abc
import anyio.to_thread

from mcp_server import watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp_server.sandbox import Sandbox

Cause = Literal["memory_limit", "output_limit", "disk_full"]

log = logging.getLogger(__name__)

CLOSELY_S = 0.02
OFTEN_S = 0.1
"""Where much runs at once: each look reads the threads of every process."""
LOOSELY_S = 0.25
_FOLDER_EVERY_S = 0.5
_END_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Ending:
    """What a child left behind."""

    stdout: str
    stderr: str
    exit: int | None
    """None while it lives; negative for a signal."""
    cause: Cause | None
    """The limit it passed, if we killed it for that."""
    cpu_s: float = 0.0
    """Processor seconds seen of it and of what it started."""


@dataclass(slots=True)
class Kept:
    """The last bytes of one stream, and how many there were."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, part: bytes) -> None:
        """Append, and forget what no longer fits."""
        self.total += len(part)
        self.data += part
        if len(self.data) > 2 * self.limit:
            del self.data[: -self.limit]

    def text(self) -> str:
        """Return what is kept."""
        return bytes(self.data[-self.limit :]).decode("utf-8", "replace")


class Child:
    """A running program inside a sandbox; `attend` must run in a task group until it has ended."""

    def __init__(self, process: anyio.abc.Process, sandbox: Sandbox, scratch: Path) -> None:
        self.sandbox = sandbox
        self.scratch = scratch
        self.look_every_s: float | None = None
        """How often its memory is looked at; None while it is idle."""
        self.ended = anyio.Event()
        self._process = process
        self._cause: Cause | None = None
        self._stdout = Kept(sandbox.limits.kept_bytes)
        self._stderr = Kept(sandbox.limits.kept_bytes)
        self._cpu_s = 0.0
        self._open_streams = 2
        self._silent = anyio.Event()

    @property
    def pid(self) -> int:
        """The id of the process we started: the program, or the sandbox around it."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.returncode is None and not self.ended.is_set()

    @property
    def cpu_s(self) -> float:
        """Processor seconds seen so far."""
        return self._cpu_s

    def count_cpu(self) -> float:
        """Look at once how many processor seconds it used, and return them."""
        if self.alive:
            self._cpu_s = max(self._cpu_s, watch.cpu_s(watch.tree(self.pid)))
        return self._cpu_s

    def pause(self, *, on: bool) -> None:
        """Stop it and all it started, or let them go on."""
        if self.alive:
            watch.signal_all(watch.tree(self.pid), signal.SIGSTOP if on else signal.SIGCONT)

    def ending(self) -> Ending:
        """Return what it printed, and how it ended if it has."""
        code = self._process.returncode
        return Ending(self._stdout.text(), self._stderr.text(), code, self._cause, self._cpu_s)

    async def attend(self) -> None:
        """Keep its output and its limits until it has ended; its scratch stays."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep, self._process.stdout, self._stdout)
                group.start_soon(self._keep, self._process.stderr, self._stderr)
                group.start_soon(self._watch)
                await self._process.wait()
                self._kill_all()
                await self._drain(group)
        finally:
            with anyio.CancelScope(shield=True):
                await self._finish()

    async def kill(self, cause: Cause | None = None) -> None:
        """End it and everything it started; returns once it is gone."""
        self._cause = self._cause or cause
        self._kill_all()
        with anyio.move_on_after(_END_LIMIT_S, shield=True):
            await self.ended.wait()

    def _kill_all(self) -> None:
        members = watch.tree(self.pid) if self._process.returncode is None else []
        if self.sandbox.level == "process":
            members += watch.strays(f"HOME={self.scratch}\0".encode())
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        watch.kill(list(dict.fromkeys(members)))

    async def _drain(self, group: anyio.abc.TaskGroup) -> None:
        """Read what is left: the end of both streams means that nobody holds them."""
        with anyio.move_on_after(1.0):
            await self._silent.wait()
        group.cancel_scope.cancel()

    async def _keep(self, stream: AsyncIterator[bytes] | None, kept: Kept) -> None:
        try:
            if stream is not None:
                async for part in stream:
                    kept.add(part)
                    if kept.total > self.sandbox.limits.output_bytes and self._cause is None:
                        self._cause = "output_limit"
                        self._kill_all()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        finally:
            self._open_streams -= 1
            if not self._open_streams:
                self._silent.set()

    async def _watch(self) -> None:
        looked_at_files = time.monotonic()
        while True:
            await anyio.sleep(self.look_every_s or LOOSELY_S)
            if self.look_every_s is None:
                continue
            members = watch.tree(self.pid)
            self._look_at_memory(members)
            if time.monotonic() - looked_at_files > _FOLDER_EVERY_S:
                self._cpu_s = max(self._cpu_s, watch.cpu_s(members))
                await self._look_at_files()
                looked_at_files = time.monotonic()

    def _look_at_memory(self, members: list[int]) -> None:
        limits = self.sandbox.limits
        if (
            len(members) > limits.processes
            or watch.memory_bytes(members, limits.memory_bytes) > limits.memory_bytes
        ):
            self._cause = self._cause or "memory_limit"
            self._kill_all()

    async def _look_at_files(self) -> None:
        limit = self.sandbox.limits.scratch_bytes
        used = await anyio.to_thread.run_sync(watch.folder_bytes, str(self.scratch), limit)
        if used > limit:
            self._cause = self._cause or "disk_full"
            self._kill_all()

    async def _finish(self) -> None:
        self._kill_all()
        with anyio.move_on_after(_END_LIMIT_S):
            await self._process.wait()
        with suppress(Exception):
            await self._process.aclose()
        self.ended.set()


async def start(
    sandbox: Sandbox,
    program: list[str],
    scratch: Path,
    environment: dict[str, str],
    *,
    reads: tuple[str, ...] = (),
    descriptors: tuple[int, ...] = (),
) -> Child:
    """Start a program in a sandbox; the caller runs `attend` in a task group of its own."""
    for name in ("tmp", "build"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    argv, outer = sandbox.command(program, scratch, environment, reads)
    # Not to be cut short: a process half started would belong to nobody.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            argv,
            stdin=subprocess.DEVNULL,
            env=outer,
            cwd=str(scratch),
            start_new_session=True,
            pass_fds=descriptors,
        )
        return Child(process, sandbox, scratch)
    raise AssertionError("a shield cannot be cut short")
