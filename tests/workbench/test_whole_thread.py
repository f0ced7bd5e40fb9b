"""The whole thread, with nothing replaced: command, engine, MCP, evaluator, git. Slow: real candidates are judged."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.torch]

LIMIT_S = 800.0
"""For a whole search on a busy machine of two cores."""
TASK = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return torch.softmax(torch.tanh(x * self.scale) * 3.0, dim=-1)


def get_inputs():
    return [torch.randn(512, 1024)]


def get_init_inputs():
    return [1024]
"""


def pike(*words: str) -> subprocess.CompletedProcess[str]:
    """Run one command as a person would, without a terminal."""
    argv = [sys.executable, "-m", "workbench", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.timeout(LIMIT_S)
def test_the_demo_plays_a_real_search_to_a_summary(home: Path) -> None:
    told = pike("demo", "--plain", "--device", "cpu")
    assert told.returncode == 0, told.stderr
    assert "recorded" in told.stderr
    assert "★ best" in told.stdout
    (row,) = json.loads(pike("sessions", "--json").stdout)
    assert (row["state"], row["strategy"], row["task"]) == ("finished", "pike-b", "starter/softmax")
    assert row["queries"] == 16
    log = pike("git", row["id"], "--", "log", "--all", "--format=%H").stdout.split()
    assert len(log) == row["attempts"] + 1
    shown = json.loads(pike("show", row["id"], "--json").stdout)
    kinds = {attempt["kind"] for attempt in shown["attempt_rows"]}
    assert {"correct", "error", "wrong"} <= kinds


@pytest.mark.timeout(LIMIT_S)
def test_a_file_of_the_users_is_searched_by_rules_alone(home: Path, tmp_path: Path) -> None:
    task = tmp_path / "soft.py"
    task.write_text(TASK, encoding="utf-8")
    words = ("--model", "offline", "--queries", "4", "--set", "width=2", "--set", "fixes=1")
    told = pike("run", str(task), *words, "--device", "cpu", "--plain", "--name", "soft")
    assert told.returncode == 0, told.stderr + told.stdout
    best = tmp_path / "best.py"
    assert pike("best", "soft", "-o", str(best)).returncode == 0
    verdicts = json.loads(
        pike("evaluate", str(task), str(best), "--device", "cpu", "--json").stdout
    )
    assert [verdict["status"] for verdict in verdicts] == ["ok"]


def test_the_mcp_server_answers_on_stdio(home: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
    }  # fmt: skip
    argv = [sys.executable, "-m", "workbench", "mcp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(hello) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
        assert server.wait(30) == 0
    assert answer["result"]["serverInfo"]["name"]
