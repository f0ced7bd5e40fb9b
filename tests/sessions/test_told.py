"""A person is told whenever a search pauses that nobody paused; what ends is measured once more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from sessions.baseline import REMEASURED
from sessions.models.port import ReplayMiss
from sessions.states import SessionState
from tests.fakes import SOURCE, FatedEvaluator, FatedModel, refused, unanswered, verdict_on
from tests.sessions.searches import search
from tests.sessions.test_control import LIMIT_S, ask, engine, paused, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.evaluator import OnStage
    from sessions.models.port import Request


class Told(list[tuple[SessionState, str]]):
    """What a person was told."""

    def __call__(self, state: SessionState, cause: str) -> None:
        self.append((state, cause))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (refused, "FATED_API_KEY"),
        (lambda: ReplayMiss("the session asked nothing like it"), "asked nothing like it"),
        (unanswered, "3 queries failed in a row"),
    ],
    ids=["a refused key", "a replay miss", "three failures"],
)
async def test_a_search_that_pauses_by_itself_tells_its_person_once(
    tmp_path: Path, error: Callable[[], Exception], words: str
) -> None:
    told = Told()
    running = search(tmp_path, model=FatedModel(fail=lambda _request: error()))
    async with engine(running, notify=told):
        await until(running, paused)
    assert [state for state, _ in told] == [SessionState.PAUSED]
    assert words in told[0][1]


async def test_a_pause_that_a_person_asked_for_tells_nobody(tmp_path: Path) -> None:
    told = Told()
    running = search(tmp_path)
    await ask(running, "pause")
    async with engine(running, notify=told):
        await until(running, paused)
    assert not told


async def test_a_search_that_ends_tells_its_person_once(tmp_path: Path) -> None:
    told = Told()
    running = search(tmp_path)
    assert await running.run(notify=told) is SessionState.FINISHED
    ends = [one for one in told if one[0] is not SessionState.RUNNING]
    assert ends == [(SessionState.FINISHED, running.state.cause)]


async def test_a_search_that_asks_something_goes_on_and_tells_its_person_once(
    tmp_path: Path,
) -> None:
    told, hold = Told(), asyncio.Event()
    model = FatedModel(fates=("ok",), hold=hold)
    running = search(tmp_path, model=model, settings={"ideas": 0, "queries": 10, "width": 8})
    running.model.fail = lambda request: hold.clear() if request.proposal == "p8" else None
    async with engine(running, notify=told) as task:
        hold.set()
        await until(running, lambda s: s.spending.queries >= 8)
        async with asyncio.timeout(LIMIT_S):
            while not told:  # noqa: ASYNC110 - the engine's heartbeat fills it
                await asyncio.sleep(0.05)
        await asyncio.sleep(1.2)
        assert told == [(SessionState.RUNNING, "80 % of the queries are used")]
        hold.set()
        assert await task is SessionState.FINISHED


async def test_a_new_engine_does_not_ask_again_what_the_last_one_asked(tmp_path: Path) -> None:
    told, hold = Told(), asyncio.Event()
    model = FatedModel(fates=("ok",), hold=hold)
    running = search(tmp_path, model=model, settings={"ideas": 0, "queries": 10, "width": 8})
    running.model.fail = lambda request: hold.clear() if request.proposal == "p8" else None
    async with engine(running) as task:
        hold.set()
        await until(running, lambda s: s.spending.queries >= 8)
        await ask(running, "stop", now=True)
        assert await task is SessionState.STOPPED
    await ask(running, "resume")
    async with engine(running, notify=told) as task:
        hold.set()
        assert await task is SessionState.FINISHED
    assert [state for state, _ in told] == [SessionState.FINISHED]


class OneMind(FatedModel):
    """A model that answers everything with the same candidate."""

    def _text(self, request: Request) -> str:
        if request.prompt.role == "ideas":
            return super()._text(request)
        return f"```python\n# fate: ok 1.5\n{SOURCE.replace('class Model(', 'class ModelNew(')}```"


async def test_attempts_with_the_same_source_are_measured_again_once(tmp_path: Path) -> None:
    running = search(tmp_path, model=OneMind())
    assert await running.run() is SessionState.FINISHED
    assert len({attempt.source_key for attempt in running.state.attempts.values()}) == 1
    assert len(running.state.attempts) > 4
    leader = running.state.leader
    assert leader is not None
    assert [fact.candidate for fact in running.of("remeasured")] == [leader.id]


class TwoMinds(FatedModel):
    """A model whose first candidates are twice as fast as all that follow."""

    def _text(self, request: Request) -> str:
        if request.prompt.role == "ideas":
            return super()._text(request)
        speed = 3.0 if request.prompt.role == "start" and len(self.asked) <= 3 else 1.5
        source = SOURCE.replace("class Model(", "class ModelNew(")
        return f"```python\n# fate: ok {speed}\n# {request.proposal} {request.step}\n{source}```"


async def test_what_is_far_from_the_best_is_not_measured_again(tmp_path: Path) -> None:
    running = search(tmp_path, model=TwoMinds())
    assert await running.run() is SessionState.FINISHED
    fast = {a.id for a in running.state.attempts.values() if (a.speedup or 0) > 2}
    assert 0 < len(fast) < REMEASURED < len(running.state.attempts)
    assert {fact.candidate for fact in running.of("remeasured")} == fast


class ChangedMind(FatedEvaluator):
    """An evaluator that refuses, at a second look, the first two it is asked about."""

    left = 2

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        seen = self.jobs[job].attempt in self.judged
        found = await super().wait(job, on_stage)
        if not seen or self.left == 0:
            return found
        self.left -= 1
        return verdict_on("# fate: rejected 1.0")


async def test_the_next_fastest_is_measured_again_in_place_of_one_that_was_refuted(
    tmp_path: Path,
) -> None:
    running = search(tmp_path, evaluator=ChangedMind(), model=FatedModel(fates=("ok",)))
    assert await running.run() is SessionState.FINISHED
    refuted = [a for a in running.state.attempts.values() if a.refutation]
    again = [fact.candidate for fact in running.of("remeasured")]
    assert {a.id for a in refuted} == set(again[:2])
    assert len(again) == REMEASURED + 2
    assert running.state.leader is not None
    assert running.state.leader.id in again[2:]
