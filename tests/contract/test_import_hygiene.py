"""What the import contracts promise, seen at run time in fresh interpreters: deferred imports are seen too."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["torch", "triton", "mcp", "textual", "rich", "openai", "anthropic", "google.genai"]

CASES = [
    ("mcp_server.contract", ["torch", "triton", "mcp", "textual", "mcp_server.app"]),
    ("mcp_server.app", ["torch", "triton", "textual", "workbench", "sessions", "strategies"]),
    (
        "strategies.registry",
        ["asyncio", "threading", "subprocess", "socket", "sqlite3", "git", "mcp", "pydantic"],
    ),
    ("sessions.engine", ["torch", "textual", "workbench", "openai", "anthropic", "google.genai"]),
    ("workbench.cli", [*HEAVY, "pydantic", "git"]),
    ("workbench.plain", HEAVY),
    ("workbench.launch", ["textual", "rich", "torch"]),
    ("workbench.engine_entry", ["textual", "torch"]),
]


@pytest.mark.parametrize(("module", "absent"), CASES, ids=[m for m, _ in CASES])
def test_importing_a_module_brings_in_nothing_it_must_not(module: str, absent: list[str]) -> None:
    script = (
        "import sys, importlib; before = set(sys.modules); importlib.import_module(sys.argv[1]);"
        "print([m for m in sys.argv[2:] if m in sys.modules and m not in before])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, module, *absent], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]", f"{module} brings in {done.stdout}"


def test_every_room_has_empty_package_files() -> None:
    from pathlib import Path

    root = Path(__file__).parents[2]
    rooms = ("workbench", "sessions", "strategies", "mcp_server")
    filled = [
        p for room in rooms for p in (root / room).rglob("__init__.py") if p.read_text().strip()
    ]
    assert filled == []
