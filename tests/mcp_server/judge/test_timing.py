"""Timing by real processes: outcomes, cheats on the clock, confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp_server.judge import tasks
from tests.mcp_server.judge.test_correctness import said, softmax

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mcp_server.judge.harness import Bench

pytestmark = [pytest.mark.torch, pytest.mark.timeout(400)]

SHORT = {"qualify": 15.0, "timing": 10.0}
"""Leaves time for eager and at most one compiled baseline."""
HEAVY = tasks.SOFTMAX.replace(
    "return torch.softmax(x, dim=1)", "time.sleep(0.02)\n        return torch.softmax(x, dim=1)"
).replace("import torch\n", "import time\nimport torch\n", 1)
"""An original so slow that a loaded machine changes nothing about who is faster."""


def timed(bench: Bench, path: Path, source: str, **fields: Any) -> dict[str, Any]:
    return bench.evaluate(path, source, deadlines=SHORT, **fields)


def test_a_much_faster_candidate_is_faster_and_confirmed(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    verdict = timed(
        bench,
        task_file(HEAVY),
        softmax("return torch.softmax(x, 1)"),
        stages=["build", "correctness", "timing", "confirm"],
    )
    assert said(verdict) == "ok", (verdict, bench.log()[-3000:])
    assert verdict["outcome_eager"] == "faster"
    assert verdict["speedup_eager_lo_ratio"] <= verdict["speedup_eager_ratio"]
    assert verdict["speedup_eager_ratio"] <= verdict["speedup_eager_hi_ratio"]
    assert verdict["quick_speedup_ratio"] > 1
    assert verdict["confirmed"] in (True, False)
    assert verdict["mode"] == "confirm"
    assert verdict["baseline_names"][0] == "eager"
    lists = ("baseline_names", "baseline_classes", "baseline_times_ms")
    assert len({len(verdict[name]) for name in lists}) == 1


def test_a_kept_qualification_measures_no_baseline_again(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    path = task_file(HEAVY)
    source = softmax("time.sleep(0.3)\nreturn torch.softmax(x, 1)", "import time")
    verdict = timed(bench, path, source)
    assert said(verdict) == "ok", (verdict, bench.log()[-3000:])
    assert verdict["outcome_eager"] == "slower"
    assert verdict["qualify_s"] < 5


CLOCK_CHEATS = {
    "lazy after many calls": (
        softmax(
            "global calls, last\ncalls += 1\nif calls <= 14: last = torch.softmax(x, 1)\nreturn last.clone()",
            "calls = 0\nlast = None",
        ),
        ("rejected/timed_answer_wrong", "rejected/stale_answer"),
    ),
    "an earlier answer, where little of the input is new": (
        softmax(
            "old = seen.get(x.data_ptr())\nseen[x.data_ptr()] = x.clone()\n"
            "if old is None or (x != old).sum() > x.numel() // 20: time.sleep(0.02)\n"
            "return torch.softmax(x, 1)",
            "import time\nseen = {}",
        ),
        ("rejected/stale_answer",),
    ),
    "a skipped tail in timing": (
        softmax(
            "global calls\ncalls += 1\ny = torch.softmax(x, 1)\nif calls > 14: y[32:] = y[:32]\nreturn y",
            "calls = 0",
        ),
        ("rejected/timed_answer_wrong",),
    ),
}


@pytest.mark.parametrize("name", CLOCK_CHEATS)
def test_laziness_while_the_clock_runs_is_seen(
    bench: Bench, task_file: Callable[[str], Path], name: str
) -> None:
    source, expected = CLOCK_CHEATS[name]
    verdict = timed(bench, task_file(HEAVY), source)
    assert said(verdict) in expected, (verdict, bench.log()[-3000:])


def test_a_cuda_error_is_the_candidates_where_the_original_still_runs(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = softmax("raise RuntimeError('CUDA error: an illegal memory access was encountered')")
    verdict = timed(bench, task_file(HEAVY), source, stages=["build", "correctness"])
    assert said(verdict) == "runtime_error/cuda_error", (verdict, bench.log()[-3000:])


def test_full_mode_reports_three_fresh_pairs(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = softmax("return torch.softmax(x, 1)")
    verdict = timed(bench, task_file(HEAVY), source, mode="full")
    assert said(verdict) == "ok", (verdict, bench.log()[-3000:])
    assert (verdict["mode"], verdict["pairs"]) == ("full", 3)
    lo, hi = verdict["speedup_eager_lo_ratio"], verdict["speedup_eager_hi_ratio"]
    assert lo < verdict["speedup_eager_ratio"] < hi
    assert verdict["rounds"] >= 9
    assert verdict["quick_speedup_ratio"] > 1


def test_triton_without_a_gpu_is_checked_and_not_timed(
    bench: Bench, task_file: Callable[[str], Path]
) -> None:
    source = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def rows(x, y, size: tl.constexpr):
    row = tl.program_id(0)
    at = row * size + tl.arange(0, size)
    values = tl.load(x + at)
    values = tl.exp(values - tl.max(values, 0))
    tl.store(y + at, values / tl.sum(values, 0))

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        rows[(x.shape[0],)](x, y, x.shape[1])
        return y
"""
    verdict = timed(bench, task_file(HEAVY), source)
    assert said(verdict) == "ok", (verdict, bench.log()[-3000:])
    assert "interpreted" in verdict["flags"]
    assert verdict.get("runtime_ms") is None
