# pyright: reportUnknownMemberType=false
"""On a GPU: facts, a profile with its kernels and CUDA-graphed baselines, telemetry and pairs of full mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from mcp_server.contract import Status
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.profile import described, whole
from mcp_server.profile_command import AS_CANDIDATE, STAGES
from mcp_server.setting import Setting
from mcp_server.tasks import Tasks
from tests.mcp_server.conftest import ignore

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(900)]


async def test_a_gpu_is_measured_and_its_matrix_units_are_faster_in_coarser_formats(
    home: Path,
) -> None:
    async with open_local(Setting(home, device="cuda:0")) as executor:
        _, facts = await executor.measure("cuda:0", ignore)
    rates = cast("dict[str, float]", facts["matrix_flops_per_s"])
    assert rates["fp32"] < rates["tf32"] < rates["fp16"]
    assert cast("float", facts["copy_bytes_per_s"]) > 1e11
    assert cast("float", facts["launch_us"]) < cast("float", facts["launch_sync_us"])


async def test_a_profile_names_kernels_graphs_the_original_and_asks_tritons_benchmark(
    home: Path,
) -> None:
    task = Tasks(home).get("starter/softmax")
    work = Work("job_profile", task, task.source + AS_CANDIDATE, stages=STAGES)
    async with open_local(Setting(home, device="cuda:0")) as executor:
        outcome = await executor.run(work, ignore)
    verdict, shown = described(outcome), whole(outcome)
    assert verdict.status is Status.OK, verdict.cause
    assert verdict.hottest
    assert verdict.graphed_ms is not None
    assert verdict.idle_share_ratio is not None
    assert verdict.do_bench_ms == pytest.approx(verdict.runtime_ms, rel=0.5)
    profile = cast("dict[str, Any]", shown["profile"])
    assert {row["kind"] for row in profile["candidate"]["kernels"]} <= {"framework", "library"}


async def test_full_mode_has_three_pairs_and_telemetry(home: Path) -> None:
    task = Tasks(home).get("starter/softmax")
    work = Work("job_full", task, task.source + AS_CANDIDATE, mode="full")
    async with open_local(Setting(home, device="cuda:0")) as executor:
        verdict = (await executor.run(work, ignore)).verdict
    assert verdict.status is Status.OK, verdict.cause
    assert (verdict.mode, verdict.pairs) == ("full", 3)
    assert verdict.outcome_eager == "indistinguishable"
    assert verdict.sm_clock_mhz is not None
    assert verdict.sm_clock_mhz > 300
