"""One evaluation: the conversation with a judge that wants workers, the lease and time, and ends with a verdict.

```
server ── evaluate ──▶ judge          judge decides; the server gives it processes and keeps the deadlines
       ◀─ need_worker / drop_worker
       ◀─ need_lease / free_lease
       ◀─ stage, qualified
       ◀─ done: verdict, evidence
```
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast, get_args

import anyio

from mcp_server.build_store import Built
from mcp_server.channel import ChannelClosed
from mcp_server.child import LOOSELY_S
from mcp_server.contract import Stage
from mcp_server.errors import EvaluatorError, WorkerLost
from mcp_server.pool import Lent

if TYPE_CHECKING:
    from mcp_server.build import Builds
    from mcp_server.child import Ending
    from mcp_server.executor import Report, Work
    from mcp_server.lease import Lease
    from mcp_server.link import Message
    from mcp_server.pool import Judge, Pool, Worker

log = logging.getLogger(__name__)

_LAST_WORDS_S = 5.0
_SILENT_WAIT_S = 1.0
_STAGES = frozenset(get_args(Stage))


@dataclass(frozen=True, slots=True)
class StageLimits:
    """Seconds of each stage, and of the steps inside them, once their resources are held."""

    intake: float = 60
    build: float = 180
    qualify: float = 300
    correctness: float = 300
    quick_timing: float = 15
    full_timing: float = 120
    confirm: float = 240
    construct: float = 60
    first_call: float = 120
    call: float = 10
    """The least a later call may take; more where the original is slow."""
    grace: float = 30
    """Beyond a stage's limit, for the judge to notice it and say so."""

    def deadlines(self, mode: str) -> dict[str, float]:
        """Return what a judge is told."""
        timing = self.full_timing if mode == "full" else self.quick_timing
        names = ("build", "qualify", "correctness", "confirm", "construct", "first_call", "call")
        return {name: getattr(self, name) for name in names} | {"timing": timing}

    def patience_s(self, stage: str) -> float:
        """Return how long the server waits for the judge to speak in a stage."""
        known = {
            "build": self.build,
            "qualify": self.qualify,
            "correctness": self.correctness,
            "timing": self.full_timing,
            "confirm": self.confirm,
        }
        return known.get(stage, self.intake) + self.grace


