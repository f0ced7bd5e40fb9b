"""The evaluator over MCP: in this process, and as a child that may die."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from mcp import StdioServerParameters

from sessions.errors import EvaluatorAbsent, EvaluatorLost, EvaluatorRefused, JobUnknown
from sessions.evaluator import Ask
from sessions.mcp_evaluator import McpEvaluator, default_places
from sessions.states import SessionState
from tests.fakes import FatedModel
from tests.sessions import scripted_server
from tests.sessions.searches import search

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

LIMIT_S = 60.0


def ask(source: str = "# fate: ok 1.5", task_sha256: str = "") -> Ask:
    return Ask("local/twice", source, "cpu", "fp32", "budget", "c7", task_sha256)


def ignore(_stage: str, _detail: str) -> None:
    pass


@asynccontextmanager
async def within() -> AsyncGenerator[McpEvaluator]:
    evaluator = McpEvaluator(scripted_server.build, places=2)
    try:
        async with asyncio.timeout(LIMIT_S):
            yield evaluator
    finally:
        await evaluator.close()


@asynccontextmanager
async def child() -> AsyncGenerator[McpEvaluator]:
    words = ["-m", "tests.sessions.scripted_server"]
    target = StdioServerParameters(command=sys.executable, args=words)
    evaluator = McpEvaluator(lambda: target, places=2)
    try:
        async with asyncio.timeout(LIMIT_S):
            yield evaluator
    finally:
        await evaluator.close()


async def test_what_an_agents_tool_says_comes_back_as_an_agent_reads_it() -> None:
    async with within() as evaluator:
        job = await evaluator.start(replace(ask(), tool="check_kernel"))
        found = await evaluator.wait(job, ignore)
        whole = await evaluator.wait(await evaluator.start(ask()), ignore)
    assert (found["shown"], found["status"]) == ("ok: check_kernel", "ok")
    assert "shown" not in whole


async def test_a_verdict_comes_back_whole_and_without_nulls() -> None:
    async with within() as evaluator:
        job = await evaluator.start(ask())
        verdict = await evaluator.wait(job, ignore)
    assert verdict["status"] == "ok"
    assert verdict["speedup_ratio"] == 1.5
    assert verdict["attempt_id"] == "c7"
    assert None not in verdict.values()
    assert [] not in verdict.values()


async def test_a_profile_is_asked_for_as_an_evaluation_is() -> None:
    async with within() as evaluator:
        job = await evaluator.start(replace(ask(), profile=True))
        found = await evaluator.wait(job, ignore)
    assert found["hottest"] == ["100% 3.0 µs, 1 calls, own: scripted"]
    assert found["status"] == "ok"


async def test_a_task_whose_text_differs_is_refused_before_anything_is_judged() -> None:
    async with within() as evaluator:
        with pytest.raises(EvaluatorRefused, match="another text of local/twice"):
            await evaluator.start(ask(task_sha256="cd" * 32))
        assert await evaluator.start(ask(task_sha256=scripted_server.SHA))


async def test_the_callers_mistakes_come_back_as_sentences() -> None:
    async with within() as evaluator:
        with pytest.raises(EvaluatorRefused, match="list_tasks shows them"):
            await evaluator.task("local/thrice")
        with pytest.raises(JobUnknown, match="No job"):
            await evaluator.wait("job_99999999", ignore)


async def test_a_cancelled_job_gives_no_verdict() -> None:
    async with within() as evaluator:
        job = await evaluator.start(ask("# slow"))
        await evaluator.cancel(job)
        with pytest.raises(EvaluatorLost, match="cancelled"):
            await evaluator.wait(job, ignore)


async def test_a_child_that_dies_is_lost_and_the_next_call_starts_another() -> None:
    async with child() as evaluator:
        job = await evaluator.start(ask("# die"))
        first = evaluator.endpoint
        with pytest.raises(EvaluatorLost):
            await evaluator.wait(job, ignore)
        again = await evaluator.start(ask())
        assert evaluator.endpoint != first
        assert (await evaluator.wait(again, ignore))["status"] == "ok"


async def test_a_child_that_cannot_start_is_an_absent_evaluator() -> None:
    target = StdioServerParameters(command="/no/such/program")
    evaluator = McpEvaluator(lambda: target, places=1)
    with pytest.raises(EvaluatorAbsent):
        await evaluator.start(ask())
    await evaluator.close()


async def test_a_whole_search_runs_over_mcp(tmp_path: Path) -> None:
    async with child() as evaluator:
        running = search(tmp_path, model=FatedModel(fates=("ok", "compile_error")))
        state = await running.run(evaluator=OwnTask(evaluator))
    assert state is SessionState.FINISHED
    endpoints = {e.endpoint for e in running.of("evaluation_sent")}
    assert len(endpoints) == 1
    assert endpoints.pop().startswith("local-")


class OwnTask:
    """The same evaluator, asked without comparing the task's text: the scripted server has none."""

    def __init__(self, inner: McpEvaluator) -> None:
        self._inner = inner
        self.places = inner.places
        self.wait, self.cancel, self.close = inner.wait, inner.cancel, inner.close
        self.task = inner.task

    @property
    def endpoint(self) -> str:
        return self._inner.endpoint

    async def start(self, asked: Ask) -> str:
        return await self._inner.start(replace(asked, task_sha256=""))


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_a_machine_takes_at_least_one_candidate(device: str) -> None:
    assert 1 <= default_places(device) <= 8
