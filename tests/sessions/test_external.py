"""The engine of an external search: what is handed in twice, and the budgets that end it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions.budget import attempts_left
from sessions.commands import send
from sessions.errors import EvaluatorAbsent
from sessions.guidance import guidance
from sessions.start import create_session
from sessions.states import SessionState
from sessions.steering import status
from tests.fakes import SOURCE, FatedEvaluator, FatedModel
from tests.sessions.searches import Search, request
from tests.sessions.test_control import LIMIT_S, ask, until
from tests.sessions.test_waiting import Ahead, shows

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.evaluator import Ask

MINE = f"# fate: ok 2.0\n{SOURCE.replace('class Model(', 'class ModelNew(')}"
SETTINGS: dict[str, Any] = {"attempts": 3, "idle_hours": 0.5, "places": 2}


def external(under: Path, **limits: float) -> Search:
    """Return an external search of three attempts."""
    held = {"queries": None, "cost_usd": None, "hours": None, "attempts": 3, "idle_hours": 0.5}
    asked = request(strategy="external", models={}, limits={**held, **limits})
    return Search(create_session(replace(asked, settings=SETTINGS, places=2), under))


def handed(number: int = 0, **more: Any) -> dict[str, Any]:
    job = {"job": f"att_{number}", "caller": "me", "client": "mine 1.0", "claimed": "a model"}
    return {
        "source": f"# {number}\n{MINE}",
        "idea": f"idea {number}",
        "author": "mine",
        **job,
        **more,
    }


async def test_what_is_handed_in_twice_is_one_attempt_and_the_last_one_ends_the_search(
    tmp_path: Path,
) -> None:
    running = external(tmp_path)
    for number in (0, 0, 1, 0, 2, 3):
        send(running.folder.journal, "submit", handed(number), author="mine", seen_seq=1)
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert (state.code, attempts_left(state)) == ("attempts", 0)
    assert [t.proposal.idea for t in state.trajectories.values()] == ["idea 0", "idea 1", "idea 2"]
    assert [s.applied for s in state.steers.values()] == [True] * 5 + [False]
    assert list(state.steers.values())[-1].why == "all its attempts are used"
    assert state.persons_steers == []
    assert [a.change for a in state.attempts.values()] == ["idea 0", "idea 1", "idea 2"]
    assert [len(a.remeasured) > 0 for a in state.attempts.values()] == [True] * 3


async def test_left_alone_it_ends_by_its_idle_hours_and_says_what_it_waits_for(
    tmp_path: Path,
) -> None:
    clock, running = Ahead(), external(tmp_path)
    engine = await running.engine(clock=clock)
    task = asyncio.create_task(engine.run())
    async with asyncio.timeout(LIMIT_S):
        await shows(running, "waiting for an attempt")
        await ask(running, "submit", **handed())
        await until(running, lambda s: any(t.closed for t in s.trajectories.values()))
        clock.by_s = 0.4 * 3600
        await asyncio.sleep(0.5)
        assert not task.done()
        clock.by_s = 0.6 * 3600
        assert await task is SessionState.FINISHED
    assert (running.state.code, len(running.state.attempts)) == ("idle", 1)


async def test_its_hours_end_it_too(tmp_path: Path) -> None:
    clock, running = Ahead(), external(tmp_path, hours=0.2, idle_hours=9.0)
    engine = await running.engine(clock=clock)
    task = asyncio.create_task(engine.run())
    async with asyncio.timeout(LIMIT_S):
        await shows(running, "waiting for an attempt")
        clock.by_s = 0.3 * 3600
        assert await task is SessionState.FINISHED
    assert running.state.code == "hours"


async def test_a_guide_is_told_for_as_many_attempts_as_asked_and_nobody_can_be_asked_instead(
    tmp_path: Path,
) -> None:
    running = external(tmp_path)
    journal = running.folder.journal
    send(journal, "guide", {"text": "no atomics", "last": 1}, author="nora", seen_seq=1)
    send(journal, "guide", {"text": "two\nlines", "scope": "candidate:c0"}, seen_seq=1)
    send(journal, "model", {"role": "all", "model": "offline"}, author="nora", seen_seq=1)
    send(journal, "fork", {"candidate": "c0", "count": 1}, author="nora", seen_seq=1)
    send(journal, "submit", handed(), author="mine", seen_seq=1)
    engine = await running.engine(step=True)
    async with asyncio.timeout(LIMIT_S):
        assert await engine.run() is SessionState.STOPPED
    state = running.state
    assert state.cause == "waiting for an attempt"
    first, second, model, fork, _ = state.steers.values()
    assert (status(state, first), status(state, second)) == ("spent", "in force")
    assert state.models == {}
    for refused in (model, fork):
        assert "asks no language model" in refused.why
    assert guidance(state).splitlines()[1:] == ["- about candidate c0: two lines"]


class Gone(FatedEvaluator):
    """An evaluator that goes away after some verdicts."""

    async def start(self, ask: Ask) -> str:
        if len(self.judged) >= 4:
            raise EvaluatorAbsent("no evaluator here")
        return await super().start(ask)


async def test_a_step_ends_too_where_one_task_waits_for_the_other(tmp_path: Path) -> None:
    clock = Ahead()
    settings = {"queries": 12, "places": 4, "width": 2, "ideas": 0, "top": 1, "fixes": 0}
    asked = request(strategy="steady", settings={**settings, "profile_guided": True})
    made = {k: v for k, v in asked.settings.items() if k != "fix_memory"}
    folder = create_session(replace(asked, settings=made, places=4), tmp_path)
    running = Search(folder, FatedModel(fates=("ok",)), Gone())
    engine = await running.engine(clock=clock, step=True)
    task = asyncio.create_task(engine.run())
    async with asyncio.timeout(LIMIT_S):
        while not task.done():
            await asyncio.sleep(0.2)
            clock.by_s += 10
    assert (task.result(), running.state.cause) == (SessionState.STOPPED, "no evaluator here")
    running.evaluator = FatedEvaluator()
    await ask(running, "resume")
    assert await running.run() is SessionState.FINISHED
    assert running.state.spending.queries == 12
