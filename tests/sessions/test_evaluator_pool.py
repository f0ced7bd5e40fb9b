"""Several evaluators for one engine: places, failures, rest, one model of device."""

from __future__ import annotations

import asyncio
import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sessions.endpoints import Here, pool, read
from sessions.errors import (
    DeviceAbsent,
    EvaluatorAbsent,
    EvaluatorLost,
    EvaluatorRefused,
    StartRefused,
)
from sessions.evaluator_pool import FAILURES, REST_S, Endpoint, EvaluatorPool
from sessions.evaluator_replies import lacks
from sessions.mcp_evaluator import McpEvaluator, default_places
from sessions.states import SessionState
from tests.fakes import FatedEvaluator, FatedModel
from tests.sessions import scripted_server
from tests.sessions.searches import search
from tests.sessions.test_mcp_evaluator import ask, ignore

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 60.0
HERE = Here("best-effort", "", "cpu")


class Turned:
    """A clock turned by hand."""

    at = 1000.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


class Broken(FatedEvaluator):
    """Takes candidates, and dies with each."""

    async def wait(self, job: str, on_stage: object) -> dict[str, object]:
        del on_stage
        raise EvaluatorLost(f"died with {job}")


async def one(found: EvaluatorPool, attempt: str) -> str:
    """Evaluate one candidate, which may fail; return who had it."""
    job = await found.start(replace(ask(), attempt=attempt))
    with suppress(EvaluatorLost):
        await found.wait(job, ignore)
    return job.partition(" ")[0]


async def test_candidates_go_to_whoever_has_a_free_place_and_wait_if_nobody_has() -> None:
    first, second = FatedEvaluator(places=1), FatedEvaluator(places=2)
    found = EvaluatorPool([Endpoint("a", first), Endpoint("b", second)])
    assert found.places == 3
    jobs = [await found.start(ask()) for _ in range(3)]
    assert sorted(job.partition(" ")[0] for job in jobs) == ["a", "b", "b"]
    fourth = asyncio.create_task(found.start(ask()))
    await asyncio.sleep(0)
    assert not fourth.done()
    await found.wait(jobs[1], ignore)
    async with asyncio.timeout(LIMIT_S):
        freed = jobs[1].partition(" ")[0]
        assert (await fourth).partition(" ")[0] == freed


async def test_what_failed_is_tried_elsewhere_and_three_failures_in_a_row_mean_a_minutes_rest() -> (
    None
):
    clock, broken, whole = Turned(), Broken(places=4), FatedEvaluator(places=1)
    found = EvaluatorPool([Endpoint("broken", broken), Endpoint("whole", whole)], clock)
    assert [await one(found, "c1"), await one(found, "c1")] == ["broken", "whole"]
    for number in range(2, 2 + FAILURES - 1):
        assert await one(found, f"c{number}") == "broken"
    assert [await one(found, f"c{n}") for n in range(7, 12)] == ["whole"] * 5
    clock.at += REST_S
    assert await one(found, "c20") == "broken"


async def test_with_none_left_a_search_waits_and_goes_on_after_the_rest() -> None:
    clock, broken = Turned(), Broken()
    found = EvaluatorPool([Endpoint("only", broken)], clock)
    for number in range(FAILURES):
        await one(found, f"c{number}")
    with pytest.raises(EvaluatorAbsent, match="rest after failures"):
        await found.start(ask())
    clock.at += REST_S
    assert await found.start(ask())


async def test_an_endpoint_that_is_not_there_leaves_the_work_to_the_others() -> None:
    gone, here = FatedEvaluator(absent=100), FatedEvaluator()
    found = EvaluatorPool([Endpoint("gone", gone), Endpoint("here", here)])
    assert {await one(found, f"c{n}") for n in range(6)} == {"here"}


async def test_a_device_of_another_model_is_never_used_and_why_is_said() -> None:
    measured = replace(ask(task_sha256=scripted_server.SHA), device_name=scripted_server.TITLE)
    other = McpEvaluator(lambda: scripted_server.build("cpu", "another CPU"), places=1)
    without = McpEvaluator(lambda: scripted_server.build("cuda:0", "a GPU"), places=1)
    same = McpEvaluator(scripted_server.build, places=1)
    alone = EvaluatorPool([Endpoint("other", other), Endpoint("without", without)])
    both = EvaluatorPool([Endpoint("other", other), Endpoint("same", same)])
    try:
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(DeviceAbsent, match="other: cpu is another CPU, and this session"):
                await alone.start(measured)
            with pytest.raises(DeviceAbsent, match=r"without: there is no cpu, only cuda:0"):
                await alone.start(measured)
            job = await both.start(measured)
            assert job.startswith("same ")
            assert (await both.wait(job, ignore))["device_name"] == scripted_server.TITLE
    finally:
        await alone.close()
        await both.close()


