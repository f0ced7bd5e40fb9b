"""Models within a whole search: real engine, journal and git; the evaluator's verdicts are scripted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from sessions.facts import Body, Fact, Paused
from sessions.journal import Journal, Reader
from sessions.models.catalog import resolve
from sessions.models.derived import rules_in
from sessions.models.offline import OfflineModel
from sessions.models.recorded import RecordedModel, recorded_tasks
from sessions.models.replay import ReplayModel
from sessions.states import SessionState
from tests.fake_vendor import GOOD_KEY, FakeVendor, Say
from tests.fakes import SOURCE
from tests.sessions.models.asking import COMPILERS, approx, no_sleep
from tests.sessions.models.corpus import TASKS
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REPLY = f"""1. one idea

```python
# change: nothing yet
{SOURCE.replace("class Model(", "class ModelNew(")}
```
"""


def begun(under: Path, name: str, **changes: Any) -> Search:
    models = dict.fromkeys(("ideas", "improve", "fix"), name)
    return search(under, **{"models": models, **changes})


def sources(done: Search) -> list[str]:
    with Reader(done.folder.journal) as reader:
        return [reader.text(made.source_key) for made in done.of("attempt")]


async def test_the_rules_carry_a_whole_search(tmp_path: Path) -> None:
    given = search(
        tmp_path,
        source=TASKS["convolution"],
        models=dict.fromkeys(("ideas", "improve", "fix"), "offline"),
        settings={"queries": 14},
    )
    ended = await given.run(models={"offline": OfflineModel()}, languages=COMPILERS)
    assert ended is SessionState.FINISHED
    made = sources(given)
    assert len(made) == 13
    assert len(set(made)) >= 6
    assert all(rules_in(source) for source in made)
    assert not given.of("unusable")
    assert given.state.spending.cost_usd == 0.0


@pytest.mark.parametrize("task", recorded_tasks())
async def test_recorded_answers_carry_the_demo(tmp_path: Path, task: str) -> None:
    settings = {"queries": 16, "width": 5, "places": 5, "fixes": 2, "ideas": 5}
    given = begun(tmp_path, "recorded", task=task, settings=settings)
    ended = await given.run(models={"recorded": RecordedModel(no_sleep)}, languages=COMPILERS)
    assert ended is SessionState.FINISHED
    assert given.state.spending.queries == 16
    assert not given.of("unusable")
    assert not given.of("query_failed")
    assert len(set(sources(given)[:10])) == 10


async def test_a_replayed_search_is_the_same_search(tmp_path: Path) -> None:
    first = search(tmp_path / "first", models=dict.fromkeys(("ideas", "improve", "fix"), "fated"))
    await first.run()
    replay = ReplayModel("first", first.folder.journal)
    again = begun(tmp_path / "again", replay.name)
    assert await again.run(models={replay.name: replay}) is SessionState.FINISHED
    assert keyed(again) == keyed(first)
    assert len(keyed(again)) >= 5
    assert again.state.spending.queries == first.state.spending.queries
    assert again.state.spending.cost_usd == 0.0


def keyed(done: Search) -> dict[tuple[str, int], tuple[str, str]]:
    return {(a.proposal, a.step): (a.parent, a.source_key) for a in done.of("attempt")}


async def test_a_replay_of_another_search_pauses_and_pays_nothing(tmp_path: Path) -> None:
    first = search(tmp_path / "first")
    await first.run()
    replay = ReplayModel("first", first.folder.journal)
    other = begun(tmp_path / "other", replay.name, source=SOURCE.replace("x * 2", "x * 3"))
    cause = await paused(other, {replay.name: replay})
    assert "session first holds no answer" in cause
    assert other.state.code == "replay_miss"
    assert other.state.spending.queries == 0


async def test_a_vendors_answers_are_paid_for_and_journaled(tmp_path: Path) -> None:
    tables = {"house": {"model": "gpt-5", "price_in": 1, "price_out": 2}}
    with FakeVendor([Say(REPLY)]) as vendor:
        tables["house"]["base_url"] = f"{vendor.url}/v1"
        model = resolve("house", tables, {})
        vendor.key = "none"
        given = begun(tmp_path, "house", settings={"queries": 5, "fixes": 0})
        assert await given.run(models={"house": model}) is SessionState.FINISHED
        await model.close()
    done = given.of("query_done")
    assert len(done) == len(vendor.asked) == given.state.spending.queries == 5
    assert {(d.input_tokens, d.cached_tokens, d.output_tokens) for d in done} == {(120, 20, 50)}
    assert given.state.spending.cost_usd == approx(5 * (120 * 1 + 50 * 2) / 1e6)


async def test_a_bad_key_pauses_the_search_and_is_no_query(tmp_path: Path) -> None:
    tables: dict[str, dict[str, object]] = {"house": {"model": "gpt-5", "key_env": "HOUSE_KEY"}}
    with FakeVendor() as vendor:
        tables["house"]["base_url"] = f"{vendor.url}/v1"
        model = resolve("house", tables, {"HOUSE_KEY": f"{GOOD_KEY}-no-more"})
        given = begun(tmp_path, "house")
        cause = await paused(given, {"house": model})
        await model.close()
    assert "HOUSE_KEY" in cause
    assert GOOD_KEY not in cause
    assert (given.state.code, given.state.spending.queries) == ("bad_key", 0)


class Watched(Journal):
    """A journal that tells when a pause was written."""

    paused = asyncio.Event()

    async def record(self, at: float, bodies: Sequence[Body], **more: Any) -> list[Fact]:
        facts = await super().record(at, bodies, **more)
        if any(isinstance(body, Paused) for body in bodies):
            self.paused.set()
        return facts


async def paused(given: Search, models: dict[str, Any]) -> str:
    """Run a search until it pauses by itself; return why."""
    Watched.paused = asyncio.Event()
    given.journal_class = Watched
    engine = await given.engine(models=models)
    running = asyncio.create_task(engine.run())
    async with asyncio.timeout(30):
        await Watched.paused.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return given.of("paused")[-1].cause