@dataclass(slots=True)
class Conversation:
    """The state of one evaluation with one judge."""

    pool: Pool
    judge: Judge
    builds: Builds
    work: Work
    report: Report
    limits: StageLimits
    qualified: Message | None = None
    """What the judge measured of the task, if it did."""
    measured: Message | None = None
    """What the judge measured of the device, if it did."""
    endings: list[Ending] = field(default_factory=list["Ending"])
    """Of the candidate's workers, in order."""
    build_reused: bool = False
    build_key: str = ""
    """Of the candidate's build folder, once a worker was given."""
    compiled_s: float = 0.0
    """In compilers apart from the candidate's worker."""
    stand_in: bool = False
    """Whether light headers stood before torch's."""
    build_logs: list[str] = field(default_factory=list[str])
    cpu_s: float = 0.0
    queue_s: float = 0.0
    lease_s: float = 0.0
    stage: str = "intake"
    overdue: str | None = None
    """The stage whose limit passed without a word from the judge."""
    spent_s: dict[str, float] = field(default_factory=dict[str, float])
    scratches: list[str] = field(default_factory=list[str])
    _stage_began: float = field(default_factory=time.monotonic)

    async def hold(self, request: Message) -> Message:
        """Send the request and serve the judge until it is done; returns its last message.

        Cancelling it ends the candidate's workers; the judge survives if it answers at once.

        Raises:
            WorkerLost: the judge ended, broke the protocol, or missed a deadline.
        """
        try:
            await self.judge.link.send(request)
            return await self._until_done()
        except ChannelClosed as error:
            raise WorkerLost(self._lost(error)) from error
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._withdraw(request)
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear()

    async def _until_done(self) -> Message:
        self._stage_began = time.monotonic()
        while True:
            message = await self._next()
            if message is None:
                return await self._overdue()
            if message["op"] == "done":
                self._enter_stage("report", "")
                return message
            await self._serve(message)

    async def _next(self) -> Message | None:
        """Return what the judge says next; None if it is overdue."""
        with anyio.CancelScope(deadline=self._limit()):
            return await self.judge.link.receive()
        return None

    async def _serve(self, message: Message) -> None:
        match message["op"]:
            case "stage":
                self._enter_stage(str(message.get("stage")), str(message.get("detail") or ""))
            case "need_worker":
                await self._give_worker(message)
            case "need_cpu":
                used = self.judge.lent.get(str(message.get("worker")))
                used_s = used.worker.child.count_cpu() if used is not None else None
                answer = {"op": "cpu", "request": message.get("request"), "cpu_s": used_s}
                await self._send(answer)
            case "drop_worker":
                await self._drop_worker(message)
            case "need_build":
                await self._build(message)
            case "need_lease":
                await self._grant(message)
            case "free_lease":
                self._free()
            case "qualified":
                kept: object = message.get("qualification")
                self.qualified = cast("Message", kept) if isinstance(kept, dict) else None
            case "measured":
                facts: object = message.get("facts")
                self.measured = cast("Message", facts) if isinstance(facts, dict) else None
            case op:
                raise ChannelClosed(f"it said {op!r}, which is not in the protocol")

    # --- what the judge asks for --------------------------------------------------------------------

    async def _give_worker(self, message: Message) -> None:
        role = "baseline" if message.get("role") == "baseline" else "candidate"
        key = f"{self.work.task.sha256}:{message.get('key')}"
        request = message.get("request")
        try:
            worker = await self.pool.take(touches_gpu=bool(message.get("gpu")))
        except (OSError, EvaluatorError) as error:
            await self._send({"op": "worker", "request": request, "error": str(error)})
            return
        self.judge.lent[worker.name] = Lent(worker, role, key)
        reused = await self.builds.restore(role, key, worker.child.scratch)
        if role == "baseline":
            worker.child.look_every_s = LOOSELY_S
        if role == "candidate":
            self.build_reused |= reused and not self.build_key
            self.build_key = key
        await self._hand_over(worker, request)

    async def _hand_over(self, worker: Worker, request: object) -> None:
        sandbox = self.pool.sandbox
        seen = sandbox.scratch_seen(worker.child.scratch)
        answer = {
            "op": "worker",
            "request": request,
            "worker": worker.name,
            "pid": worker.child.pid,
            "level": sandbox.level,
            "scratch": seen,
        }
        self.scratches += [seen, str(worker.child.scratch)]
        await self.judge.link.send(answer, (worker.socket.fileno(),))
        worker.socket.close()

    async def _drop_worker(self, message: Message) -> None:
        ending = await self._end(str(message.get("worker")))
        answer: Message = {"op": "output", "request": message.get("request")}
        if ending is not None:
            answer |= {"stdout": ending.stdout, "stderr": ending.stderr}
            answer |= {"exit": ending.exit, "cause": ending.cause}
        await self._send(answer)

    async def _end(self, name: str) -> Ending | None:
        """End a worker, keep its build, and return what it printed."""
        used = self.judge.lent.pop(name, None)
        if used is None:
            return None
        child = used.worker.child
        child.count_cpu()
        # A worker that ended by itself has an exit code of its own: let it be seen first.
        with anyio.move_on_after(0.2):
            await child.ended.wait()
        await self.pool.drop(used.worker)
        self.cpu_s += child.cpu_s
        ending = child.ending()
        if used.role == "candidate":
            self.endings.append(ending)
        await self.builds.keep(used.role, used.key, child.scratch)
        await self.pool.discard(child)
        return ending

    async def _build(self, message: Message) -> None:
        """Have built what a candidate's worker wants, in a sandbox apart."""
        found = await self._built(str(message.get("worker")), str(message.get("folder")))
        self._stage_began += found.waited_s  # a limit starts once its resource is held
        self.note_build(found)
        answer = {"op": "built", "request": message.get("request"), "cause": found.cause}
        await self._send({**answer, "outcome": found.said})

    async def _built(self, name: str, folder: str) -> Built:
        used, builder = self.judge.lent.get(name), self.pool.builder
        if used is None or used.role != "candidate" or builder is None:
            return Built("left")
        return await builder.build(used.worker.child.scratch, folder, self.limits.build)

    def note_build(self, found: Built) -> None:
        """Add what a build took to the evaluation's account."""
        self.compiled_s += found.seconds
        self.cpu_s += found.cpu_s
        self.build_reused |= found.kept and not self.compiled_s
        self.stand_in |= found.stand_in
        if found.log:
            self.build_logs.append(found.log)

    async def _grant(self, message: Message) -> None:
        lease = self.judge.lease
        shared = self.pool.shares and message.get("shared") is True
        await self._wait_for(lease, shared=shared)
        if lease.alone:
            self.pool.measuring(on=True)
        await self._send({"op": "granted", "request": message.get("request")})

    async def _wait_for(self, lease: Lease, *, shared: bool) -> None:
        began = time.monotonic()
        self._count(began)
        with anyio.move_on_after(_SILENT_WAIT_S):
            await lease.take(shared=shared)
        if not lease.held:
            self._tell("waiting for the device")
            await lease.take(shared=shared)
            self._tell("")
        self._stage_began = time.monotonic()  # a limit starts once its resource is held
        self.queue_s += self._stage_began - began

    def _tell(self, detail: str) -> None:
        if self.stage in _STAGES:
            self.report(cast("Stage", self.stage), detail)  # a member of Stage: just looked

    def _free(self) -> None:
        lease = self.judge.lease
        if lease.held:
            before, alone = lease.held_s, lease.alone
            lease.free()
            self.lease_s += lease.held_s - before
            if alone:
                self.pool.measuring(on=False)

    async def _send(self, message: Message) -> None:
        await self.judge.link.send(message)

    # --- stages and deadlines -----------------------------------------------------------------------

    def _enter_stage(self, stage: str, detail: str) -> None:
        self._count(time.monotonic())
        if stage in _STAGES:
            self.stage = stage
            self._tell(detail)

    def _count(self, now: float) -> None:
        """Add what passed to the stage's seconds; waiting for the lease is not among them."""
        self.spent_s[self.stage] = self.spent_s.get(self.stage, 0.0) + now - self._stage_began
        self._stage_began = now

    def _limit(self) -> float:
        """Return when the judge must have spoken, on the loop's clock."""
        limit_s = self.limits.patience_s(self.stage)
        return anyio.current_time() + limit_s - (time.monotonic() - self._stage_began)

    async def _overdue(self) -> Message:
        """End what the judge waits for, and give it a moment to say so; it is not used again."""
        self.overdue = self.stage
        await self._kill_candidates()
        self.judge.spoiled = True
        with anyio.move_on_after(_LAST_WORDS_S):
            return await self._last_words()
        raise WorkerLost(f"The judge did not end stage {self.stage} in time: try again.")

    async def _last_words(self) -> Message:
        while True:
            message = await self.judge.link.receive()
            if message["op"] == "done":
                return message
            await self._serve(message)

    # --- ends ---------------------------------------------------------------------------------------

    async def _withdraw(self, request: Message) -> None:
        """Cancelled: end the candidate and let the judge close the matter, or end the judge too."""
        await self._kill_candidates()
        with suppress(ChannelClosed), anyio.move_on_after(_LAST_WORDS_S):
            await self._send({"op": "cancel", "id": request.get("id")})
            await self._last_words()
            return
        await self.judge.child.kill()

    async def _kill_candidates(self) -> None:
        for used in list(self.judge.lent.values()):
            if used.role == "candidate":
                await used.worker.child.kill()

    async def _clear(self) -> None:
        for name, used in list(self.judge.lent.items()):
            if used.role == "candidate" or not used.worker.child.alive:
                await self._end(name)
            elif self.qualified is not None:
                await self.builds.keep(used.role, used.key, used.worker.child.scratch)
        self._free()

    def _lost(self, error: Exception) -> str:
        ending = self.judge.child.ending()
        if ending.cause == "memory_limit":
            return "The judge needed more memory than it may have: is the task too large?"
        lines = [line for line in ending.stderr.splitlines() if line.strip()]
        return f"The judge was lost ({lines[-1][:200] if lines else error}): try again."
