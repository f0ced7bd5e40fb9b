"""One run of a real client, as the tests ask for it, and the candidates that they hand in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.starting import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.wire import Json

MARKS = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.timeout(800),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here"),
]
RUN_LIMIT_S = 560
STARTS = 3
"""A client begins without a server that is late, as it is where much else runs."""
GOOD = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return torch.softmax(self.cap * torch.tanh((x * self.scale + self.bias) / self.cap), dim=-1)
"""
BROKEN = """
from torch.utils.cpp_extension import load_inline

load_inline(
    "broken", 'extern "C" int f() { return undeclared_name; }', no_implicit_headers=True, is_python_module=False
)


class ModelNew:
    pass
"""


def driven(
    client: str, state: Path, *steps: tuple[str, Json], options: tuple[str, ...] = ()
) -> Json:
    """Return the driver's report on one run of a client."""
    found: Json = {}
    for _ in range(STARTS):
        found = _driven(client, state, steps, options)
        assert found["gone_s"] is not None, "something of the run lives on"
        if found["calls"]:
            return found
    raise AssertionError(f"{client} never began with the server: {found}")


def _driven(
    client: str, state: Path, steps: tuple[tuple[str, Json], ...], options: tuple[str, ...]
) -> Json:
    words = [word for tool, arguments in steps for word in (tool, json.dumps(arguments))]
    argv = [sys.executable, "-m", "tests.clients.driver", *options, "--state", str(state)]
    done = subprocess.run(
        [*argv, client, "--", *words],
        cwd=ROOT, capture_output=True, timeout=RUN_LIMIT_S, check=False, env=dict(os.environ),
    )  # fmt: skip
    assert done.stdout, done.stderr.decode()
    found: Json = json.loads(done.stdout)
    return found


def answered(call: Json) -> dict[str, Any]:
    """Return the structured result of a call that was answered and shown to the model."""
    assert call["text"]
    assert not call["wire"].get("isError"), call["wire"]
    return call["wire"]["structuredContent"]


def compiled(source: str, **more: Any) -> tuple[str, Json]:
    """Return a call of compile_kernel."""
    return ("compile_kernel", {"task_id": "starter/softmax", "source": source, **more})
