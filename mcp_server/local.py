"""The executor of this box: finds the interpreter and the sandbox, keeps a pool per device, runs evaluations.

Nothing is probed or started before the first evaluation, so that a server answers at once.
"""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import facts, intake, judge_request, known, machine, rehearsal, states, verdicts
from mcp_server.bundle import Evidence
from mcp_server.contract import CROWDED, Status
from mcp_server.errors import NoSuchDevice, SandboxUnavailable, WorkerLost
from mcp_server.evaluate import Conversation
from mcp_server.executor import Outcome, Place, Work, same_model
from mcp_server.facts import KnownFacts
from mcp_server.intake import Intake
from mcp_server.judge_request import device_key, task_key
from mcp_server.qualify import Qualifications
from mcp_server.rehearsal import Rehearsed
from mcp_server.rooms import Room, Rooms
from mcp_server.states import States
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.abc import TaskGroup

    from mcp_server.contract import Precision
    from mcp_server.executor import HostFacts, Report, Told
    from mcp_server.interpreter import Interpreter
    from mcp_server.link import Message
    from mcp_server.machine import Device
    from mcp_server.pool import Judge
    from mcp_server.qualify import Key
    from mcp_server.setting import Setting

NO_TASK = Task("", "", "", Path())
"""Of a conversation about the device alone."""


@dataclass(slots=True)
class LocalExecutor:
    """Evaluates on this machine; make it with `open_local`."""

    setting: Setting
    group: TaskGroup
    """Owns every process."""
    qualifications: Qualifications
    rooms: Rooms

    async def places(self) -> list[Place]:
        """Return the room on each device of this machine."""
        return await self.rooms.places()

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
            room = await self.rooms.on(work.device, work.task.reads)
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
        room = await self.rooms.on(work.device, work.task.reads)
        async with room.free:
            return await self._evaluate(room, work, Intake(""), Rehearsed(), report)

    async def python(self) -> Interpreter:
        """Return the interpreter of judge and workers.

        Raises:
            NoInterpreter: there is none that could run them.
        """
        return await self.rooms.interpreter()

    async def check_device(self, device: str) -> Device:
        """Return the device of a name, before anything is started.

        Raises:
            NoSuchDevice: it is not here.
            NoInterpreter: judge and workers could not run.
        """
        return await self.rooms.device(device)

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
        return found, self.facts.get(facts.key_of(found, await self.rooms.interpreter()))

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
        torch = (await self.rooms.interpreter()).torch
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
        room = await self.rooms.on(device)
        async with room.free:
            judge = await room.pool.take_judge("")
            try:
                work = Work("facts", NO_TASK, "")
                limits = self.setting.stage_limits
                talk = Conversation(room.pool, judge, room.builds, work, report, limits)
                await talk.hold(judge_request.measurement(room.device, work.id))
            finally:
                with anyio.CancelScope(shield=True):
                    await room.pool.return_judge(judge)
        if talk.measured is None:
            raise WorkerLost(f"{found.name} could not be measured: run `pike doctor`.")
        self.facts.put(device_key(room), talk.measured)
        return found, talk.measured

    def forget(self, key: str) -> None:
        """Remove what a candidate built."""
        self.rooms.forget(key)

    # --- one evaluation -----------------------------------------------------------------------------

    async def _rehearse(self, room: Room, work: Work, report: Report) -> tuple[Rehearsed, float]:
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
        self, room: Room, work: Work, read: Intake, rehearsed: Rehearsed, report: Report
    ) -> Outcome:
        try:
            judge = await room.pool.take_judge(work.task.sha256)
        except WorkerLost as error:
            return verdicts.lost(work, read, room.pool.sandbox, "sandbox_failed", str(error))
        try:
            outcome = await self._converse(room, judge, work, read, rehearsed, report)
            if outcome.verdict.code == CROWDED:  # what it keeps, others may be waiting for
                judge.spoiled = True
            return outcome
        except WorkerLost as error:
            await room.pool.end_judge(judge)
            return verdicts.lost(work, read, room.pool.sandbox, "worker_lost", str(error))
        finally:
            with anyio.CancelScope(shield=True):
                await room.pool.return_judge(judge)

    async def _converse(
        self,
        room: Room,
        judge: Judge,
        work: Work,
        read: Intake,
        rehearsed: Rehearsed,
        report: Report,
    ) -> Outcome:
        limits = self.setting.stage_limits
        talk = Conversation(room.pool, judge, room.builds, work, report, limits)
        talk.cpu_s += rehearsed.cpu_s
        for built in rehearsed.builds:
            talk.note_build(built)
        key = task_key(work, room.device, judge.hello.get("torch"), judge.hello.get("driver"))
        async with self._qualification(key, work, report) as known:
            measured = self.facts.get(device_key(room))
            request = judge_request.evaluation(room, judge, work, limits, known, measured)
            said = await talk.hold(request)
            if talk.qualified is not None:
                self.qualifications.put(key, talk.qualified)
        if talk.measured is not None:
            self.facts.put(device_key(room), talk.measured)
        outcome = verdicts.decided(talk, said, read, room.cleaner)
        self._note_state(work, outcome, room.device)
        if outcome.verdict.status is Status.OK and outcome.evidence.get("timings"):
            outcome.verdict.evidence_sha256 = Evidence(self.setting.home).keep(outcome.evidence)
        return outcome

    @asynccontextmanager
    async def _qualification(
        self, key: Key, work: Work, report: Report
    ) -> AsyncGenerator[Message | None]:
        """Yield what is kept of the task; where too little is, be the only one here that measures it."""
        kept = self.qualifications.get(key)
        if _enough(kept, work):
            yield kept
            return
        waits = partial(report, "qualify", "another search measures the original")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.qualifications.measuring(key, waits))
            kept = self.qualifications.get(key)
            if _enough(kept, work):  # another measured it meanwhile: let the next go on, too
                await stack.aclose()
            yield kept

    def _note_state(self, work: Work, outcome: Outcome, device: Device) -> None:
        """Keep for lists of tasks whether this one can judge candidates."""
        known = states.told_by(outcome.verdict, device.title)
        if known is not None and work.tolerance == "budget":
            States(self.setting.home).put(work.task, known)


def _enough(kept: Message | None, work: Work) -> bool:
    """Return whether nothing of a task has to be measured again for some work."""
    return kept is not None and ("timing" not in work.stages or bool(kept.get("baselines")))


@asynccontextmanager
async def open_local(setting: Setting) -> AsyncGenerator[LocalExecutor]:
    """Yield an executor on this machine; all its processes end with the block."""
    rooms: Rooms | None = None
    try:
        async with anyio.create_task_group() as group:
            rooms = Rooms(setting, group)
            yield LocalExecutor(setting, group, Qualifications(setting.home), rooms)
            group.cancel_scope.cancel()
    finally:
        if rooms is not None:
            rooms.close()
