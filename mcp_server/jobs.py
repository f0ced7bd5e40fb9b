"""Long calls as jobs: started in turn, waited for, cancelled; they outlive the call, and end with the server.

```
queued ──▶ running ──▶ done
   │           └─────▶ cancelled
   ├─────────────────▶ cancelled
   └─────────────────▶ expired      nobody asked for 300 s
```
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import anyio.abc

from mcp_server.artifacts import KEPT_S, new_id
from mcp_server.contract import NO_HOST, EngineResult, JobState, Status
from mcp_server.errors import (
    EvaluatorError,
    ExecutorUnavailable,
    HostLost,
    NoSuchDevice,
    QueueFull,
    UnknownId,
)
from mcp_server.turns import Ticket, Turns

log = logging.getLogger(__name__)

_JOB_LIMIT_S = 1200.0
_UNASKED_LIMIT_S = 300.0

Act = Callable[["Job"], Awaitable[EngineResult]]


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many jobs a caller may have; of a caller that names its sessions, each of them."""

    running: int = 2
    queued: int = 8


AGENTS = Allowance()
ENGINES = Allowance(running=16, queued=64)
_QUEUED_LIMIT = 1024
"""Of one caller, whatever sessions it names."""
_NO_HOST = (ExecutorUnavailable, HostLost, NoSuchDevice)
"""That no machine will do is no engine's mistake: it knows the device, which was there."""
_FINISHED_LIMIT = 500
"""Finished jobs of one caller that are kept."""


@dataclass(slots=True)
class Job:
    """One long call."""

    id: str
    caller: str
    whole: bool
    """Whether its result is shown in full view."""
    act: Act
    started_s: float
    asked_s: float
    state: JobState = "queued"
    stage: str = ""
    detail: str = ""
    result: EngineResult | None = None
    problem: str | None = None
    """What the caller did wrong, found out while it ran."""
    ended_s: float | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("queued", "running")

    def note(self, stage: str, detail: str = "") -> None:
        """Tell those who wait that a stage began."""
        self.stage, self.detail = stage, detail
        self._tell()

    def become(self, state: JobState) -> None:
        """Change the state, and tell those who wait."""
        self.state = state
        self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    def answer(self) -> EngineResult:
        """Return its result, or what can be said before there is one."""
        if self.result is not None:
            return self.result
        pending = {"job_id": self.id, "state": self.state, "ok": False if self.over else None}
        return EngineResult.model_validate({**pending, "stage": self.stage or None})


