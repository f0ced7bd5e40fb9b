"""On a GPU: at every sandbox level CUDA works, nothing more gets out than on a processor, and a candidate is judged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server import escapes, interpreter, machine
from mcp_server.contract import Status
from mcp_server.escapes import THINGS
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.setting import Setting
from mcp_server.tasks import Tasks
from tests.mcp_server.conftest import FENCES, ignore

if TYPE_CHECKING:
    from mcp_server.sandbox import Level

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(300)]

TRITON = Path(__file__).parents[2] / "bench" / "pairs" / "triton" / "softmax--row.py"
MAY_BE_OPEN: dict[Level, set[str]] = {
    "bwrap": set(),
    # Others are seen where a container masks /proc.
    "landlock": {"unix_sockets", "sight"},
    "process": set(THINGS) - {"processes", "memory", "scratch", "output", "lingering"},
}


@pytest.mark.parametrize("level", [*FENCES, "process"])
async def test_a_level_runs_cuda_and_keeps_back_what_it_keeps_back_on_a_processor(
    level: Level,
) -> None:
    found = await escapes.examine(level, interpreter.find(None), machine.gpus()[0])
    assert found.works, found.reason
    assert "unknown" not in found.outcomes.values(), found.outcomes
    still_open = {name for name, outcome in found.outcomes.items() if outcome == "open"}
    assert still_open <= MAY_BE_OPEN[level], found.outcomes


@pytest.mark.parametrize("level", [*FENCES, "process"])
async def test_a_triton_candidate_is_compiled_and_found_right_at_every_level(
    home: Path, level: Level
) -> None:
    task = Tasks(home).get("starter/softmax")
    source = TRITON.read_text(encoding="utf-8")
    # Without timing: the baselines would be compiled first.
    work = Work("job_level", task, source, stages=("build", "correctness"), leased=False)
    async with open_local(Setting(home, device="cuda:0", sandbox=level)) as executor:
        verdict = (await executor.run(work, ignore)).verdict
    assert verdict.status is Status.OK, (verdict.code, verdict.cause, verdict.stderr_tail)
    assert verdict.correct
    assert verdict.device == "cuda:0"
    assert verdict.sandbox_level == level
    pids = {"pids"} if os.getuid() == 0 else set[str]()
    missing = set(verdict.sandbox_missing)
    assert missing >= pids if level == "process" else missing <= pids | {"unix_sockets"}
