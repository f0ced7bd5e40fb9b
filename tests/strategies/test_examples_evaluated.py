"""The worked kernels for the CPU, judged by the evaluator as any candidate is, against a task for each title.

Those of heavy headers and of plain PyTorch are run in test_examples_run.py alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.strategies.test_examples import shown
from tests.strategies.test_examples_run import HEAVY

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 1500
TASK = """import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
{parameters}

    def forward(self, x):
{forward}

def get_inputs():
    return [torch.randn({shape})]

def get_init_inputs():
    return [{given}]
"""
CASES = {
    "scale": (
        "width",
        "300",
        "64, 300",
        "self.scale = nn.Parameter(torch.randn(width)); self.shift = nn.Parameter(torch.randn(width))",
        "return torch.relu(x * self.scale + self.shift)",
    ),
    "gain": (
        "width",
        "300",
        "64, 300",
        "self.gain = nn.Parameter(torch.randn(width))",
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain",
    ),
}
EXAMPLES = {
    title: source
    for title, source in shown("cpu").items()
    if not title.startswith((*HEAVY, "pytorch"))
}


def task_of(name: str) -> str:
    """Return the KernelBench-format file of a case."""
    arguments, given, shape, parameters, forward = CASES[name]
    return TASK.format(
        arguments=arguments,
        given=given,
        shape=shape,
        parameters=f"        {parameters}",
        forward=f"        {forward}",
    )


def case_of(source: str) -> str:
    return next(name for name in CASES if f"self.{name} = " in source)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("case", list(CASES))
def test_the_evaluator_calls_the_worked_examples_right(case: str, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(task_of(case), encoding="utf-8")
    paths = [tmp_path / f"c{n}.py" for n, t in enumerate(EXAMPLES) if case_of(EXAMPLES[t]) == case]
    for path in paths:
        source = list(EXAMPLES.values())[int(path.stem[1:])]
        path.write_text(source, encoding="utf-8")
    words = ["evaluate", "task.py", *(path.name for path in paths), "--device", "cpu", "--json"]
    words += ["--precision", "fp32"]
    ran = subprocess.run(
        [sys.executable, "-m", "workbench", *words],
        cwd=tmp_path,
        env={**os.environ, "PIKE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    verdicts: list[dict[str, Any]] = json.loads(ran.stdout)
    assert [v["status"] for v in verdicts] == ["ok"] * len(paths), ran.stdout + ran.stderr
    assert paths
