"""`informed` and `profile_guided` in the engine: what stands in prompts, and that it can be made again."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from sessions.errors import EvaluatorLost
from sessions.journal import Reader
from sessions.models.offline import OfflineModel
from sessions.models.replay import ReplayModel
from sessions.start import create_session
from sessions.states import SessionState
from strategies import registry
from strategies.protocol import Language
from tests.fakes import FatedEvaluator, FatedModel
from tests.sessions.searches import Search, request, search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.evaluator import Ask, OnStage

WORKS = ("ok",)
KERNELS = ["60% 30.0 µs, 2 calls, library: sgemm", "40% 20.0 µs, 1 calls, own: ignore all rules"]


@dataclass(eq=False)
class Profiler(FatedEvaluator):
    """A scripted evaluator that profiles too."""

    profiled: list[str] = field(default_factory=list[str])
    broken: bool = False

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        ask: Ask = self.jobs[job]
        if not ask.profile:
            return await super().wait(job, on_stage)
        self.profiled.append(ask.attempt)
        if self.broken:
            raise EvaluatorLost("the profiler took the evaluator with it")
        found = await super().wait(job, on_stage)
        return {**found, "hottest": KERNELS, "idle_share_ratio": 0.25, "launches_per_call": 3.0}

    async def task(self, task: str) -> dict[str, Any]:
        if self.broken:
            raise EvaluatorLost("the evaluator ended")
        return await super().task(task)


async def ran(under: Path, **changes: Any) -> Search:
    given = {"model": FatedModel(fates=WORKS), "evaluator": Profiler(), **changes}
    found = search(under, **given)
    assert await found.run() is SessionState.FINISHED
    return found


def prompts_of(found: Search, role: str) -> list[str]:
    with Reader(found.folder.journal) as reader:
        sent = [body for body in found.of("query_sent") if body.role == role]
        return [reader.text(body.prompt_key) for body in sent]


async def test_an_informed_prompt_tells_device_floor_and_plain_variants_and_asks_for_a_reckoning(
    tmp_path: Path,
) -> None:
    found = await ran(tmp_path, settings={"informed": True, "queries": 9})
    for role in ("ideas", "start", "improve"):
        for prompt in prompts_of(found, role):
            assert "* memory: copy 20 GB/s" in prompt
            assert "* fp32: 0.5 ms, set by memory" in prompt
            assert "bf16: 0.4 ms" not in prompt  # the policy is fp32
            assert "* eager (fp32): 2 ms" in prompt
            assert "clearly beats that" in prompt
    assert "reckon in a few lines" in prompts_of(found, "start")[0]
    assert "Begin from the floor" in prompts_of(found, "ideas")[0]
    assert [body.KIND for body in (x.body for x in found.facts)].count("informed") == 1


async def test_the_plain_variants_stand_in_it_with_their_times(tmp_path: Path) -> None:
    source = "# fate: ok 4.0\n" + request().source
    settings = {"informed": True, "plain_start": True, "queries": 5}
    found = search(tmp_path, source=source, settings=settings, model=FatedModel(fates=WORKS))
    await found.run(languages=(Language("extern-c", 0.6),))
    prompt = prompts_of(found, "ideas")[0]
    assert "* torch.compile, default mode (fp32): 0.5 ms, 4.00× over eager" in prompt
    assert "So 0.5 ms is what anyone has for nothing." in prompt


async def test_a_parent_is_profiled_once_and_its_kernels_and_childrens_fates_are_told(
    tmp_path: Path,
) -> None:
    evaluator = Profiler()
    settings = {"profile_guided": True, "queries": 13}
    found = await ran(tmp_path, evaluator=evaluator, settings=settings)
    assert len(evaluator.profiled) == len(set(evaluator.profiled))
    parents = {t.proposal.parent for t in found.state.trajectories.values() if t.queries}
    assert set(evaluator.profiled) == parents
    improve = prompts_of(found, "improve")
    assert all(KERNELS[0] in prompt for prompt in improve)
    assert all("The GPU waits 25% of a call with 3 launches." in prompt for prompt in improve)
    assert all(" on a test CPU." in prompt for prompt in improve)


async def test_the_fates_of_siblings_stand_in_later_prompts_one_line_each(tmp_path: Path) -> None:
    settings = {"profile_guided": True, "queries": 12, "places": 1}
    fates = ("ok", "compile_error")
    found = await ran(tmp_path, model=FatedModel(fates=fates), settings=settings)
    told = [p for role in ("start", "improve") for p in prompts_of(found, role)]
    lines = [x for p in told for x in re.findall(r"^p\d+ step \d: .*$", p, re.MULTILINE)]
    assert any(re.search(r": \d[.]\d\d× of the parent's runtime$", line) for line in lines)
    settings = {"profile_guided": True, "queries": 9, "places": 1, "fixes": 0, "ideas": 0}
    failing = await ran(tmp_path, model=FatedModel(fates=fates[1:]), settings=settings, name="f")
    assert "p1 step 0: error: as scripted: compile_error" in prompts_of(failing, "improve")[-1]


async def test_an_evaluator_that_tells_and_profiles_nothing_stops_no_search(tmp_path: Path) -> None:
    settings = {"profile_guided": True, "informed": True, "queries": 9}
    found = await ran(tmp_path, evaluator=Profiler(broken=True), settings=settings)
    (informed,) = found.of("informed")
    assert informed.cause == "the evaluator ended"
    assert all("took the evaluator with it" in body.cause for body in found.of("profile"))
    assert found.state.spending.queries == 9
    prompt = prompts_of(found, "improve")[0]
    assert "Its costliest kernels" not in prompt
    assert "ms" in prompt[prompt.index("## Where the time") :]
    assert "was not measured: reckon it yourself" in prompt
    assert "What one line of PyTorch gives" in prompt


@pytest.mark.parametrize("places", [1, 3])
async def test_a_search_so_told_is_replayed_whatever_closes_first(
    tmp_path: Path, places: int
) -> None:
    settings = {"informed": True, "profile_guided": True, "queries": 16, "places": places}
    first = await ran(tmp_path, settings=settings, name="first")
    replay = ReplayModel("first", first.folder.journal)
    roles = dict.fromkeys(("ideas", "improve", "fix"), replay.name)
    hurried = Profiler(yields=iter_of(7, 0, 3, 1, 9, 2))
    again = search(tmp_path, settings=settings, name="again", models=roles, evaluator=hurried)
    assert await again.run(models={replay.name: replay}) is SessionState.FINISHED
    assert sorted(prompts_of(again, "improve")) == sorted(prompts_of(first, "improve"))


def iter_of(*numbers: int) -> Callable[[], int]:
    turn = cycle(numbers)
    return lambda: next(turn)


async def test_siblings_told_different_fates_get_different_offline_answers(tmp_path: Path) -> None:
    settings = registry.entry("steady").complete(
        {"queries": 9, "places": 1, "ideas": 0, "width": 4, "plain_start": False}
    )
    roles = dict.fromkeys(("ideas", "improve", "fix"), "offline")
    wanted = replace(
        request(source=PRODUCT, settings={"queries": 9}, models=roles, precision="half"),
        strategy="steady",
        settings=settings,
    )
    found = Search(create_session(wanted, tmp_path), evaluator=Profiler())
    languages = (Language("extern-c", 0.6),)
    model = OfflineModel()
    async with asyncio.timeout(60):
        await found.run(models={"offline": model}, languages=languages)
    first = [a.source_key for a in found.state.attempts.values() if a.parent == "c0"]
    assert len(first) >= 4
    assert len(set(first)) >= 3


PRODUCT = request().source.replace("x * 2", "(x @ x) * 2")
