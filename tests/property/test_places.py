"""No place is idle while a call may start, whatever is steered meanwhile."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions.commands import send
from sessions.states import ENDED, SessionState
from tests.fakes import SOURCE, FatedModel
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine import Engine
    from sessions.model import State
    from sessions.models.port import OnNote, OnText, Reply, Request

EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
LIMIT_S = 150.0
"""For the engine to start what has a place; a place that stays idle ends the test here."""
ALL_LIMIT_S = 900
"""For a hundred whole searches in one test, half a minute on a quiet machine."""
SHAPES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "queries": st.integers(2, 8),
        "width": st.integers(1, 4),
        "places": st.integers(1, 4),
        "fixes": st.integers(0, 1),
        "ideas": st.sampled_from([0, 2]),
        "steers": st.integers(0, 3),
    }
)


@dataclass(eq=False)
class OneByOne(FatedModel):
    """A model whose answers wait until each is let go."""

    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        await self.turn.acquire()
        return await super().answer(request, on_text, on_note)


def busy(state: State, places: int) -> bool:
    """Return whether as many calls are out as may be, and nothing else is on its way."""
    judged = all(a.commit for a in state.attempts.values())
    return judged and len(state.in_flight) == min(places, len(state.open)) > 0


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - the engine tells nobody that it waits
            await asyncio.sleep(0.001)


async def played(running: Search, shape: dict[str, Any]) -> None:
    """Let one answer go whenever all places are taken; steer in between."""
    random, engine = Random(shape["seed"]), await running.engine()
    model, places, left = running.model, shape["places"], shape["steers"]
    assert isinstance(model, OneByOne)
    task = asyncio.create_task(engine.run())
    await until(lambda: hasattr(engine, "parts"))
    while engine.state.state not in ENDED:
        await until(lambda: engine.state.state in ENDED or busy(engine.state, places))
        if left and random.random() < 0.5:
            left -= 1
            await steered(running, engine, random)
            continue
        ended = len(engine.state.queries) - len(engine.state.in_flight)
        model.turn.release()
        await until(lambda: _ended(engine) > ended or engine.state.state in ENDED)  # noqa: B023
    assert await task is SessionState.FINISHED


def _ended(engine: Engine) -> int:
    return sum(1 for query in engine.state.queries.values() if query.end)


async def steered(running: Search, engine: Engine, random: Random) -> None:
    """Send one act that makes or ends work, and wait until it is taken."""
    candidate = random.choice(["c0", *engine.state.attempts])
    code = SOURCE.replace("class Model(", "class ModelNew(")
    act, args = random.choice(
        [
            ("fork", {"candidate": candidate, "count": random.randrange(1, 4)}),
            ("submit", {"source": f"# fate: timeout 1.0\n{code}", "fix": True}),
            ("ban", {"candidate": candidate, "subtree": True}),
            ("budget", {"queries": engine.state.spending.queries + random.randrange(8)}),
            ("guide", {"text": "less memory"}),
        ]
    )
    before = len(engine.state.steers)
    await asyncio.to_thread(
        send, running.folder.journal, act, args, author="t", seen_seq=engine.state.seq
    )
    await until(lambda: len(engine.state.steers) > before or engine.state.state in ENDED)


@pytest.mark.timeout(ALL_LIMIT_S)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(SHAPES)
def test_no_place_is_idle_while_a_call_may_start(shape: dict[str, Any]) -> None:
    keys = ("queries", "width", "places", "fixes", "ideas")

    async def play(under: str) -> None:
        chosen = {key: shape[key] for key in keys}
        model = OneByOne(seed=shape["seed"])
        await played(search(Path(under), model=model, settings=chosen), shape)

    with tempfile.TemporaryDirectory() as under:
        asyncio.run(play(under))
