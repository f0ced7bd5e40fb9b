"""Judges and single-use workers of one device: started ahead, handed out, killed, replaced.

All processes start from the event loop's own thread, in the pool's task group.
"""

from __future__ import annotations

import itertools
import logging
import socket
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread

from mcp_server import child, folders
from mcp_server.channel import ChannelClosed
from mcp_server.child import CLOSELY_S, LOOSELY_S
from mcp_server.environment import environment
from mcp_server.errors import WorkerLost
from mcp_server.lease import Lease
from mcp_server.link import Link, Message
from mcp_server.sandbox import PACKAGE, Sandbox, of_judge

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.builder import Builder
    from mcp_server.child import Child
    from mcp_server.folders import Workspace
    from mcp_server.sandbox import Limits

log = logging.getLogger(__name__)

_HELLO_LIMIT_S = 120
_JUDGE_ATTEMPTS = 50
_TASKS_HELD = 2
"""Tasks that a judge keeps at once, as judge/service.py has it."""


@dataclass(frozen=True, slots=True)
class Programs:
    """What judge and workers run; tests put small ones in their place."""

    judge: str = str(PACKAGE / "judge" / "__main__.py")
    worker: str = str(PACKAGE / "worker" / "program.py")
    judge_reads: tuple[str, ...] = (
        str(PACKAGE / "judge"),
        str(PACKAGE / "worker"),
        str(PACKAGE / "channel.py"),
    )


@dataclass(slots=True)
class Worker:
    """A process that waits for a candidate, and the judge's end of its socket."""

    name: str
    child: Child
    socket: socket.socket
    touches_gpu: bool


@dataclass(frozen=True, slots=True)
class Lent:
    """A worker in a judge's hands; baselines stay there between attempts."""

    worker: Worker
    role: str
    key: str


@dataclass(slots=True)
class Judge:
    """A judge that said hello, its link and its lease."""

    child: Child
    link: Link
    lease: Lease
    hello: Message
    attempts: int = 0
    ended: bool = False
    spoiled: bool = False
    """Whether it must not be used again."""
    lent: dict[str, Lent] = field(default_factory=dict[str, Lent])
    tasks: list[str] = field(default_factory=list[str])
    """Digests of those it keeps, oldest first."""

    def note(self, task: str) -> None:
        """Remember which task it is given."""
        if task not in self.tasks:
            self.tasks = [*self.tasks, task][-_TASKS_HELD:]

    @property
    def usable(self) -> bool:
        """Whether it may take another attempt."""
        return self.child.alive and not self.spoiled and self.attempts < _JUDGE_ATTEMPTS


