"""A clock that jumps, a folder that is removed: the engine goes on, or ends by itself."""

from __future__ import annotations

import asyncio
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from sessions import budget
from sessions.errors import StorageFailed
from sessions.fold import apply
from sessions.journal import Reader
from sessions.model import State
from sessions.states import SessionState
from tests.fakes import FatedModel
from tests.sessions.searches import Search, search
from tests.sessions.test_control import LIMIT_S, ask, engine, until

if TYPE_CHECKING:
    from pathlib import Path


class JumpingClock:
    """The real clock, set to another time when a test says so."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        return time.time() + self.ahead_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def heartbeat(running: Search) -> float:
    with Reader(running.folder.journal) as reader:
        return reader.live()[0]


async def test_a_clock_set_back_silences_nobody_and_makes_no_time_negative(tmp_path: Path) -> None:
    clock, hold = JumpingClock(), asyncio.Event()
    limits = {"queries": 12, "cost_usd": None, "hours": 1.0}
    running = search(tmp_path, model=FatedModel(hold=hold), limits=limits)
    async with engine(running, clock=clock) as task:
        await until(running, lambda s: s.in_flight)
        clock.ahead_s = -7200
        before = heartbeat(running)
        async with asyncio.timeout(LIMIT_S):
            while heartbeat(running) >= before:  # noqa: ASYNC110 - a row of another's
                await asyncio.sleep(0.05)
        await ask(running, "budget", hours=0.5)
        await until(running, lambda s: s.steers)
        hold.set()
        assert await task is SessionState.FINISHED
    assert running.state.steers["s1"].applied
    assert running.state.code == "queries"
    state = State()
    for fact in running.facts:
        apply(state, fact)
        assert state.spending.running_s >= 0
        assert budget.running_s(state, fact.at) >= 0


async def test_an_engine_whose_folder_is_removed_ends_by_itself(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(hold=asyncio.Event()))
    async with engine(running) as task:
        await until(running, lambda s: s.in_flight)
        shutil.rmtree(running.folder.path)
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(StorageFailed, match="was removed; its search ends here"):
                await task
