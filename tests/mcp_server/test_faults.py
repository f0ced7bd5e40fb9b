"""What goes wrong in a candidate's process, on its disk and in its compiler: a named status in time, no harm done."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from mcp_server import watch
from mcp_server.contract import Status
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.local import LocalExecutor, open_local
from mcp_server.pool import Programs
from mcp_server.sandbox import Limits
from mcp_server.tasks import Task, Tasks
from tests.mcp_server.conftest import ignore
from tests.mcp_server.test_builder import ENDLESS
from tests.mcp_server.test_real import RIGHT, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

pytestmark = [pytest.mark.torch, pytest.mark.timeout(900)]

LIMITS = StageLimits(build=10, first_call=6)
GRACE_S = 60
"""For starting processes on a busy machine, beside the limit that a fault runs into."""


@dataclass(frozen=True)
class Fault:
    """Code put before the answer, and what must come of it."""

    before: str
    status: Status
    code: str
    limit_s: float = 0.0
    top: str = ""
    """Code put before the class."""

    @property
    def source(self) -> str:
        return self.top + RIGHT.replace(
            "        return torch.mul", f"        {self.before}\n        return torch.mul"
        )


EXTENSION = f"""
from torch.utils.cpp_extension import load_inline
load_inline("slow", {ENDLESS!r}, no_implicit_headers=True, is_python_module=False,
            extra_cflags=["-ftemplate-depth=100000"])
"""
FAULTS = {
    "a hung call": Fault("import time; time.sleep(600)", Status.TIMEOUT, "first_call", 6),
    "an endless loop": Fault("while True: pass", Status.TIMEOUT, "first_call", 6),
    "out of memory": Fault("torch.empty(10**14)", Status.RUNTIME_ERROR, "out_of_memory"),
    "an ignored failure": Fault(
        "\n        try: torch.ones(2) + torch.ones(3)\n        except RuntimeError: return torch.full((256,), 3.0)",
        Status.WRONG_RESULT,
        "values",
    ),
    "a killed worker": Fault("import os; os.kill(os.getpid(), 9)", Status.REJECTED, "ended_early"),
    "a full disk": Fault(
        "\n        with open('full', 'wb') as file:\n            for _ in range(4096): file.write(bytes(1 << 16))"
        "\n            file.flush()\n            import time; time.sleep(5)",
        Status.RUNTIME_ERROR,
        "crashed",
        6,
    ),
    "1 GB of output": Fault(
        "\n        for _ in range(1024): print('x' * (1 << 20))",
        Status.RUNTIME_ERROR,
        "output_limit",
    ),
    "a build that never ends": Fault("pass", Status.TIMEOUT, "build", 10, top=EXTENSION),
}


@pytest.fixture
def real(setting: Setting) -> Setting:
    limits = Limits(scratch_bytes=96 * 1024 * 1024)
    return replace(setting, programs=Programs(), stage_limits=LIMITS, limits=limits)


@pytest.fixture
def task(home: Path, tmp_path: Path) -> Task:
    path = tmp_path / "rows.py"
    path.write_text(TASK)
    return Tasks(home).add(path)


async def judged(
    executor: LocalExecutor, task: Task, source: str
) -> tuple[Status | None, str | None]:
    """Return status and code, correctness only."""
    work = Work("job_1", task, source, precision="fp32", stages=("build", "correctness"))
    verdict = (await executor.run(work, ignore)).verdict
    return verdict.status, verdict.code


def here(folder: Path, pattern: str) -> list[Path]:
    """Return what lies in a folder."""
    return list(folder.glob(pattern))


async def test_every_fault_ends_in_its_status_in_time_and_the_next_verdict_is_unharmed(
    real: Setting, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with open_local(real) as executor:
        assert await judged(executor, task, RIGHT) == (Status.OK, None)
        (workspace,) = here(tmp_path, "pike-server-*")
        for name, fault in FAULTS.items():
            began = time.monotonic()
            assert await judged(executor, task, fault.source) == (fault.status, fault.code), name
            assert time.monotonic() - began < fault.limit_s + GRACE_S, name
            assert await judged(executor, task, RIGHT) == (Status.OK, None), f"after {name}"
            assert not here(workspace, "b*/plan.json"), name
    assert not workspace.exists()
    assert not watch.strays(f"HOME={workspace}".encode())


NULL_WRITE = """
import torch
kernel = torch.cuda._compile_kernel('extern "C" __global__ void bad(float* x) { *(float*)8 = 1.0f; }', "bad")
"""
GPU_FAULTS = {
    "a hung kernel": Fault("torch.cuda._sleep(2**62)", Status.TIMEOUT, "first_call", 6),
    "an illegal address": Fault(
        "kernel((1, 1, 1), (1, 1, 1), (x,))", Status.RUNTIME_ERROR, "cuda_error", top=NULL_WRITE
    ),
    "a poisoned context": Fault(
        "\n        try: x[torch.full((4,), 10**6, device=x.device)].sum().item()\n        except RuntimeError: pass",
        Status.RUNTIME_ERROR,
        "cuda_error",
    ),
}


@pytest.mark.gpu
async def test_every_fault_of_a_gpu_ends_in_its_status_and_the_next_verdict_is_unharmed(
    real: Setting, task: Task
) -> None:
    async with open_local(replace(real, device="cuda:0", limits=Limits())) as executor:
        assert await judged(executor, task, RIGHT) == (Status.OK, None)
        for name, fault in GPU_FAULTS.items():
            began = time.monotonic()
            assert await judged(executor, task, fault.source) == (fault.status, fault.code), name
            assert time.monotonic() - began < fault.limit_s + GRACE_S, name
            assert await judged(executor, task, RIGHT) == (Status.OK, None), f"after {name}"
