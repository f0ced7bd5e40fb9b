"""An evaluator that fails, vanishes or has another GPU: nothing is charged, and the search goes on by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import StdioServerParameters

from sessions.endpoints import Here, pool, read
from sessions.errors import EvaluatorAbsent
from sessions.experiments.places import Pool, placed_evaluator
from sessions.machine_places import MachinePlaces
from sessions.mcp_evaluator import McpEvaluator
from sessions.states import SessionState
from tests.fakes import FatedEvaluator
from tests.sessions.searches import search
from tests.sessions.test_control import LIMIT_S, ask, engine, paused, until
from tests.sessions.test_mcp_evaluator import ask as asked
from tests.sessions.test_waiting import Ahead, shows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.evaluator import OnStage
    from tests.sessions.searches import Search


@dataclass
class Failing(FatedEvaluator):
    """Judges the original, then nothing until it is whole again."""

    broken: bool = True
    absent_in_wait: bool = False
    failed: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        self.asked.append(self.jobs[job].attempt)
        if self.broken and len(self.asked) > 1:
            self.failed += 1
            if self.absent_in_wait:
                raise EvaluatorAbsent("no host is left")
            return {"status": "infra_error", "code": "worker_lost", "cause": "its host is gone"}
        return await super().wait(job, on_stage)


async def run_to(running: Search, state: SessionState = SessionState.FINISHED) -> None:
    made = await running.engine(clock=Ahead())
    async with asyncio.timeout(LIMIT_S):
        assert await made.run() is state


def results(running: Search) -> list[tuple[str, str, int]]:
    return sorted((a.id, a.kind, a.step) for a in running.state.attempts.values())


async def seen(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_a_broken_evaluator_is_waited_for_and_charges_no_attempt_query_or_fix(
    tmp_path: Path,
) -> None:
    whole = search(tmp_path / "whole")
    await whole.run()
    evaluator = Failing()
    running = search(tmp_path / "broken", evaluator=evaluator)
    task = asyncio.create_task(run_to(running))
    await shows(running, "the evaluator fails: infra_error, worker_lost, its host is gone")
    state = running.state
    assert state.state is SessionState.RUNNING
    assert not [a for a in state.attempts.values() if a.kind]
    assert {"c0"} < set(evaluator.asked), (
        "the original tells a broken evaluator from a bad candidate"
    )
    evaluator.broken = False
    await task
    assert results(running) == results(whole)
    assert running.state.spending.queries == whole.state.spending.queries


async def test_a_job_for_which_nobody_is_left_is_no_turn(tmp_path: Path) -> None:
    evaluator = Failing(absent_in_wait=True)
    running = search(tmp_path, evaluator=evaluator)
    task = asyncio.create_task(run_to(running))
    await shows(running, "no evaluator here")
    await seen(lambda: evaluator.failed >= 10)
    evaluator.broken = False
    await task
    assert {a.kind for a in running.state.attempts.values()} >= {"correct"}
    assert "unavailable" not in {a.kind for a in running.state.attempts.values()}
    assert {sent.turn for sent in running.of("evaluation_sent")} == {1}


class OtherModel(FatedEvaluator):
    """Has one GPU model for the original, and for every second job another."""

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        found = await super().wait(job, on_stage)
        other = int(job.partition("-")[2]) % 2 == 0
        return {**found, "device_name": "NVIDIA H200 NVL" if other else "NVIDIA H200"}


async def test_a_verdict_of_another_gpu_model_is_never_kept(tmp_path: Path) -> None:
    running = search(tmp_path, evaluator=OtherModel(places=1), settings={"places": 1})
    await run_to(running)
    kept = {a.verdict.get("device_name") for a in running.state.attempts.values()}
    assert kept == {"NVIDIA H200"}
    assert max(sent.turn for sent in running.of("evaluation_sent")) > 1


async def test_a_paused_search_leaves_the_line_for_a_place(tmp_path: Path) -> None:
    mine, others = MachinePlaces(tmp_path, "mine"), MachinePlaces(tmp_path, "others")
    evaluator = placed_evaluator(FatedEvaluator(), Pool(mine, "evaluations", 1))
    running = search(tmp_path)
    try:
        held = await others.take("evaluations", 1)
        async with engine(running, evaluator=evaluator) as task:
            await seen(lambda: len(others.rows("evaluations")) == 2)
            await ask(running, "pause")
            await until(running, paused)
            await seen(lambda: len(others.rows("evaluations")) == 1)
            others.free(held)
            await ask(running, "resume")
            assert await task is SessionState.FINISHED
        assert others.rows("evaluations") == []
    finally:
        mine.close()
        others.close()


async def test_sessions_of_one_machine_share_the_places_of_each_of_its_devices(
    tmp_path: Path,
) -> None:
    mine, others = MachinePlaces(tmp_path, "mine"), MachinePlaces(tmp_path, "others")
    here = Here("best-effort", "", "cpu", shared=mine)
    pools = [f"evaluations on {device}" for device in ("cpu", "cuda:0")]
    children = [here.child(1), here.child(1, "cuda:0")]
    try:
        held = [await others.take(pool, 1) for pool in pools]
        starts = [asyncio.create_task(one.start(asked())) for one in children]
        await seen(lambda: all(len(others.rows(pool)) == 2 for pool in pools))
        for ticket in held:
            others.free(ticket)
        await seen(lambda: all(row[2] for pool in pools for row in others.rows(pool)))
        for start in starts:
            start.cancel()
        await asyncio.wait(starts)
        assert [others.rows(pool) for pool in pools] == [[], []]
    finally:
        for one in children:
            await one.close()
        mine.close()
        others.close()


def children_of(pid: int) -> list[int]:
    """Return the children of a process, on Linux."""
    return [
        int(n)
        for t in Path(f"/proc/{pid}/task").iterdir()
        for n in (t / "children").read_text().split()
    ]


def scripted(here: int) -> int:
    """Return the scripted server among this process's children."""
    for pid in children_of(here):
        if b"tests.sessions.scripted_server" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    raise LookupError("no scripted server runs")


