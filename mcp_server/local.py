"""The executor of this box: finds the interpreter and the sandbox, keeps a pool per device, runs evaluations.

Nothing is probed or started before the first evaluation, so that a server answers at once.
"""

from __future__ import annotations

import logging
import socket
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from mcp_server import (
    facts,
    intake,
    interpreter,
    known,
    machine,
    probes,
    qualify,
    rehearsal,
    states,
    verdicts,
)
from mcp_server.build import Builds
from mcp_server.build_plan import slots
from mcp_server.builder import Builder
from mcp_server.bundle import Evidence
from mcp_server.clean import Cleaner
from mcp_server.contract import Status
from mcp_server.errors import NoSuchDevice, SandboxUnavailable, WorkerLost
from mcp_server.evaluate import Conversation, StageLimits
from mcp_server.executor import Outcome, Place, Work, same_model
from mcp_server.facts import KnownFacts
from mcp_server.folders import Workspace
from mcp_server.intake import Intake
from mcp_server.pool import Pool, Programs
from mcp_server.qualify import Key, Qualifications
from mcp_server.rehearsal import Rehearsed
from mcp_server.sandbox import Limits
from mcp_server.states import States
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.abc import TaskGroup

    from mcp_server.contract import Precision
    from mcp_server.executor import HostFacts, Report, Told
    from mcp_server.facts import DeviceKey
    from mcp_server.interpreter import Interpreter
    from mcp_server.link import Message
    from mcp_server.machine import Device
    from mcp_server.pool import Judge
    from mcp_server.sandbox import Wanted

log = logging.getLogger(__name__)

NO_TASK = Task("", "", "", Path())
"""Of a conversation about the device alone."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the caller of the program chose."""

    home: Path
    python: str | None = None
    sandbox: Wanted = "best-effort"
    device: str = "auto"
    programs: Programs = field(default_factory=Programs)
    stage_limits: StageLimits = field(default_factory=StageLimits)
    limits: Limits = field(default_factory=Limits)
    """What one process tree may use."""
    executor: str = "local"
    """`local`, `ray`, or `ray://HEAD[:PORT]`: whose hosts evaluate."""
    lease_folder: Path | None = None
    """Of the lease files; the machine's own, which all users share, by default."""
    overlap: bool | None = None
    """Whether builds go ahead of evaluations and correctness shares the device; by default on the processor only."""

    def overlaps(self, device: Device) -> bool:
        """Return whether evaluations on a device overlap but for what is timed."""
        return not device.is_gpu if self.overlap is None else self.overlap


@dataclass(slots=True)
class _Room:
    """One device's pool and how many evaluations it takes at once."""

    pool: Pool
    free: anyio.Semaphore
    rehearsing: anyio.Semaphore
    cleaner: Cleaner


