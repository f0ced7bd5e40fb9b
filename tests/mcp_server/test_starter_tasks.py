"""The eight starter tasks run, repeat themselves and answer to their inputs and parameters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

STARTER = Path(__file__).parents[2] / "mcp_server" / "starter"
NAMES = (
    "attention",
    "conv-bn-relu",
    "cross-entropy",
    "elementwise",
    "layernorm-mlp",
    "rmsnorm",
    "scan",
    "softmax",
)

PROBE = """
import importlib.util, json, sys, time
import torch

torch.set_num_threads(1)


def first(y):
    return y if isinstance(y, torch.Tensor) else y[0]


def probe(path):
    spec = importlib.util.spec_from_file_location("task", path)
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    torch.manual_seed(0)
    model = task.Model(*task.get_init_inputs()).eval()
    with torch.inference_mode():
        a, b = task.get_inputs(), task.get_inputs()
        one, other = first(model(*a)), first(model(*b))
        repeated = torch.equal(one, first(model(*a)))
        signal = float((one - other).double().pow(2).mean().sqrt() / one.double().pow(2).mean().sqrt())
        idle = []
        for name, weight in model.named_parameters():
            kept = weight.clone()
            weight.mul_(1.5).add_(0.1)
            if torch.allclose(first(model(*a)), one, rtol=1e-4, atol=1e-6):
                idle.append(name)
            weight.copy_(kept)
    return {"repeated": repeated, "signal": signal, "idle": idle, "title": task.__doc__}


print(json.dumps({path: probe(path) for path in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def probed() -> dict[str, dict[str, Any]]:
    paths = [str(STARTER / f"{name}.py") for name in NAMES]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *paths], capture_output=True, text=True, check=True
    )
    return {Path(path).stem: found for path, found in json.loads(done.stdout).items()}


def test_there_are_eight_starter_tasks() -> None:
    assert tuple(sorted(path.stem for path in STARTER.glob("*.py"))) == NAMES


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_a_starter_task_repeats_its_answer_and_follows_its_inputs(
    name: str, probed: dict[str, dict[str, Any]]
) -> None:
    assert probed[name]["repeated"]
    assert probed[name]["signal"] > 0.1


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_starter_task_matters(
    name: str, probed: dict[str, dict[str, Any]]
) -> None:
    assert probed[name]["idle"] == []


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_a_starter_task_has_a_title_of_one_line(
    name: str, probed: dict[str, dict[str, Any]]
) -> None:
    title: str = probed[name]["title"]
    assert "\n" not in title
    assert title.endswith(".")
