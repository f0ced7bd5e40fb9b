"""One evaluation with a real judge process: what it asks for, and what happens when something ends early."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server.contract import Status
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.lease import Lease
from mcp_server.local import open_local
from mcp_server.machine import cpu
from tests.mcp_server.conftest import TASK, Told, candidate, ignore, needs_bwrap, run

if TYPE_CHECKING:
    from mcp_server.setting import Setting

levels = pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])


@levels
async def test_a_candidate_runs_and_its_verdict_says_where(setting: Setting, level: str) -> None:
    told = Told([])
    async with open_local(replace(setting, sandbox=level)) as executor:
        outcome = await run(executor, "said = 6 * 7", told)
    verdict = outcome.verdict
    assert verdict.status is Status.OK
    assert outcome.evidence["answer"] == {"said": 42}
    assert verdict.sandbox_level == level
    assert told.stages == ["intake", "build", "timing", "report"]
    assert verdict.task == "starter/small"
    assert verdict.wall_s is not None
    assert verdict.lease_s is not None


async def test_text_that_is_no_candidate_starts_nothing(setting: Setting) -> None:
    async with open_local(setting) as executor:
        broken = await executor.run(Work("job_1", TASK, "def f(:\n"), ignore)
        empty = await executor.run(Work("job_2", TASK, "class Model: pass\n"), ignore)
    assert (broken.verdict.status, broken.verdict.code) == (Status.COMPILE_ERROR, "syntax")
    assert "Line 1" in (broken.verdict.cause or "")
    assert (empty.verdict.status, empty.verdict.code) == (Status.COMPILE_ERROR, "no_model_new")


async def test_what_a_judge_measured_of_a_task_reaches_the_next_server(setting: Setting) -> None:
    async with open_local(setting) as executor:
        first = await run(executor, "said = 1")
    async with open_local(setting) as executor:
        second = await run(executor, "said = 1")
    assert "knew" not in first.verdict.flags
    assert "knew" in second.verdict.flags


@levels
async def test_a_later_worker_of_the_candidate_finds_its_build_with_equal_times(
    setting: Setting, level: str
) -> None:
    body = """
import os
path = os.environ["TORCH_EXTENSIONS_DIR"] + "/object.so"
said = os.stat(path).st_mtime_ns if os.path.exists(path) else None
os.makedirs(os.path.dirname(path), exist_ok=True)
if said is None:
    open(path, "w").close()
    os.utime(path, ns=(10**18, 10**18 + 7))
"""
    async with open_local(replace(setting, sandbox=level)) as executor:
        first = await run(executor, body)
        second = await run(executor, body)
        other = await run(executor, body + "\n# another candidate")
    assert first.evidence["answer"]["said"] is None
    assert second.evidence["answer"]["said"] == 10**18 + 7
    assert second.verdict.build_cached is True
    assert second.verdict.artifact_sha256 is not None
    assert other.evidence["answer"]["said"] is None


@pytest.mark.parametrize(
    ("trick", "said"),
    [
        ("# judge: garbage", "not JSON"),
        ("# judge: dies", "ended"),
        ("# judge: unknown op", "protocol"),
        ("# judge: nonsense verdict", "not a verdict"),
    ],
)
async def test_a_judge_that_misbehaves_is_an_infrastructure_error(
    setting: Setting, trick: str, said: str
) -> None:
    async with open_local(setting) as executor:
        outcome = await run(executor, trick)
        after = await run(executor, "said = 1")
    assert (outcome.verdict.status, outcome.verdict.code) == (Status.INFRA_ERROR, "worker_lost")
    assert said in (outcome.verdict.cause or "")
    assert after.verdict.status is Status.OK


async def test_a_hanging_candidate_ends_at_the_deadline_though_its_judge_sleeps(
    setting: Setting,
) -> None:
    short = replace(setting, stage_limits=StageLimits(full_timing=0.3, grace=0.3, call=60))
    async with open_local(short) as executor:
        outcome = await run(executor, "while True: pass")
    assert (outcome.verdict.status, outcome.verdict.code) == (Status.TIMEOUT, "stage")
    assert "timing" in (outcome.verdict.cause or "")
    assert _lease_is_free(setting)


async def test_cancelling_kills_the_candidate_and_frees_the_lease(
    setting: Setting, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    body = f"""
import os, time
open({str(mark)!r} + ".part", "w").write(str(os.getpid()))
os.rename({str(mark)!r} + ".part", {str(mark)!r})
time.sleep(300)
"""
    async with open_local(setting) as executor:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(run, executor, body)
                while not mark.exists():  # noqa: ASYNC110 -- another process makes it
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
        assert not _lives(mark)
        assert _lease_is_free(setting)
        after = await run(executor, "said = 1")
    assert after.verdict.status is Status.OK


async def test_nothing_is_left_when_the_executor_closes(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    body = "import os\nsaid = os.getppid()"
    others = _children()  # of tests before, which ended long ago or go on
    async with open_local(setting) as executor:
        await run(executor, body)
        await executor.run(Work("job_3", TASK, candidate("said = 2")), ignore)
    assert _left_in(tmp_path) == []
    assert not _children() - others


def _lives(mark: Path) -> bool:
    return Path(f"/proc/{mark.read_text()}").exists()


def _left_in(folder: Path) -> list[str]:
    return [p.name for p in folder.glob("pike-*")]


def _lease_is_free(setting: Setting) -> bool:
    lease = Lease(cpu().uuid, setting.lease_folder)
    free = lease.try_take()
    lease.free()
    lease.close()
    return free


def _children() -> set[str]:
    pid = os.getpid()
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