@dataclass(slots=True)
class LocalExecutor:
    """Evaluates on this machine; make it with `open_local`."""

    setting: Setting
    group: TaskGroup
    """Owns every process."""
    qualifications: Qualifications
    _workspaces: list[Workspace]
    """The one that was made, if any: whoever opened the executor removes it."""
    _builds: Builds | None = None
    _rooms: dict[tuple[str, tuple[str, ...]], _Room] = field(
        default_factory=dict[tuple[str, tuple[str, ...]], _Room]
    )
    """By a device's name and what tasks may read there, beside the environment."""
    _opening: anyio.Lock = field(default_factory=anyio.Lock)

    async def places(self) -> list[Place]:
        """Return the room on each device of this machine."""
        python = await self._interpreter()
        found = [*(machine.gpus() if python.cuda else []), machine.cpu()]
        return [self._place(d) for d in found]

    def _place(self, device: Device) -> Place:
        of, ahead = parallel(device), slots() if self.setting.overlaps(device) else 0
        named = (socket.gethostname(), device.name, device.uuid, device.title)
        return Place(*named, self._free(device), of, ahead)

    def _free(self, device: Device) -> int:
        room = self._rooms.get((device.name, ()))
        return room.free.value if room else parallel(device)

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate one candidate; cancelling it kills its workers.

        Raises:
            EvaluatorError: no such device, interpreter or sandbox.
        """
        began = time.monotonic()
        report("intake", "")
        read = intake.read(work.source)
        if read.status is not None:
            return verdicts.unread(work, read)
        await self._check_model(work)
        try:
            room = await self._room(work.device, work.task.reads)
        except SandboxUnavailable as error:
            return verdicts.lost(work, read, None, "sandbox_failed", str(error))
        rehearsed, queued = await self._rehearse(room, work, report)
        if rehearsed.late:
            return verdicts.unbuilt(work, read, room.pool.sandbox, rehearsed)
        asked = time.monotonic()
        async with room.free:
            queued += time.monotonic() - asked
            outcome = await self._evaluate(room, work, read, rehearsed, report)
        outcome.verdict.wall_s = round(time.monotonic() - began, 3)
        outcome.verdict.queue_s = round((outcome.verdict.queue_s or 0) + queued, 3)
        return outcome

    async def qualify(self, work: Work, report: Report) -> Outcome:
        """Find out whether the work's task can judge candidates; its source is empty.

        Raises:
            EvaluatorError: no such device, interpreter or sandbox.
        """
        room = await self._room(work.device, work.task.reads)
        async with room.free:
            return await self._evaluate(room, work, Intake(""), Rehearsed(), report)

    async def python(self) -> Interpreter:
        """Return the interpreter of judge and workers.

        Raises:
            NoInterpreter: there is none that could run them.
        """
        return await self._interpreter()

    async def check_device(self, device: str) -> Device:
        """Return the device of a name, before anything is started.

        Raises:
            NoSuchDevice: it is not here.
            NoInterpreter: judge and workers could not run.
        """
        python = await self._interpreter()
        return machine.resolve(self.setting.device if device == "auto" else device, python)

    async def _check_model(self, work: Work) -> None:
        device = await self.check_device(work.device)
        if not same_model(device.title, work.device_name):
            raise NoSuchDevice(
                f"{device.name} is {device.title}, and this session is measured on {work.device_name}: "
                "measure it where its first attempt was."
            )

    async def close(self) -> None:
        """End every process."""
        self.group.cancel_scope.cancel()

    @property
    def facts(self) -> KnownFacts:
        """What was measured of the devices."""
        return KnownFacts(self.setting.home)

    async def known(self, device: str) -> tuple[Device, Message | None]:
        """Return a device and its kept facts, None where nobody measured it yet; nothing is started."""
        found = await self.check_device(device)
        return found, self.facts.get(facts.key_of(found, await self._interpreter()))

    async def told(self, task: Task) -> Told:
        """Return what is known of this machine's devices and of a task; nothing is started."""
        return await known.told(self, task)

    async def hosts(self) -> list[HostFacts]:
        """Return this machine."""
        return [await known.host(self)]

    async def known_task(
        self, task: Task, device: str, precision: Precision = "half"
    ) -> Message | None:
        """Return what is kept of a task under a policy; nothing is started."""
        found = await self.check_device(device)
        driver = machine.driver() if found.is_gpu else None
        torch = (await self._interpreter()).torch
        return self.qualifications.get(
            task_key(Work("known", task, "", precision=precision), found, torch, driver)
        )

    async def measure(self, device: str, report: Report) -> tuple[Device, Message]:
        """Return a device and what it can do at most, measuring it if nobody did.

        Raises:
            EvaluatorError: no such device, interpreter or sandbox; the judge was lost.
        """
        found, kept = await self.known(device)
        if kept is not None:
            return found, kept
        room = await self._room(device)
        async with room.free:
            judge = await room.pool.take_judge("")
            try:
                assert self._builds is not None
                work = Work("facts", NO_TASK, "")
                limits = self.setting.stage_limits
                talk = Conversation(room.pool, judge, self._builds, work, report, limits)
                await talk.hold({"op": "evaluate", "id": work.id, "task_path": "", **_place(room)})
            finally:
                with anyio.CancelScope(shield=True):
                    await room.pool.return_judge(judge)
        if talk.measured is None:
            raise WorkerLost(f"{found.name} could not be measured: run `pike doctor`.")
        self.facts.put(self._device_key(room), talk.measured)
        return found, talk.measured

    def forget(self, key: str) -> None:
        """Remove what a candidate built."""
        if self._builds is not None:
            self._builds.forget(key)

    # --- one evaluation -----------------------------------------------------------------------------

    async def _rehearse(self, room: _Room, work: Work, report: Report) -> tuple[Rehearsed, float]:
        """Build ahead what the candidate builds; return that, and the seconds waited for room."""
        ready, asked = room.pool.builder, time.monotonic()
        if ready is None or not rehearsal.worthwhile(work.source):
            return Rehearsed(), 0.0
        async with room.rehearsing:
            waited_s = time.monotonic() - asked
            report("build", "compiling")
            limit_s = self.setting.stage_limits.build
            found = await rehearsal.rehearse(room.pool, ready, work.source, limit_s)
        return found, waited_s + sum(built.waited_s for built in found.builds)

    async def _evaluate(
        self, room: _Room, work: Work, read: Intake, rehearsed: Rehearsed, report: Report
    ) -> Outcome:
        try:
            judge = await room.pool.take_judge(work.task.sha256)
        except WorkerLost as error:
            return verdicts.lost(work, read, room.pool.sandbox, "sandbox_failed", str(error))
        try:
            return await self._converse(room, judge, work, read, rehearsed, report)
        except WorkerLost as error:
            await room.pool.end_judge(judge)
            return verdicts.lost(work, read, room.pool.sandbox, "worker_lost", str(error))
        finally:
            with anyio.CancelScope(shield=True):
                await room.pool.return_judge(judge)

    async def _converse(
        self,
        room: _Room,
        judge: Judge,
        work: Work,
        read: Intake,
        rehearsed: Rehearsed,
        report: Report,
    ) -> Outcome:
        assert self._builds is not None
        talk = Conversation(room.pool, judge, self._builds, work, report, self.setting.stage_limits)
        talk.cpu_s += rehearsed.cpu_s
        for built in rehearsed.builds:
            talk.note_build(built)
        key = self._key(room, judge, work)
        said = await talk.hold(self._request(room, judge, work, self.qualifications.get(key)))
        if talk.qualified is not None:
            self.qualifications.put(key, talk.qualified)
        if talk.measured is not None:
            self.facts.put(self._device_key(room), talk.measured)
        outcome = verdicts.decided(talk, said, read, room.cleaner)
        self._note_state(work, outcome, room.pool.sandbox.device)
        if outcome.verdict.status is Status.OK and outcome.evidence.get("timings"):
            outcome.verdict.evidence_sha256 = Evidence(self.setting.home).keep(outcome.evidence)
        return outcome

    def _note_state(self, work: Work, outcome: Outcome, device: Device) -> None:
        """Keep for lists of tasks whether this one can judge candidates."""
        known = states.told_by(outcome.verdict, device.title)
        if known is not None and work.tolerance == "budget":
            States(self.setting.home).put(work.task, known)

    def _request(
        self, room: _Room, judge: Judge, work: Work, qualification: Message | None
    ) -> Message:
        path = Path("tasks", f"{work.task.sha256}.py")
        kept = judge.child.scratch / path
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(work.task.source, encoding="utf-8")
        return {
            "op": "evaluate",
            "id": work.id,
            "task_id": work.task.id,
            "task_path": str(Path(room.pool.sandbox.scratch_seen(judge.child.scratch), path)),
            "source": work.source,
            **_place(room),
            "precision": work.precision,
            "tolerance": work.tolerance,
            "beat": work.beat,
            "mode": work.mode,
            "stages": list(work.stages),
            "qualification": qualification,
            "deadlines": self.setting.stage_limits.deadlines(work.mode),
            "agent_task": work.task.by_agent,
            "leased": work.leased,
            "facts": self.facts.get(self._device_key(room)),
        }

    @staticmethod
    def _device_key(room: _Room) -> DeviceKey:
        return facts.key_of(room.pool.sandbox.device, room.pool.sandbox.interpreter)

    def _key(self, room: _Room, judge: Judge, work: Work) -> Key:
        hello = judge.hello
        return task_key(work, room.pool.sandbox.device, hello.get("torch"), hello.get("driver"))

    # --- what is found or started once --------------------------------------------------------------

    async def _interpreter(self) -> Interpreter:
        return await anyio.to_thread.run_sync(interpreter.find, self.setting.python)

    async def _room(self, device: str, reads: tuple[str, ...] = ()) -> _Room:
        """Return the room on a device, whose processes may read what a task's person opened to it."""
        async with self._opening:
            found = await self.check_device(device)
            python = await self._interpreter()
            key = (found.name, reads)
            if key not in self._rooms:
                python = replace(python, reads=(*python.reads, *reads))
                self._rooms[key] = await self._open(python, found)
            return self._rooms[key]

    async def _open(self, python: Interpreter, device: Device) -> _Room:
        if self._builds is None:
            self._workspaces.append(Workspace())
            self._builds = Builds(self._workspaces[0].path, self.setting.home)
        sandbox = await probes.choose(self.setting.sandbox, python, device, self.setting.limits)
        setting, scratch = self.setting, self._workspaces[0]
        pool = Pool(
            sandbox,
            scratch,
            setting.programs,
            _ready(device),
            self.group,
            lease_folder=setting.lease_folder,
        )
        if setting.overlaps(device):
            pool.shares = True
            pool.builder = Builder(sandbox, scratch, setting.home, self.group)
            pool.most_judges = parallel(device)
        self.group.start_soon(pool.keep_filled)
        rehearsing = anyio.Semaphore(slots())
        return _Room(pool, anyio.Semaphore(parallel(device)), rehearsing, Cleaner(sandbox))


