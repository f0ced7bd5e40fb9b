"""Pausing, stopping, going on: nothing new fires, nothing paid is thrown away."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sessions.commands import send
from sessions.states import SessionState
from tests.fakes import FatedEvaluator, FatedModel, refused, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from sessions.model import State

LIMIT_S = 20.0


async def until(running: Search, seen: Callable[[State], object]) -> State:
    """Wait until the journal shows it."""
    async with asyncio.timeout(LIMIT_S):
        while not seen(running.state):  # noqa: ASYNC110 - the journal is a file of another's
            await asyncio.sleep(0.02)
    return running.state


async def ask(running: Search, act: str, **args: object) -> None:
    """Send a command as a viewer does, while the engine's own transactions can end."""
    journal, seq = running.folder.journal, running.state.seq
    await asyncio.to_thread(send, journal, act, args, author="ada", seen_seq=seq)


@asynccontextmanager
async def engine(running: Search, **changes: Any) -> AsyncGenerator[asyncio.Task[SessionState]]:
    """Run an engine beside the test."""
    task = asyncio.create_task(running.run(**changes))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


def paused(state: State) -> bool:
    return state.state is SessionState.PAUSED


async def test_a_pause_lets_what_is_in_flight_finish_and_starts_nothing(tmp_path: Path) -> None:
    hold = asyncio.Event()
    running = search(tmp_path, model=FatedModel(hold=hold))
    async with engine(running) as task:
        hold.set()
        await until(running, lambda s: len(s.attempts) >= 2)
        hold.clear()
        await until(running, lambda s: s.in_flight)
        await ask(running, "pause")
        state = await until(running, paused)
        assert (state.code, state.cause_author) == ("asked", "ada")
        sent = len(state.queries)
        hold.set()
        await until(running, lambda s: not s.in_flight)
        await asyncio.sleep(0.6)
        assert len(running.state.queries) == sent
        await ask(running, "resume")
        assert await task is SessionState.FINISHED
    assert running.state.spending.queries == 12


async def test_pausing_now_cancels_evaluations_and_keeps_paid_answers(tmp_path: Path) -> None:
    evaluator = FatedEvaluator(hold=asyncio.Event())
    running = search(tmp_path, evaluator=evaluator)
    async with engine(running) as task:
        await until(running, lambda s: any(a.evaluating for a in s.attempts.values()))
        await ask(running, "pause", now=True)
        await until(running, paused)
        async with asyncio.timeout(LIMIT_S):
            while not evaluator.cancelled:  # noqa: ASYNC110 - a list, filled by the engine
                await asyncio.sleep(0.02)
        answered = {q.id for q in running.state.queries.values() if q.end == "done"}
        assert answered
        assert evaluator.hold is not None
        evaluator.hold.set()
        await ask(running, "resume")
        assert await task is SessionState.FINISHED
    assert not [q for q in running.state.queries.values() if q.end == "lost"]
    assert all(a.commit for a in running.state.attempts.values())


async def test_stopping_waits_for_calls_in_flight_and_resuming_goes_on(tmp_path: Path) -> None:
    hold = asyncio.Event()
    running = search(tmp_path, model=FatedModel(hold=hold))
    async with engine(running) as task:
        await until(running, lambda s: s.in_flight)
        await ask(running, "stop")
        await until(running, paused)
        assert not task.done()
        hold.set()
        assert await task is SessionState.STOPPED
    assert not running.state.in_flight
    assert await running.run() is SessionState.STOPPED, "without a resume it stays stopped"
    await ask(running, "resume")
    assert await running.run() is SessionState.FINISHED
    assert running.state.spending.queries == 12


async def test_stopping_now_loses_calls_in_flight_and_counts_them(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(hold=asyncio.Event()))
    async with engine(running) as task:
        await until(running, lambda s: s.in_flight)
        await ask(running, "stop", now=True)
        assert await task is SessionState.STOPPED
    assert [q.end for q in running.state.queries.values()] == ["lost"]
    assert running.state.spending.queries == 1


