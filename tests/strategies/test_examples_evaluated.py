"""The worked kernels that run on a CPU, judged by the evaluator as any candidate is, against a task for each title.

Triton's run in its interpreter. What is cheap to build is checked at every run of the tests; what is not, and how fast
each is, in the slow ones. Nothing of this needs the machine for itself: no time is asked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mcp_server.contract import Status
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.setting import Setting
from mcp_server.tasks import Tasks
from tests.strategies.test_examples import shown

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 1500
TASK = """import math

import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {parts}

    def forward(self, x):
        {forward}

def get_inputs():
    return [torch.randn({shape})]

def get_init_inputs():
    return [{given}]
"""
ATTENTION = """b, n, w = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        mixed = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(w // self.heads), dim=-1) @ v
        return self.proj(mixed.transpose(1, 2).reshape(b, n, w))"""
CASES = {
    "scale": {
        "arguments": "width",
        "given": "300",
        "shape": "64, 300",
        "parts": "self.scale = nn.Parameter(torch.randn(width)); self.shift = nn.Parameter(torch.randn(width))",
        "forward": "return torch.relu(x * self.scale + self.shift)",
    },
    "gain": {
        "arguments": "width",
        "given": "300",
        "shape": "64, 300",
        "parts": "self.gain = nn.Parameter(torch.randn(width))",
        "forward": "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain",
    },
    "first": {
        "arguments": "inputs, hidden, outputs",
        "given": "32, 48, 16",
        "shape": "64, 32",
        "parts": "self.first = nn.Linear(inputs, hidden); self.second = nn.Linear(hidden, outputs)",
        "forward": "return self.second(self.first(x))",
    },
    "qkv": {
        "arguments": "width, heads",
        "given": "64, 4",
        "shape": "2, 32, 64",
        "parts": "self.heads = heads; self.qkv = nn.Linear(width, 3 * width); self.proj = nn.Linear(width, width)",
        "forward": ATTENTION,
    },
}
HEAVY = ("load-inline", "torch-library")
INTERPRETED = "triton"
EXAMPLES = {
    **shown("cpu"),
    **{title: source for title, source in shown("cuda").items() if title.startswith(INTERPRETED)},
}


def case_of(source: str) -> str:
    return next(name for name in CASES if f"self.{name} = " in source)


def sources(case: str, examples: dict[str, str], *, heavy: bool) -> list[str]:
    return [
        source
        for title, source in examples.items()
        if case_of(source) == case and (heavy or not title.startswith(HEAVY))
    ]


@pytest.mark.torch
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", list(CASES))
async def test_the_evaluator_finds_the_answers_of_cheap_worked_examples_right(
    case: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{case}.py"
    path.write_text(TASK.format(**CASES[case]), encoding="utf-8")
    task = Tasks(tmp_path).add(path)
    leases = tmp_path / "leases"
    leases.mkdir()
    setting = Setting(tmp_path, sandbox="best-effort", device="cpu", lease_folder=leases)
    judged = sources(case, EXAMPLES, heavy=False)
    assert judged
    work = Work("", task, "", precision="fp32", stages=("build", "correctness"), leased=False)
    async with open_local(setting) as executor:
        for number, source in enumerate(judged):
            asked = replace(work, id=f"job_{number}", source=source)
            verdict = (await executor.run(asked, lambda _stage, _detail: None)).verdict
            assert verdict.status is Status.OK, (source, verdict.cause, verdict.code)
            assert verdict.correct


def verdicts_on(device: str, case: str, answers: list[str], folder: Path) -> list[dict[str, Any]]:
    (folder / "task.py").write_text(TASK.format(**CASES[case]), encoding="utf-8")
    paths = [folder / f"c{n}.py" for n, _ in enumerate(answers)]
    for path, source in zip(paths, answers, strict=True):
        path.write_text(source, encoding="utf-8")
    words = ["evaluate", "task.py", *(path.name for path in paths), "--device", device, "--json"]
    words += ["--precision", "fp32"]
    ran = subprocess.run(
        [sys.executable, "-m", "workbench", *words],
        cwd=folder,
        env={**os.environ, "PIKE_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("case", list(CASES))
def test_the_evaluator_calls_the_worked_examples_right(case: str, tmp_path: Path) -> None:
    answers = sources(case, EXAMPLES, heavy=True)
    verdicts = verdicts_on("cpu", case, answers, tmp_path)
    assert answers
    assert [v["status"] for v in verdicts] == ["ok"] * len(answers), verdicts


@pytest.mark.torch
@pytest.mark.gpu
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("case", list(CASES))
def test_the_evaluator_calls_the_worked_examples_for_a_gpu_right_on_one(
    case: str, tmp_path: Path
) -> None:
    answers = sources(case, shown("cuda"), heavy=True)
    verdicts = verdicts_on("cuda:0", case, answers, tmp_path)
    assert answers
    assert [v["status"] for v in verdicts] == ["ok"] * len(answers), verdicts
