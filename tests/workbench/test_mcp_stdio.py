"""`pike mcp` as a client's command, also as `ssh HOST pike mcp`: stdout carries the protocol and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PIKE = [sys.executable, "-P", "-m", "workbench", "mcp", "--device", "cpu"]
ROOT = Path(__file__).parents[2]
ANSWER_LIMIT_S = 60
START_LIMIT_S = 1.0


def asked(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


HELLO = asked(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "0"},
)


def conversation(argv: list[str], environment: dict[str, str], lines: list[str]) -> tuple[str, str]:
    """Return what a server says to these lines before its input ends."""
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment, cwd=ROOT,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[str] = []
    for line in lines:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        if '"id"' in line:
            said.append(process.stdout.readline())
    rest, errors = process.communicate(timeout=ANSWER_LIMIT_S)
    assert process.returncode == 0, errors
    return "".join(said) + rest, errors


def messages(out: str) -> Iterator[dict[str, Any]]:
    for line in out.splitlines():
        yield json.loads(line)


COLOURFUL = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color", "PIKE_DEBUG": "1"}


@pytest.mark.parametrize("more", [{}, COLOURFUL, {"LANG": "C", "LC_ALL": "C"}])
def test_every_line_on_stdout_is_a_message_and_stderr_has_no_colours(
    tmp_path: Path, more: dict[str, str]
) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **more}
    lines = [
        HELLO,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        asked(2, "tools/list"),
        asked(3, "tools/call", name="get_task", arguments={"task_id": "starter/softmax"}),
        asked(4, "tools/call", name="no_such\x1b[31m", arguments={}),
        asked(5, "no/such/method"),
    ]
    out, errors = conversation(PIKE, environment, lines)
    assert {message["id"] for message in messages(out)} == {1, 2, 3, 4, 5}
    assert "\x1b" not in errors
    assert "Traceback" not in errors


def test_a_server_reached_by_ssh_needs_no_more_than_ssh_gives_it(tmp_path: Path) -> None:
    """What sshd does for `ssh -T HOST pike mcp`: a login's few variables, no terminal, the user's shell."""
    few = {"HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/sh"}
    words = " ".join(PIKE)
    out, _ = conversation(["/bin/sh", "-c", words], few, [HELLO])
    assert next(messages(out))["result"]["serverInfo"]["name"] == "kernels"


@pytest.mark.parametrize("more", [[], ["--http", "127.0.0.1:0"]], ids=["stdio", "http"])
def test_a_device_that_is_none_is_refused_at_the_start_and_not_at_the_first_call(
    tmp_path: Path, more: list[str]
) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [*PIKE[:-1], "nope", *more], env=environment, cwd=ROOT, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=ANSWER_LIMIT_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pike: 'nope' is no device: it may be auto, cpu, cuda or cuda:N.\n"


def test_an_interpreter_that_is_none_is_refused_at_the_start(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [*PIKE, "--python", "/nowhere"], env=environment, cwd=ROOT, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=ANSWER_LIMIT_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "'/nowhere' is neither an environment's folder nor an interpreter" in done.stderr


SLOW_TO_IMPORT = (
    "torch", "triton", "numpy", "textual", "git", "sqlite3", "aiosqlite", "anthropic", "openai",
    "google.genai", "genai_prices", "tenacity", "ray", "sessions.gateway", "sessions.journal",
)  # fmt: skip


def test_a_server_that_has_answered_nothing_yet_has_imported_nothing_that_it_does_not_need() -> (
    None
):
    """What may stay away is what would make a client drop it; the SDK itself takes most of its second."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "import workbench.commands.mcp, workbench.mcp_command\n"
        "from mcp_server.app import Setting, build\n"
        "from workbench.agents import LazyGateway\n"
        "build(Setting(Path('nowhere')), sessions=LazyGateway())\n"
        f"print([name for name in {SLOW_TO_IMPORT} if name in sys.modules])\n"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, check=True, timeout=ANSWER_LIMIT_S, cwd=ROOT)
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.slow
def test_the_first_answer_comes_within_a_second(tmp_path: Path) -> None:
    """Of a quiet machine: the best of five starts."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    took: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        process = subprocess.Popen(
            PIKE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{HELLO}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline()
        took.append(time.perf_counter() - began)
        process.communicate(timeout=ANSWER_LIMIT_S)
    assert min(took) <= START_LIMIT_S, took
