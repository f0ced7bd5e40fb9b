"""What the tools ask of the evaluator: tasks, candidates, and verdicts as results with what was kept beside them."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_server import build, clean, profile, task_pages
from mcp_server.artifacts import KEPT_S, Artifacts, new_id
from mcp_server.callers import ENGINE, Callers
from mcp_server.contract import EngineResult, Status
from mcp_server.errors import ExecutorUnavailable, UnknownId
from mcp_server.executor import Work
from mcp_server.executors import open_executor
from mcp_server.jobs import AGENTS, ENGINES, Jobs
from mcp_server.lanes import Lanes
from mcp_server.states import States
from mcp_server.tasks import Task, Tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from mcp_server.contract import Mode, Precision, Tolerance
    from mcp_server.executor import Executor, Outcome, WantedStage
    from mcp_server.jobs import Job
    from mcp_server.listings import TaskList, TaskPage
    from mcp_server.setting import Setting
    from mcp_server.tasks import Listed

_BUILD: tuple[WantedStage, ...] = ("build",)
_CHECK: tuple[WantedStage, ...] = ("build", "correctness")
_TIME: tuple[WantedStage, ...] = ("build", "correctness", "timing")
_PROFILE: tuple[WantedStage, ...] = ("build", "correctness", "timing", "profile")
_ALL: tuple[WantedStage, ...] = ("build", "correctness", "timing", "confirm")
Tool = Literal["compile_kernel", "check_kernel", "benchmark_kernel", "profile_kernel"]
"""An agents' tool whose work an engine asks for, under its session's policies."""
_OF_TOOL: Mapping[Tool, tuple[WantedStage, ...]] = {
    "compile_kernel": _BUILD,
    "check_kernel": _CHECK,
    "benchmark_kernel": _TIME,
    "profile_kernel": _PROFILE,
}


_CANDIDATE_CHARACTERS = 20_000_000
"""Of one caller's candidates; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source that travelled once; later calls name it by its id."""

    id: str
    caller: str
    task: Task
    source: str
    device: str
    since: float
    lane: str = ""
    """What its jobs want room on."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How the engine wants an attempt evaluated."""

    precision: Precision = "half"
    tolerance: Tolerance = "budget"
    beat: float | None = None
    attempt_id: str | None = None
    mode: Mode = "quick"
    profile: bool = False
    """Look at where the time goes, in place of confirming."""
    device_name: str = ""
    """The only GPU model that will do; empty: any."""
    tool: Tool | None = None
    """Do no more than this tool does, and show what an agent may see."""
    session: str = ""
    """The caller's name for the search it is of: the searches of one caller take turns."""