def task_key(work: Work, device: Device, torch: object, driver: object) -> Key:
    """Return the key of what is measured of a task on a device, under a torch and a driver."""
    return Key(
        task_sha256=work.task.sha256,
        precision=work.precision,
        tolerance=work.tolerance,
        device_uuid=device.uuid,
        torch=str(torch),
        driver=str(driver),
        threads=machine.threads(),
        evaluator=qualify.evaluator_sha256(),
    )


def _place(room: _Room) -> Message:
    """Return the device as the judge sees it: one GPU is visible."""
    return {"device": "cuda:0" if room.pool.sandbox.device.is_gpu else "cpu"}


def parallel(device: Device) -> int:
    """Return how many evaluations a device takes at once: builds overlap, measurements do not."""
    return max(1, min(4, machine.cores() // 4)) if device.is_gpu else max(1, machine.cores() // 8)


def _ready(device: Device) -> int:
    return min(4, parallel(device) + 1)


@asynccontextmanager
async def open_local(setting: Setting) -> AsyncGenerator[LocalExecutor]:
    """Yield an executor on this machine; all its processes end with the block."""
    workspaces: list[Workspace] = []
    try:
        async with anyio.create_task_group() as group:
            yield LocalExecutor(setting, group, Qualifications(setting.home), workspaces)
            group.cancel_scope.cancel()
    finally:
        for workspace in workspaces:
            workspace.close()
