"""A model that calls the tools of the real evaluator: command, engine, MCP, judge, git. Slow: real files are judged."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.folder import SessionFolder
from sessions.journal import Reader

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.torch]

LIMIT_S = 900.0
"""For a search of one attempt and nine calls of tools, the task's qualification included, on a busy machine."""
RIGHT = """import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        logits = torch.addcmul(self.bias, x, self.scale)
        return torch.softmax(self.cap * torch.tanh(logits / self.cap), dim=-1)
"""
WRONG = RIGHT.replace("dim=-1)", "dim=-1) * 1.5")
BROKEN = RIGHT.replace("forward(self, x):", "forward(self, x)")
ROUNDS: tuple[tuple[tuple[str, dict[str, str]], ...], ...] = (
    (("get_task", {}), ("compile_kernel", {"source": BROKEN})),
    (
        ("compile_kernel", {"source": WRONG}),
        ("check_kernel", {"candidate_id": "q2-1"}),
        ("benchmark_kernel", {"source": WRONG}),
    ),
    (
        ("compile_kernel", {"source": RIGHT}),
        ("check_kernel", {"candidate_id": "q2-1"}),
        ("check_kernel", {"source": RIGHT}),
        ("benchmark_kernel", {"source": RIGHT}),
    ),
)
"""What the model asks for in each round; `q2-1` is the wrong file, as the first call of round 2 named it."""
CAME_TO = (
    ("get_task", True, "starter/softmax"),
    ("compile_kernel", False, "compile_error/syntax"),
    ("compile_kernel", True, "ok: build passed"),
    ("check_kernel", False, "wrong_result/values"),
    ("benchmark_kernel", False, "wrong_result/values"),
    ("compile_kernel", True, "ok: build passed"),
    ("check_kernel", False, "wrong_result/values"),
    ("check_kernel", True, "ok: correctness passed"),
    ("benchmark_kernel", True, "ok: "),
)
"""Each call's tool, whether it went well, and how the first line of its answer begins."""


def pike(*words: str) -> str:
    argv = [sys.executable, "-m", "workbench", *words]
    told = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def script(folder: Path) -> Path:
    """Write the model's answers: three rounds of calls, then the right file."""
    lines: list[dict[str, Any]] = [
        {"round": place, "calls": [{"tool": tool, "arguments": given} for tool, given in calls]}
        for place, calls in enumerate(ROUNDS, 1)
    ]
    lines.append({"round": 4, "text": f"# change: one pass\n\n```python\n{RIGHT}```\n"})
    path = folder / "script.json"
    path.write_text(json.dumps(lines), encoding="utf-8")
    return path


@pytest.fixture
def searched(home: Path, tmp_path: Path) -> SessionFolder:
    """A finished search of four queries, whose one agent called tools in three of them."""
    pike(
        "run", "starter/softmax", "--model", f"scripted:{script(tmp_path)}", "--agent-tools",
        "--queries", "4", "--set", "ideas=0", "--set", "width=1", "--set", "places=1",
        "--set", "fixes=0", "--device", "cpu", "--plain", "--name", "tools",
    )  # fmt: skip
    return SessionFolder(home / "sessions" / "tools")


@pytest.mark.timeout(LIMIT_S)
def test_what_the_real_evaluator_says_to_a_models_calls_is_kept_and_told(
    searched: SessionFolder,
) -> None:
    with Reader(searched.journal) as reader:
        answered = [a.body for a in reader.facts() if isinstance(a.body, f.ToolAnswered)]
        said = [reader.text(answer.result_key) for answer in answered]
    for answer, (tool, ok, begins) in zip(answered, CAME_TO, strict=True):
        assert (answer.tool, answer.ok) == (tool, ok)
        assert answer.said.startswith(begins), answer.said
    compiled, checked, timed = said[2], said[7], said[8]
    assert "correct:" not in compiled, "a build shows nothing of what it computes"
    assert "correct: true" in checked
    assert "speedup_ratio:" not in checked
    assert "correct: true" in timed
    assert "speedup_ratio:" in timed
    assert "correct: false" in said[3]
    assert not any("job_id:" in one or "cand_" in one for one in said), "the evaluator's own names"
    _told_by_commands()


def _told_by_commands() -> None:
    shown = pike("show", "tools")
    assert "options: agent_tools" in shown
    assert "4 of 4 queries" in shown
    assert "1 attempt, 9 tool calls by models" in shown
    whole = json.loads(pike("show", "tools", "c4", "--json"))
    told = [(one["tool"], one["ok"], one["carried_out"]) for one in whole["tool_calls"]]
    assert told == [(tool, ok, True) for tool, ok, _ in CAME_TO]
    assert whole["kind"] == "correct"
    whole_text = pike("show", "tools", "c4").splitlines()
    lines = [line for line in whole_text if line.startswith("COA-1 called ")]
    for line, (tool, ok, begins) in zip(lines, CAME_TO, strict=True):
        assert f"called {tool}: {'ok' if ok else 'not ok'}" in line
        assert begins in line
    story = pike("tail", "tools")
    assert story.count(" called ") == len(CAME_TO)
    assert "q4 answered" in story
    assert pike("sessions").count("finished") == 1
    (row,) = json.loads(pike("sessions", "--json"))
    assert (row["queries"], row["tool_calls"], row["attempts"]) == (4, 9, 1)
    kept = pike("git", "tools", "--", "show", "lineage/001:rounds.md")
    assert kept.count("asked for") == kept.count(" said (") == len(CAME_TO)