@dataclass(slots=True)
class Jobs:
    """The jobs of one server, in its task group."""

    group: anyio.abc.TaskGroup
    allowance: Allowance = AGENTS
    """Of a caller about whom nothing else is said."""
    clock: Callable[[], float] = time.monotonic
    room: Callable[[str], int] = lambda _lane: _QUEUED_LIMIT
    """How many jobs of a lane are worth having under way at once; by default as many as callers may have."""
    _jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    _turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self._turns = Turns(self.room)

    def start(
        self,
        caller: str,
        act: Act,
        allowance: Allowance | None = None,
        *,
        whole: bool = False,
        session: str = "",
        lane: str = "",
    ) -> Job:
        """Queue a job; it runs when its turn comes: callers are served in turn, and the sessions of each.

        `session`: the search it belongs to, as its caller names it. `lane`: what it needs room on, a device.

        Raises:
            QueueFull: the caller has too many waiting.
        """
        allowed = allowance or self.allowance
        self._refuse_too_many(caller, session, allowed)
        now = self.clock()
        job = Job(new_id("job"), caller, whole, act, now, now)
        self._jobs[job.id] = job
        self._turns.join(Ticket(job.id, lane, caller, session, allowed.running))
        self.serve()
        return job

    def serve(self) -> None:
        """Begin all whose turn it is; needed only where there is more room than a moment ago."""
        for name in self._turns.serve():
            self._jobs[name].become("running")
            self.group.start_soon(self._run, self._jobs[name])

    def get(self, caller: str, job_id: str) -> Job:
        """Return a caller's job.

        Raises:
            UnknownId: it has none of this id.
        """
        job = self._jobs.get(job_id)
        if job is None or job.caller != caller:
            raise UnknownId(f"There is no job {job_id!r}: jobs last an hour, start it again.")
        job.asked_s = self.clock()
        return job

    def cancel(self, job: Job) -> None:
        """Cancel a job that is not over; it is over at once, its processes soon, and then its turn."""
        if job.over:
            return
        waited = job.state == "queued"
        self._end(job, "cancelled")
        job.scope.cancel()
        if waited:
            self._leave(job)

    async def wait(self, job: Job, seconds: float, told: Callable[[], Awaitable[None]]) -> None:
        """Wait until a job is over or the time has passed, telling of stages and every 5 s."""
        with anyio.move_on_after(seconds):
            while not job.over:
                changed = job.changed
                with anyio.move_on_after(5):
                    await changed.wait()
                job.asked_s = self.clock()
                await told()

    def expire(self) -> None:
        """End what nobody asks about, and forget what is old."""
        now, finished = self.clock(), Counter[str]()
        for job in reversed(list(self._jobs.values())):
            if job.state == "queued" and now - job.asked_s > _UNASKED_LIMIT_S:
                self._end(job, "expired")
                self._leave(job)
            elif job.ended_s is not None:
                finished[job.caller] += 1
                if now - job.ended_s > KEPT_S or finished[job.caller] > _FINISHED_LIMIT:
                    del self._jobs[job.id]

    async def keep_expiring(self) -> None:
        """Expire for ever."""
        while True:
            await anyio.sleep(10)
            self.expire()
            self.serve()  # there may be more room than there was

    def _refuse_too_many(self, caller: str, session: str, allowed: Allowance) -> None:
        mine, all_of_it = self._turns.waiting(caller, session), self._turns.waiting(caller)
        if mine >= allowed.queued or all_of_it >= _QUEUED_LIMIT:
            most = mine if mine >= allowed.queued else all_of_it
            raise QueueFull(
                f"You have {most} jobs queued, which is the most: wait_job for one, or cancel_job."
            )

    def _leave(self, job: Job) -> None:
        self._turns.leave(job.id)
        self.serve()

    async def _run(self, job: Job) -> None:
        try:
            with job.scope:
                await self._act(job)
        except anyio.get_cancelled_exc_class():  # the server ends: nobody's turn comes any more
            self._turns.leave(job.id)
            raise
        if not job.over:
            self._end(job, "cancelled")
        self._leave(job)

    async def _act(self, job: Job) -> None:
        try:
            with anyio.move_on_after(_JOB_LIMIT_S) as limit:
                job.result = await job.act(job)
            if limit.cancelled_caught:
                job.result = _overdue(job)
        except EvaluatorError as error:
            if job.whole and isinstance(error, _NO_HOST):
                job.result = _infra(job, NO_HOST, str(error))
            else:
                job.problem = str(error)
        except Exception:
            log.exception("job %s failed", job.id)
            job.result = _failed(job)
        self._end(job, "done")

    def _end(self, job: Job, state: JobState) -> None:
        if job.over:
            return
        job.ended_s = self.clock()
        job.become(state)


def _overdue(job: Job) -> EngineResult:
    cause = (
        f"The job did not end within {_JOB_LIMIT_S:.0f} s, waiting included: is the device busy?"
    )
    return _infra(job, "worker_lost", cause)


def _failed(job: Job) -> EngineResult:
    cause = (
        "The evaluator failed; the candidate is not at fault: see the server's log, and try again."
    )
    return _infra(job, "worker_lost", cause)


def _infra(job: Job, code: str, cause: str) -> EngineResult:
    facts = {"job_id": job.id, "state": "done", "ok": False}
    told = {"status": Status.INFRA_ERROR, "code": code, "cause": cause}
    return EngineResult.model_validate({**facts, **told})
