"""What comes from outside, later: answers, evaluators, the end of the hours."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from sessions import gpu
from sessions.clock import SystemClock
from sessions.journal import Reader
from sessions.models.port import NoAnswerYet
from sessions.recovery import CRASHED
from sessions.states import SessionState
from tests.fakes import FatedEvaluator, FatedModel
from tests.sessions.searches import Search, search
from tests.sessions.test_control import LIMIT_S, ask, engine, paused, until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Ahead(SystemClock):
    """A clock that can be put forward."""

    by_s = 0.0

    def now(self) -> float:
        return time.time() + self.by_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.05))


async def shows(running: Search, waits_for: str) -> None:
    """Wait until viewers are told what is awaited."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            with Reader(running.folder.journal) as reader:
                if reader.live()[1].get("waits_for") == waits_for:
                    return
            await asyncio.sleep(0.02)


async def test_an_answer_from_outside_is_waited_for_and_costs_nothing_meanwhile(
    tmp_path: Path,
) -> None:
    there = False
    model = FatedModel(network=False, fail=lambda _r: None if there else NoAnswerYet("not yet"))
    running = search(tmp_path, model=model)
    async with engine(running) as task:
        await shows(running, "waiting for 1 reply")
        assert running.state.spending.queries == 0
        there = True
        assert await task is SessionState.FINISHED
    assert running.state.spending.queries == 12


async def test_a_query_to_this_machine_is_not_lost_but_asked_again_with_the_same_prompt(
    tmp_path: Path,
) -> None:
    model = FatedModel(network=False, fail=lambda _r: NoAnswerYet("not yet"))
    running = search(tmp_path, model=model)
    async with engine(running) as task:
        await until(running, lambda s: s.in_flight)
        await ask(running, "stop", now=True)
        assert await task is SessionState.STOPPED
    before = running.state.in_flight
    assert [q.id for q in before] == ["q1"]
    model.fail = lambda _r: None
    await ask(running, "resume")
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert state.queries["q1"].end == "done"
    assert state.spending.queries == 12
    assert not [q for q in state.queries.values() if q.end == "lost"]


async def test_calls_in_flight_have_a_quarter_of_an_hour_after_the_hours_are_over(
    tmp_path: Path,
) -> None:
    clock = Ahead()
    model = FatedModel(hold=asyncio.Event())
    limits = {"queries": 100, "cost_usd": None, "hours": 1.0}
    running = search(tmp_path, model=model, limits=limits, settings={"ideas": 0})
    made = await running.engine(clock=clock)
    task = asyncio.create_task(made.run())
    async with asyncio.timeout(LIMIT_S):
        await until(running, lambda s: len(s.in_flight) == 3)
        clock.by_s = 3600 + 60
        await asyncio.sleep(0.3)
        assert not task.done(), "they may still arrive"
        clock.by_s = 3600 + 16 * 60
        assert await task is SessionState.FINISHED
    state = running.state
    assert state.code == "hours"
    assert {q.end for q in state.queries.values()} == {"lost"}
    assert {t.closed for t in state.trajectories.values()} == {"budget"}


async def test_an_original_that_something_disturbs_is_measured_again_and_then_pauses(
    tmp_path: Path,
) -> None:
    evaluator = Disturbed()
    running = search(tmp_path, evaluator=evaluator)
    async with engine(running) as task:
        state = await until(running, paused)
        assert (state.code, evaluator.times) == ("evaluator", 3)
        assert "disturbs_baseline" in state.cause
        evaluator.calm = True
        await ask(running, "resume")
        assert await task is SessionState.FINISHED
    assert running.state.code == "queries"


class Disturbed(FatedEvaluator):
    """A machine on which the original is slower beside itself, until it is calm."""

    calm = False
    times = 0

    async def wait(self, job: str, on_stage: object) -> dict[str, object]:
        if self.calm or self.jobs[job].attempt != "c0":
            return await super().wait(job, lambda _stage, _detail: None)
        self.times += 1
        return {"status": "rejected", "code": "disturbs_baseline", "cause": "slower beside it"}


async def test_a_search_left_running_goes_on_and_says_so(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(hold=asyncio.Event()))
    async with engine(running) as task:
        await until(running, lambda s: s.in_flight)
        task.cancel()
        await asyncio.wait([task])
    running.model = FatedModel()
    assert await running.run() is SessionState.FINISHED
    assert [r.cause for r in running.of("resumed")] == [CRASHED]
    assert len(running.of("query_lost")) == 1


async def test_the_file_of_from_is_handed_in_first_and_joins_the_search(tmp_path: Path) -> None:
    source = "# change: by hand\n# fate: ok 9.0\nclass ModelNew:\n    pass\n"
    running = search(tmp_path, origin="mine.py", origin_source=source)
    await running.run()
    state = running.state
    first = next(iter(state.attempts.values()))
    assert (first.proposal, first.author, first.speedup) == ("h1", "human", 9.0)
    assert first.commit
    assert state.trajectories["h1"].closed == "works"
    assert state.spending.queries == 12, "a submission is no query"
    parents = {
        t.proposal.parent for t in state.trajectories.values() if t.proposal.role == "improve"
    }
    assert first.id in parents


async def test_a_machine_without_a_gpu_has_no_reading(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await gpu.reading("cuda:0") is None
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 87, 61, [N/A], 144384'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    expected = {"name": "NVIDIA H200", "util": 87.0, "temp": 61.0, "mem_used": None}
    assert await gpu.reading("cuda:0") == {**expected, "mem_total": 144384.0}
    assert gpu.parsed("no devices were found") is None