@dataclass(slots=True)
class Pool:
    """The processes of one device; `keep_filled` runs in the group that owns them all."""

    sandbox: Sandbox
    workspace: Workspace
    programs: Programs
    ready: int
    """Workers kept started ahead, of each kind."""
    group: anyio.abc.TaskGroup
    builder: Builder | None = None
    """Of extensions, apart from the workers that want them; None where each builds its own."""
    shares: bool = False
    """Whether several evaluations may use the device at once while none of them is timed."""
    most_judges: int = 0
    """Judges started before one that keeps other tasks is taken."""
    lease_folder: Path | None = None
    """Of the lease files; the machine's own by default."""
    _idle: list[Worker] = field(default_factory=list[Worker])
    _judges: list[Judge] = field(default_factory=list[Judge])
    _names: itertools.count[int] = field(default_factory=itertools.count)
    _refill: anyio.Event = field(default_factory=anyio.Event)
    _measuring: int = 0
    _judging: int = 0
    """Judges that live."""

    async def take(self, *, touches_gpu: bool) -> Worker:
        """Return a worker that nobody has used, started ahead if there is one."""
        touches_gpu = touches_gpu or not self.sandbox.device.is_gpu
        worker = await self._waiting(touches_gpu) or await self._start_worker(touches_gpu)
        worker.child.look_every_s = CLOSELY_S
        self._refill.set()
        return worker

    async def _waiting(self, touches_gpu: bool) -> Worker | None:
        """Return one that was started ahead and still lives."""
        for worker in [w for w in self._idle if w.touches_gpu == touches_gpu]:
            self._idle.remove(worker)
            if worker.child.alive:
                return worker
            log.warning("a waiting worker ended: %s", worker.child.ending().stderr[-300:])
            await self.discard(worker.child)
        return None

    async def drop(self, worker: Worker) -> None:
        """End a worker and close its socket; its scratch stays until `discard`."""
        with suppress(OSError):
            worker.socket.close()
        await worker.child.kill()

    async def discard(self, process: Child) -> None:
        """Remove the scratch of a process that has ended."""
        await anyio.to_thread.run_sync(folders.remove, process.scratch)

    async def take_judge(self, task: str) -> Judge:
        """Return an idle judge that keeps the task or has room for it, or a new one.

        Raises:
            WorkerLost: it does not start.
        """
        judge = await self._idle_judge(task)
        if judge is None:
            judge = await self._start_judge()
        judge.attempts += 1
        judge.note(task)
        return judge

    async def _idle_judge(self, task: str) -> Judge | None:
        for judge in [j for j in self._judges if not j.usable]:
            self._judges.remove(judge)
            await self.end_judge(judge)
        knows = [j for j in self._judges if task in j.tasks]
        roomy = [j for j in self._judges if len(j.tasks) < _TASKS_HELD]
        others = self._judges if self._judging >= self.most_judges else []
        chosen = next(iter((*reversed(knows), *roomy, *others)), None)
        if chosen is not None:
            self._judges.remove(chosen)
        return chosen

    async def return_judge(self, judge: Judge) -> None:
        """Take a judge back, for the next attempt or to end it."""
        judge.lease.free()
        if judge.usable:
            self._judges.append(judge)
        else:
            await self.end_judge(judge)

    async def end_judge(self, judge: Judge) -> None:
        """End a judge, which frees its lease."""
        with anyio.CancelScope(shield=True):
            await judge.child.kill()
            for used in judge.lent.values():
                await self.drop(used.worker)
                await self.discard(used.worker.child)
            judge.lent.clear()
            self._judging -= 0 if judge.ended else 1
            judge.ended = True
            judge.link.close()
            judge.lease.free()
            judge.lease.close()
            await self.discard(judge.child)

    def measuring(self, *, on: bool) -> None:
        """Say whether a lease is held: nothing is started ahead meanwhile."""
        self._measuring += 1 if on else -1
        if self.builder is not None and not self.sandbox.device.is_gpu:
            self.builder.pause(on=self._measuring > 0)
        if not self._measuring:
            self._refill.set()

    async def keep_filled(self) -> None:
        """Start workers ahead, whenever one was taken and nothing is measured."""
        try:
            while True:
                await self._fill()
                await self._refill.wait()
                self._refill = anyio.Event()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Close what is ours of idle processes; the group that is ending kills them."""
        for worker in self._idle:
            worker.socket.close()
        for judge in self._judges:
            judge.link.close()
            judge.lease.free()
            judge.lease.close()

    async def _fill(self) -> None:
        try:
            for touches_gpu in self._kinds():
                while self._short(touches_gpu) and not self._measuring:
                    self._idle.append(await self._start_worker(touches_gpu))
        except OSError:
            log.exception("no worker could be started ahead")

    def _kinds(self) -> tuple[bool, ...]:
        return (True, False) if self.sandbox.device.is_gpu else (True,)

    def _short(self, touches_gpu: bool) -> bool:
        # Dead ones count: a worker that cannot live must not be started over and over.
        return sum(w.touches_gpu == touches_gpu for w in self._idle) < self.ready

    async def _start_worker(self, touches_gpu: bool) -> Worker:
        name = f"w{next(self._names)}"
        ours, theirs = socket.socketpair()
        try:
            program = [self.programs.worker, "--fd", str(theirs.fileno())]
            reads = (self.programs.worker,)
            process = await self._start(name, program, reads, (theirs.fileno(),), touches_gpu)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Worker(name, process, ours, touches_gpu)

    async def _start(
        self,
        name: str,
        program: list[str],
        reads: tuple[str, ...],
        descriptors: tuple[int, ...],
        touches_gpu: bool,
        limits: Limits | None = None,
    ) -> Child:
        sandbox, device = self.sandbox, self.sandbox.device
        sandbox = replace(sandbox, limits=limits or sandbox.limits)
        if not touches_gpu:
            sandbox = replace(sandbox, device=replace(device, nodes=()))
        scratch = self.workspace.fresh(name)
        values = environment(
            sandbox.interpreter, device, sandbox.scratch_seen(scratch), touches_gpu=touches_gpu
        )
        argv = [sandbox.interpreter.executable, "-I", "-B", *program]
        process = await child.start(
            sandbox, argv, scratch, values, reads=reads, descriptors=descriptors
        )
        self.group.start_soon(process.attend)
        return process

    async def _start_judge(self) -> Judge:
        lease = Lease(self.sandbox.device.uuid, self.lease_folder)
        ours, theirs = socket.socketpair()
        descriptors = (theirs.fileno(), lease.fd)
        program = [self.programs.judge, "--fd", str(theirs.fileno())]
        try:
            name = f"j{next(self._names)}"
            limits = of_judge(self.sandbox.limits)
            reads = self.programs.judge_reads
            process = await self._start(name, program, reads, descriptors, True, limits)
        except BaseException:
            ours.close()
            lease.close()
            raise
        finally:
            theirs.close()
        judge = Judge(process, Link(ours), lease, {})
        self._judging += 1
        process.look_every_s = LOOSELY_S
        await self._greet(judge)
        return judge

    async def _greet(self, judge: Judge) -> None:
        try:
            with anyio.fail_after(_HELLO_LIMIT_S):
                judge.hello = await judge.link.receive()
        except (ChannelClosed, TimeoutError) as error:
            await self.end_judge(judge)
            raise WorkerLost(_silent(judge, error)) from error
        except BaseException:
            await self.end_judge(judge)
            raise
        if self.sandbox.device.is_gpu and not str(judge.hello.get("device")).startswith("cuda"):
            await self.end_judge(judge)
            raise WorkerLost(
                "The judge's torch found no GPU inside the sandbox: run `pike doctor`."
            )


def _silent(judge: Judge, error: Exception) -> str:
    lines = judge.child.ending().stderr.strip().splitlines()
    return f"The judge did not start ({lines[-1][:200] if lines else error}): run `pike doctor`."