@dataclass(slots=True)
class Service:
    """The evaluator behind one server; make it with `open_service`."""

    setting: Setting
    tasks: Tasks
    executor: Executor
    jobs: Jobs
    callers: Callers
    lanes: Lanes
    artifacts: Artifacts = field(default_factory=Artifacts)
    _candidates: dict[str, Candidate] = field(default_factory=dict[str, Candidate])

    async def admit(self, caller: str, task_id: str, source: str, device: str) -> Candidate:
        """Take a candidate in, before anything is started.

        Raises:
            UnknownTask: there is no such task.
            NoSuchDevice: the device is not here.
            NoInterpreter: judge and workers could not run.
        """
        task = self.tasks.get(task_id)
        found = await self._device(device)
        await self.lanes.look(self.executor)
        lane, now = self.lanes.of(device, found), time.monotonic()
        candidate = Candidate(new_id("cand"), caller, task, source, device, now, lane)
        self._candidates[candidate.id] = candidate
        self._forget_old()
        return candidate

    async def _device(self, device: str) -> object:
        """Return the device of a name, None where it is known only once a machine is there again."""
        try:
            return await self.executor.check_device(device)
        except ExecutorUnavailable:
            if not self.callers.may(ENGINE):
                raise
            return None  # its job says that no host is there, and it may come back meanwhile

    async def tell_known(self, task: Task, page: TaskPage) -> None:
        """Add what is known of the devices and of the task; nothing is started."""
        told = await self.executor.told(task)
        page.devices, page.device_titles = list(told.devices), list(told.device_titles)
        page.builds, page.machine = list(told.builds), list(told.machine)
        page.baselines, page.floors = list(told.baselines), list(told.floors)

    def task_page(self, listed: list[Listed], start: int, limit: int) -> TaskList:
        """Return a page of tasks, from a place in their list."""
        states = States(self.setting.home)
        return task_pages.page(listed, start, limit, states, self.setting.python)

    def candidate(self, caller: str, candidate_id: str) -> Candidate:
        """Return a caller's candidate.

        Raises:
            UnknownId: it has none of this id.
        """
        found = self._candidates.get(candidate_id)
        if found is None or found.caller != caller:
            raise UnknownId(
                f"There is no candidate {candidate_id!r}: call compile_kernel with its source again."
            )
        return found

    def compile(self, candidate: Candidate) -> Job:
        """Start a build."""
        return self._start(candidate, _BUILD)

    def check(self, candidate: Candidate) -> Job:
        """Start a build and a comparison with the original."""
        return self._start(candidate, _CHECK)

    def benchmark(self, candidate: Candidate, mode: Mode = "quick") -> Job:
        """Start a build, a comparison and a measurement."""
        return self._start(candidate, _TIME, Wish(mode=mode))

    def profile(self, candidate: Candidate) -> Job:
        """Start a benchmark, and a look at where the time goes."""
        return self._start(candidate, _PROFILE)

    def evaluate(self, candidate: Candidate, wish: Wish) -> Job:
        """Start all stages as one job, shown whole; or what one of the agents' tools does, shown as they see it."""
        if wish.tool is not None:
            return self._start(candidate, _OF_TOOL[wish.tool], wish)
        return self._start(candidate, _PROFILE if wish.profile else _ALL, wish, whole=True)

    def _start(
        self,
        candidate: Candidate,
        stages: tuple[WantedStage, ...],
        wish: Wish | None = None,
        *,
        whole: bool = False,
    ) -> Job:
        chosen = wish or Wish()

        async def act(job: Job) -> EngineResult:
            work = Work(
                id=job.id,
                task=candidate.task,
                source=candidate.source,
                device=candidate.device,
                precision=chosen.precision,
                tolerance=chosen.tolerance,
                beat=chosen.beat,
                stages=stages,
                attempt_id=chosen.attempt_id,
                mode=chosen.mode,
                device_name=chosen.device_name,
            )
            outcome = await self.executor.run(work, job.note)
            await self.lanes.look(self.executor)
            return self._result(candidate, outcome)

        allowance = ENGINES if self.callers.may(ENGINE) else AGENTS
        return self.jobs.start(
            candidate.caller,
            act,
            allowance,
            whole=whole,
            session=chosen.session,
            lane=candidate.lane,
        )

    def _result(self, candidate: Candidate, outcome: Outcome) -> EngineResult:
        verdict = profile.described(outcome)
        keep = self.artifacts.keep
        evidence = json.dumps(outcome.evidence, indent=1) if outcome.evidence else ""
        kept = {
            "build_log_id": keep(candidate.caller, "log", outcome.build_log),
            "output_id": keep(candidate.caller, "out", outcome.output),
            "evidence_id": keep(candidate.caller, "evi", clean.printable(evidence)),
        }
        envelope = {
            "state": "done",
            "ok": verdict.status is Status.OK,
            "candidate_id": candidate.id,
            "advice": build.advice(candidate.source, verdict.build_s),
        }
        return EngineResult.model_validate({**verdict.model_dump(), **envelope, **kept})

    def _forget_old(self) -> None:
        now, kept = time.monotonic(), Counter[str]()
        for found in reversed(list(self._candidates.values())):
            kept[found.caller] += len(found.source)
            if now - found.since > KEPT_S or kept[found.caller] > _CANDIDATE_CHARACTERS:
                del self._candidates[found.id]


@asynccontextmanager
async def open_service(setting: Setting, callers: Callers | None = None) -> AsyncGenerator[Service]:
    """Yield the evaluator; its jobs and processes end with the block."""
    async with open_executor(setting) as executor, anyio.create_task_group() as group:
        lanes = Lanes()
        jobs = Jobs(group, room=lanes.room)
        group.start_soon(jobs.keep_expiring)
        yield Service(setting, Tasks(setting.home), executor, jobs, callers or Callers(), lanes)
        group.cancel_scope.cancel()