async def test_a_task_that_no_endpoint_holds_is_refused_with_each_ones_words() -> None:
    found = EvaluatorPool([Endpoint("a", McpEvaluator(scripted_server.build, places=1))])
    try:
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(EvaluatorRefused, match=r"a: .*list_tasks shows them"):
                await found.start(replace(ask(task_sha256="ab" * 32), task="local/thrice"))
    finally:
        await found.close()


async def test_a_whole_search_runs_on_two_children_of_which_one_dies_again_and_again(
    tmp_path: Path,
) -> None:
    words = [sys.executable, "-m", "tests.sessions.scripted_server"]
    tables = {
        "one": {"command": words, "places": 2},
        "two": {"command": shlex.join(words)},
    }
    found = pool(read(tables), HERE, {})
    running = search(tmp_path, model=FatedModel(fates=("ok", "wrong_result")))
    async with asyncio.timeout(LIMIT_S):
        assert await running.run(evaluator=found) is SessionState.FINISHED
    names = {sent.job.partition(" ")[0] for sent in running.of("evaluation_sent")}
    assert names <= {"one", "two"}
    assert all(a.commit for a in running.state.attempts.values())


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"command_line": "ssh a pike mcp"}, "did you mean 'command'"),
        ({"command": 3}, "command is a line, or a list of words"),
        ({"url": "ssh://gpu2"}, "must begin with http"),
        ({"url": "https://gpu2/mcp?token=x"}, "belongs into a variable"),
        ({"url": "https://gpu2/mcp", "command": "x"}, "one of command, url and executor"),
        ({"executor": "ray://head", "command": "x"}, "one of command, url and executor"),
        ({"executor": "slurm"}, "'slurm' is no executor; there are local, ray"),
        ({"executor": "ray://a b"}, "is no executor"),
        ({"token_env": "X"}, "goes with url"),
        ({"places": -1}, "whole number"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_with_its_place(
    table: dict[str, object], says: str
) -> None:
    with pytest.raises(StartRefused, match=says) as refused:
        read({"gpu2": table})
    assert "[evaluators.gpu2]" in str(refused.value)


def test_a_session_on_a_cluster_starts_its_evaluator_with_it() -> None:
    on_cluster = Here("best-effort", "", "cuda", "ray://head")
    assert pool((), on_cluster, {}).endpoint.startswith("ray://head-")
    assert pool((), HERE, {}).endpoint.startswith("local-")
    tables = read({"far": {"executor": "ray", "places": 3}, "near": {"executor": "local"}})
    assert [one.is_here for one in tables] == [False, True]
    found = pool(tables, HERE, {})
    assert found.endpoint.startswith("ray-")
    assert found.places == 3 + default_places("cpu")


def test_a_missing_token_is_named_by_its_variable_and_never_shown() -> None:
    settings = read({"far": {"url": "https://far.example/mcp", "token_env": "FAR_TOKEN"}})
    with pytest.raises(StartRefused, match="FAR_TOKEN is empty"):
        pool(settings, HERE, {})
    assert isinstance(pool(settings, HERE, {"FAR_TOKEN": "s3cret-value"}), EvaluatorPool)
    assert "s3cret-value" not in repr(settings)


@pytest.mark.parametrize(
    ("title", "measured", "why"),
    [
        ("NVIDIA H200", "NVIDIA H200", ""),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", ""),
        ("GPU", "NVIDIA H200", ""),
        ("NVIDIA H200 NVL", "NVIDIA H200", "cuda:0 is NVIDIA H200 NVL, and this session"),
        ("NVIDIA H200", "", ""),
        (
            "NVIDIA H100 80GB HBM3",
            "NVIDIA H200",
            "cuda:0 is NVIDIA H100 80GB HBM3, and this session",
        ),
    ],
)
def test_one_model_of_gpu_may_be_named_in_two_ways(title: str, measured: str, why: str) -> None:
    asked = replace(ask(), device="cuda:0", device_name=measured)
    page = {"devices": ["cuda:0", "cpu"], "device_titles": [title, "a CPU"]}
    assert lacks(asked, page).startswith(why) if why else not lacks(asked, page)
