"""Extensions of candidates through the whole evaluator: built apart, once, and told of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcp_server.contract import Status
from mcp_server.executor import Work
from mcp_server.local import LocalExecutor, open_local
from mcp_server.pool import Programs
from mcp_server.tasks import Task, Tasks
from tests.mcp_server.conftest import Told, needs_bwrap
from tests.mcp_server.test_real import RIGHT, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.contract import Verdict
    from mcp_server.setting import Setting

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

EXTENSION = """
import ctypes
from torch.utils.cpp_extension import load_inline
library = ctypes.CDLL(load_inline("twice", CPP, no_implicit_headers=True, is_python_module=False, FLAGS))
assert library.twice(21) == 42
"""
GOOD = 'extern "C" int twice(int x) { return 2 * x; }'


def candidate(cpp: str = GOOD, flags: str = "extra_cflags=['-O2']") -> str:
    """Return a candidate that builds an extension when it is imported."""
    return EXTENSION.replace("CPP", repr(cpp)).replace("FLAGS", flags) + RIGHT


@pytest.fixture
def real(setting: Setting) -> Setting:
    return replace(setting, programs=Programs(), sandbox="best-effort")


@pytest.fixture
def task(home: Path, tmp_path: Path) -> Task:
    path = tmp_path / "rows.py"
    path.write_text(TASK)
    return Tasks(home).add(path)


async def built(executor: LocalExecutor, task: Task, source: str) -> tuple[Verdict, list[str]]:
    told = Told([])
    work = Work("job_1", task, source, precision="fp32", stages=("build",))
    return (await executor.run(work, told)).verdict, told.stages


@pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])
async def test_an_extension_is_built_ahead_once_and_its_candidate_may_change_around_it(
    real: Setting, task: Task, level: str
) -> None:
    async with open_local(replace(real, sandbox=level)) as executor:
        first, stages = await built(executor, task, candidate())
        assert (first.status, first.build_cached) == (Status.OK, False), first.cause
        assert stages[:2] == ["intake", "build"]
        assert first.build_s is not None
        assert first.build_s > 0.05
        assert first.artifact_sha256 is not None
        second, _ = await built(executor, task, candidate() + "\n# another candidate\n")
        assert (second.status, second.build_cached) == (Status.OK, True), second.cause
        assert second.artifact_sha256 == first.artifact_sha256


async def test_what_the_compiler_says_reaches_the_verdict_twice_the_same(
    real: Setting, task: Task
) -> None:
    async with open_local(real) as executor:
        for _ in range(2):
            found, _ = await built(executor, task, candidate('extern "C" int twice(int x { }'))
            assert (found.status, found.code) == (Status.COMPILE_ERROR, "build_failed")
            assert "main.cpp:1:" in (found.build_log or "")
            assert "error: expected" in (found.build_log or "")


async def test_a_flag_that_runs_programs_is_refused_by_name(real: Setting, task: Task) -> None:
    source = candidate(flags="extra_cflags=['-fplugin=/tmp/x.so']")
    async with open_local(real) as executor:
        found, _ = await built(executor, task, source)
    assert (found.status, found.code) == (Status.COMPILE_ERROR, "flag_refused")
    assert "-fplugin" in (found.cause or "")


async def test_a_form_that_is_not_known_is_built_in_the_candidates_own_sandbox(
    real: Setting, task: Task
) -> None:
    source = candidate(flags="extra_include_paths=['.'], extra_cflags=['-funroll-loops']")
    async with open_local(real) as executor:
        found, _ = await built(executor, task, source)
    assert (found.status, found.build_cached) == (Status.OK, False), found.cause


async def test_without_overlap_the_candidates_own_sandbox_builds(real: Setting, task: Task) -> None:
    async with open_local(replace(real, overlap=False)) as executor:
        found, stages = await built(executor, task, candidate())
    assert (found.status, found.build_cached) == (Status.OK, False), found.cause
    assert found.artifact_sha256 is not None
    assert "build" not in stages[:2]