async def test_a_server_killed_while_it_evaluates_costs_nothing(tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    hang.write_text("", encoding="utf-8")
    words = ["-m", "tests.sessions.scripted_server"]
    environ = {**os.environ, "PIKE_TEST_HANG": str(hang)}
    target = StdioServerParameters(command=sys.executable, args=words, env=environ)
    evaluator = McpEvaluator(lambda: target, places=1)
    running = search(tmp_path, settings={"places": 1})
    async with engine(running, evaluator=evaluator) as task:
        await until(running, lambda s: any(a.evaluating for a in s.attempts.values()))
        os.kill(scripted(os.getpid()), signal.SIGKILL)
        hang.unlink()
        assert await task is SessionState.FINISHED
    state = running.state
    assert "unavailable" not in {a.kind for a in state.attempts.values()}
    assert state.spending.queries == 12
    assert [sent.turn for sent in running.of("evaluation_sent")].count(2) == 1


async def test_a_search_waits_for_a_host_of_its_gpu_model_and_says_why(tmp_path: Path) -> None:
    there = tmp_path / "title"
    words = [sys.executable, "-m", "tests.sessions.scripted_server", "cpu", f"@{there}"]
    found = pool(read({"far": {"command": words, "places": 1}}), Here("best-effort", "", "cpu"), {})
    running = search(tmp_path, evaluator=FatedEvaluator(), device="cpu")
    async with engine(running) as task:
        await until(running, lambda s: s.baseline)
        await ask(running, "stop")
        assert await task is SessionState.STOPPED
    before = running.state.baseline
    assert before is not None
    there.write_text("another CPU", encoding="utf-8")
    await ask(running, "resume")
    async with engine(running, evaluator=found, clock=Ahead()) as task:
        await shows(
            running,
            "no evaluator here: far: cpu is another CPU, and this session is measured on a test CPU",
        )
        there.write_text(before.device_name, encoding="utf-8")
        assert await task is SessionState.FINISHED
    assert {a.verdict.get("device_name") for a in running.state.attempts.values()} <= {
        None,
        "a test CPU",
    }


class Crowded(FatedEvaluator):
    """Has no memory for anything, the original included, until others let go."""

    full: bool = True
    refused: int = 0

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        if self.full:
            self.refused += 1
            cause = "its memory is full"
            return {"status": "infra_error", "code": "neighbour_on_gpu", "cause": cause}
        return await super().wait(job, on_stage)


async def test_memory_that_others_hold_is_waited_for_however_long_it_takes(tmp_path: Path) -> None:
    whole = search(tmp_path / "whole")
    await whole.run()
    evaluator = Crowded()
    running = search(tmp_path / "crowded", evaluator=evaluator)
    task = asyncio.create_task(run_to(running))
    await shows(running, "waits for memory: infra_error, neighbour_on_gpu, its memory is full")
    await seen(lambda: evaluator.refused >= 10)
    assert running.state.state is SessionState.RUNNING
    evaluator.full = False
    await task
    assert results(running) == results(whole)
    assert {sent.turn for sent in running.of("evaluation_sent")} == {1}


class Greedy(FatedEvaluator):
    """Has memory for the original, and for no candidate beside what others always hold."""

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        if self.jobs[job].attempt != "c0":
            return {"status": "infra_error", "code": "neighbour_on_gpu", "cause": "too little left"}
        return await super().wait(job, on_stage)


async def test_a_candidate_that_never_finds_memory_where_the_original_does_is_given_up(
    tmp_path: Path,
) -> None:
    running = search(tmp_path, evaluator=Greedy())
    await run_to(running)
    kinds = {a.kind for a in running.state.attempts.values() if a.id != "c0"}
    assert kinds == {"unavailable"}
