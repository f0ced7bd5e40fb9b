"""Recorded answers on a GPU: the right ones are right, the wrong one is wrong, the cheat is rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.measure_recorded import RECORDED, evaluate, write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

ANSWERS = {
    "softmax": (
        ("softmax/cuda/fix-start-1-1.md", "ok"),
        ("softmax/cuda/improve-5.md", "ok"),
        ("extras/softmax-cuda-wrong.py", "wrong_result"),
        ("extras/softmax-cuda-cheat.py", "rejected"),
    ),
    "layernorm-mlp": (
        ("layernorm-mlp/cuda/improve-0.md", "ok"),
        ("extras/layernorm-mlp-cuda-wrong.py", "wrong_result"),
        ("extras/layernorm-mlp-cuda-cheat.py", "rejected"),
    ),
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("task", ANSWERS)
def test_recorded_answers_get_the_verdicts_they_deserve_on_a_gpu(task: str, tmp_path: Path) -> None:
    files = [write({"file": name}, tmp_path) for name, _ in ANSWERS[task]]
    assert all((RECORDED / name).is_file() for name, _ in ANSWERS[task])
    verdicts = evaluate(f"starter/{task}", "cuda:0", files)
    assert [v["status"] for v in verdicts] == [status for _, status in ANSWERS[task]], verdicts
    right = verdicts[0]
    assert right["speedup_lo_ratio"] <= right["speedup_ratio"] <= right["speedup_hi_ratio"]
    assert right["outcome_eager"] == "faster"
