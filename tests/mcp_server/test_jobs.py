"""Jobs with a clock turned by hand."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server.contract import NO_HOST, EngineResult, Status
from mcp_server.errors import HostLost, NoSuchDevice, QueueFull, UnknownId
from mcp_server.jobs import Act, Allowance, Job, Jobs

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def opened(allowance: Allowance, clock: Clock) -> AsyncGenerator[Jobs]:
    async with anyio.create_task_group() as group:
        yield Jobs(group, allowance, clock)
        group.cancel_scope.cancel()


async def told() -> None:
    """Hear nothing."""


async def done(_job: Job) -> EngineResult:
    return EngineResult(ok=True, status=Status.OK)


async def endless(_job: Job) -> EngineResult:
    await anyio.sleep_forever()
    return EngineResult()


async def test_a_job_ends_with_its_result_and_tells_its_stages() -> None:
    heard: list[str] = []

    async def act(job: Job) -> EngineResult:
        for stage in ("build", "timing"):
            job.note(stage)
            await anyio.wait_all_tasks_blocked()
        return EngineResult(ok=True, status=Status.OK)

    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", act)

        async def listen() -> None:
            heard.append(job.stage)

        await jobs.wait(job, 5, listen)
        assert job.answer().ok is True
    assert {"build", "timing"} <= set(heard)


async def test_waiting_ends_with_its_time_and_the_job_goes_on() -> None:
    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", endless)
        await jobs.wait(job, 0, told)
        await anyio.wait_all_tasks_blocked()
        pending = job.answer()
        assert (pending.state, pending.ok, pending.job_id) == ("running", None, job.id)


async def test_a_third_job_waits_for_room_and_a_full_queue_is_refused() -> None:
    async with opened(Allowance(running=2, queued=3), Clock()) as jobs:
        started = [jobs.start("local", endless) for _ in range(2)]
        await anyio.wait_all_tasks_blocked()
        queued = [jobs.start("local", endless) for _ in range(3)]
        await anyio.wait_all_tasks_blocked()
        assert [j.state for j in started] == ["running", "running"]
        assert {j.state for j in queued} == {"queued"}
        with pytest.raises(QueueFull, match="3 jobs queued"):
            jobs.start("local", endless)
        other = jobs.start("another", endless)
        await anyio.wait_all_tasks_blocked()
        assert other.state == "running"
        jobs.cancel(started[0])
        await anyio.wait_all_tasks_blocked()
        assert queued[0].state == "running"


async def test_cancelling_a_finished_job_changes_nothing() -> None:
    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", done)
        await jobs.wait(job, 5, told)
        jobs.cancel(job)
        assert (job.state, job.answer().ok) == ("done", True)


async def test_a_cancelled_job_says_so_at_once() -> None:
    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", endless)
        await anyio.wait_all_tasks_blocked()
        jobs.cancel(job)
        assert job.answer().state == "cancelled"
        assert job.answer().ok is False


async def test_a_queued_job_expires_when_nobody_asks_and_lives_when_somebody_does() -> None:
    clock = Clock()
    async with opened(Allowance(running=1), clock) as jobs:
        jobs.start("local", endless)
        await anyio.wait_all_tasks_blocked()
        forgotten, asked = jobs.start("local", endless), jobs.start("local", endless)
        clock.now += 200
        jobs.get("local", asked.id)
        clock.now += 200
        jobs.expire()
        assert (forgotten.state, asked.state) == ("expired", "queued")


async def test_results_live_an_hour_and_belong_to_their_caller() -> None:
    clock = Clock()
    async with opened(Allowance(), clock) as jobs:
        job = jobs.start("local", done)
        await jobs.wait(job, 5, told)
        with pytest.raises(UnknownId):
            jobs.get("another", job.id)
        clock.now += 3599
        jobs.expire()
        assert jobs.get("local", job.id) is job
        clock.now += 2
        jobs.expire()
        with pytest.raises(UnknownId, match="an hour"):
            jobs.get("local", job.id)


async def test_a_caller_s_mistake_found_while_running_is_kept_as_a_sentence() -> None:
    async def act(_job: Job) -> EngineResult:
        raise NoSuchDevice("There is no device 'cuda:9' here: use cpu.")

    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", act)
        await jobs.wait(job, 5, told)
        assert job.problem == "There is no device 'cuda:9' here: use cpu."


async def test_that_no_machine_will_do_is_an_engine_s_result_and_others_sentence() -> None:
    async def act(_job: Job) -> EngineResult:
        raise HostLost("No host was there to evaluate within 60 s.")

    async with opened(Allowance(), Clock()) as jobs:
        engine_s, agent_s = jobs.start("a", act, whole=True), jobs.start("b", act)
        await jobs.wait(engine_s, 5, told)
        await jobs.wait(agent_s, 5, told)
        answer = engine_s.answer()
        assert (answer.status, answer.code, answer.state) == (Status.INFRA_ERROR, NO_HOST, "done")
        assert (engine_s.problem, answer.cause) == (None, agent_s.problem)


async def test_a_crash_of_ours_is_an_infrastructure_error(caplog: pytest.LogCaptureFixture) -> None:
    async def act(_job: Job) -> EngineResult:
        raise RuntimeError("boom")

    async with opened(Allowance(), Clock()) as jobs:
        job = jobs.start("local", act)
        await jobs.wait(job, 5, told)
        answer = job.answer()
    assert (answer.status, answer.code, answer.ok) == (Status.INFRA_ERROR, "worker_lost", False)
    assert "boom" not in (answer.cause or "")
    assert "boom" in caplog.text


async def test_a_caller_with_many_jobs_does_not_starve_one_with_one() -> None:
    order: list[str] = []
    gate = anyio.Event()

    def act(name: str) -> Act:
        async def run(_job: Job) -> EngineResult:
            order.append(name)
            await gate.wait()
            return EngineResult(ok=True, status=Status.OK)

        return run

    async with anyio.create_task_group() as group:
        jobs = Jobs(group, Allowance(16, 64), room=lambda _lane: 1)
        many = [jobs.start("many", act("many")) for _ in range(16)]
        one = jobs.start("one", act("one"))
        await anyio.wait_all_tasks_blocked()
        assert (order, one.state) == (["many"], "queued")
        gate.set()
        await jobs.wait(many[-1], 5, told)
        assert order.index("one") <= 2
        group.cancel_scope.cancel()


async def test_each_session_of_a_caller_has_its_own_allowance() -> None:
    async with opened(Allowance(running=1, queued=1), Clock()) as jobs:
        first = [jobs.start("local", endless, session="s1") for _ in range(2)]
        second = [jobs.start("local", endless, session="s2") for _ in range(2)]
        assert [j.state for j in (*first, *second)] == ["running", "queued"] * 2
        with pytest.raises(QueueFull, match="1 jobs queued"):
            jobs.start("local", endless, session="s1")


async def test_the_turn_of_a_cancelled_job_goes_to_the_next_once_its_work_has_ended() -> None:
    freed = anyio.Event()

    async def slow_to_end(_job: Job) -> EngineResult:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await freed.wait()
        return EngineResult()

    async with anyio.create_task_group() as group:
        jobs = Jobs(group, room=lambda _lane: 1)
        first, second = jobs.start("a", slow_to_end), jobs.start("b", endless)
        await anyio.wait_all_tasks_blocked()
        jobs.cancel(first)
        await anyio.wait_all_tasks_blocked()
        assert (first.state, second.state) == ("cancelled", "queued")
        freed.set()
        await anyio.wait_all_tasks_blocked()
        assert second.state == "running"
        group.cancel_scope.cancel()


async def test_room_that_appears_is_used_and_a_lane_without_any_still_answers() -> None:
    room = {"gone": 0, "here": 1}
    async with anyio.create_task_group() as group:
        jobs = Jobs(group, Allowance(running=3), room=room.__getitem__)
        started = [jobs.start("a", endless, lane="here") for _ in range(2)]
        refused = jobs.start("a", endless, lane="gone")
        assert [j.state for j in (*started, refused)] == ["running", "queued", "running"]
        room["here"] = 2
        jobs.serve()
        assert started[1].state == "running"
        group.cancel_scope.cancel()