async def test_three_failed_queries_in_a_row_pause_the_session(tmp_path: Path) -> None:
    model = FatedModel(fail=lambda request: unanswered() if request.step == 0 else None)
    running = search(tmp_path, model=model, settings={"ideas": 0, "fixes": 0})
    async with engine(running) as task:
        state = await until(running, paused)
        assert state.code == "queries_failed"
        assert "HTTP 503" in state.cause
        assert not task.done()


async def test_a_refused_key_pauses_the_session_and_costs_nothing(tmp_path: Path) -> None:
    broken = True
    model = FatedModel(fail=lambda _request: refused() if broken else None)
    running = search(tmp_path, model=model)
    async with engine(running) as task:
        state = await until(running, paused)
        assert (state.code, state.spending.queries) == ("bad_key", 0)
        assert "FATED_API_KEY" in state.cause
        broken = False
        await ask(running, "resume")
        assert await task is SessionState.FINISHED
    assert running.state.spending.queries == 12


async def test_a_fault_of_the_evaluator_is_tried_twice_more_and_shown_to_no_model(
    tmp_path: Path,
) -> None:
    model = FatedModel(fates=("ok",))
    evaluator = FatedEvaluator(faults={"c2": ["gpu_unhealthy"] * 3, "c3": ["worker_lost", "died"]})
    running = search(tmp_path, model=model, evaluator=evaluator)
    assert await running.run() is SessionState.FINISHED
    state = running.state
    gone, saved = state.attempts["c2"], state.attempts["c3"]
    assert (gone.kind, gone.turns) == ("unavailable", 3)
    assert state.trajectories[gone.proposal].closed == "lost"
    assert (saved.kind, saved.turns) == ("correct", 3)
    assert not [q for q in state.queries.values() if q.proposal == gone.proposal and q.step]
    assert gone.commit


async def test_what_a_cpu_cannot_check_goes_back_to_the_fixing_agent_at_once(
    tmp_path: Path,
) -> None:
    running = search(tmp_path, model=FatedModel(fates=("not_checkable",)))
    assert await running.run() is SessionState.FINISHED
    roles = {q.role for q in running.state.queries.values() if q.step}
    assert roles == {"fix-unchecked"}
    assert {a.turns for a in running.state.attempts.values()} == {1}


async def test_a_missing_evaluator_is_waited_for(tmp_path: Path) -> None:
    evaluator = FatedEvaluator(absent=1)
    running = search(tmp_path, evaluator=evaluator)
    async with engine(running) as task:
        async with asyncio.timeout(LIMIT_S):
            assert await task is SessionState.FINISHED
    assert running.of("paused") == []


@pytest.mark.parametrize("code", ["stochastic", "too_large"])
async def test_an_unfit_task_ends_before_it_costs_anything(tmp_path: Path, code: str) -> None:
    running = search(tmp_path, evaluator=FatedEvaluator(unfit=code))
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert state.code == "task_unfit"
    assert code in state.cause
    assert state.queries == {}


async def test_hours_end_the_search(tmp_path: Path) -> None:
    running = search(tmp_path, limits={"queries": 1000, "cost_usd": None, "hours": 0.0003})
    assert await running.run() is SessionState.FINISHED
    assert running.state.code == "hours"
    assert not running.state.open
    assert running.state.spending.queries_reserved == 0


async def test_money_ends_the_search_without_going_above_its_limit(tmp_path: Path) -> None:
    model = FatedModel(price_usd=0.03, estimate=0.05)
    limits = {"queries": 1000, "cost_usd": 0.40, "hours": None}
    running = search(tmp_path, model=model, limits=limits)
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert state.code == "cost"
    assert 0.34 < state.spending.cost_usd <= 0.40
    assert state.spending.cost_reserved_usd == 0


async def test_a_raised_limit_lets_a_finished_search_go_on(tmp_path: Path) -> None:
    running = search(tmp_path)
    await running.run()
    await ask(running, "budget", queries=20)
    await ask(running, "resume")
    assert await running.run() is SessionState.FINISHED
    assert running.state.spending.queries == 20
