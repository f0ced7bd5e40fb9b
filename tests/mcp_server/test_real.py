"""The evaluator whole: real judge, real workers, real torch, on a task small enough for any machine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
import torch

from mcp_server.contract import Status
from mcp_server.executor import Work
from mcp_server.lease import Lease
from mcp_server.local import open_local
from mcp_server.machine import cpu
from mcp_server.pool import Programs
from mcp_server.tasks import Tasks
from tests.mcp_server.conftest import Told, ignore, needs_bwrap

if TYPE_CHECKING:
    from mcp_server.setting import Setting
    from mcp_server.tasks import Task

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

TASK = '''"""A scaled row sum."""
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.tanh(x * self.scale).sum(dim=-1)

def get_inputs():
    return [torch.randn(256, 128)]

def get_init_inputs():
    return [128]
'''
RIGHT = """
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return torch.mul(x, self.scale).tanh_().sum(dim=-1)
"""
WRONG = RIGHT.replace(".tanh_()", "")
HANGS = RIGHT.replace("return torch", "import time; time.sleep(600); return torch")


@pytest.fixture
def real(setting: Setting) -> Setting:
    return replace(setting, programs=Programs(), sandbox="best-effort")


@pytest.fixture
def task(home: Path, tmp_path: Path) -> Task:
    path = tmp_path / "rows.py"
    path.write_text(TASK)
    return Tasks(home).add(path)


@pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])
async def test_right_is_ok_wrong_is_wrong_and_the_second_run_knows_the_task(
    real: Setting, task: Task, level: str
) -> None:
    chosen = replace(real, sandbox=level)
    told = Told([])
    async with open_local(chosen) as executor:
        right = await executor.run(Work("job_right", task, RIGHT, precision="fp32"), told)
        wrong = await executor.run(Work("job_wrong", task, WRONG, precision="fp32"), ignore)
    assert right.verdict.status is Status.OK, right.verdict.cause
    assert right.verdict.speedup_eager_ratio is not None
    assert right.verdict.sandbox_level == level
    assert (wrong.verdict.status, wrong.verdict.correct) == (Status.WRONG_RESULT, False)
    order = [s for n, s in enumerate(told.stages) if s not in told.stages[:n]]
    assert order[:4] == ["intake", "qualify", "build", "correctness"]
    again = Told([])
    async with open_local(chosen) as executor:
        await executor.run(Work("job_again", task, RIGHT, precision="fp32"), again)
    assert executor.qualifications.folder.exists()


@pytest.fixture
def users_own(tmp_path: Path) -> Path:
    """An environment that has a torch and nothing of ours."""
    env = tmp_path / "users-own"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    packages = next(env.glob("lib/python*/site-packages"))
    # A folder named in a .pth file has its own .pth files left unread, so what is installed for development stays out.
    (packages / "torch.pth").write_text(str(Path(torch.__file__).parents[1]))
    lacks = subprocess.run([env / "bin" / "python", "-Ic", "import mcp_server"], check=False)
    assert lacks.returncode != 0
    return env


async def test_original_and_candidate_run_under_the_users_own_environment(
    real: Setting, task: Task, users_own: Path
) -> None:
    asks = "import sys\nimport torch\n\nassert sys.prefix.endswith('users-own')\n"
    source = RIGHT.replace("import torch\n", asks, 1)
    async with open_local(replace(real, python=str(users_own))) as executor:
        done = await executor.run(Work("job_1", task, source, precision="fp32"), ignore)
    assert done.verdict.status is Status.OK, done.verdict.cause


async def test_a_compile_stops_after_the_build(real: Setting, task: Task) -> None:
    async with open_local(real) as executor:
        built = await executor.run(Work("job_1", task, RIGHT, stages=("build",)), ignore)
        broken = await executor.run(
            Work("job_2", task, RIGHT + "\nimport nowhere_to_be_found", stages=("build",)), ignore
        )
    assert (built.verdict.status, built.verdict.stage) == (Status.OK, "build")
    assert built.verdict.correct is None, "nothing was compared"
    assert broken.verdict.status is Status.COMPILE_ERROR
    assert "nowhere_to_be_found" in (broken.verdict.cause or "") + broken.build_log


async def test_a_cancelled_evaluation_leaves_its_judge_fit_for_the_next(
    real: Setting, task: Task
) -> None:
    correctness = anyio.Event()

    def listen(stage: str, _detail: str) -> None:
        if stage == "correctness":
            correctness.set()

    async with open_local(real) as executor:
        async with anyio.create_task_group() as group:
            group.start_soon(executor.run, Work("job_3", task, HANGS, precision="fp32"), listen)
            await correctness.wait()
            group.cancel_scope.cancel()
        lease = Lease(cpu().uuid, real.lease_folder)
        assert lease.try_take()
        lease.free()
        lease.close()
        after = await executor.run(Work("job_4", task, RIGHT, precision="fp32"), ignore)
    assert after.verdict.status is Status.OK, after.verdict.cause
