"""Claude Code, Codex, Gemini CLI and opencode, unchanged, against `pike mcp` and the real evaluator on the processor.

`make test-clients` runs it; npm installs the clients on first use, 0.1 to 0.4 GB each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.driver import NODE, PACKAGES, ROOT, installed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.wire import Json

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.timeout(800),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here"),
]
RUN_LIMIT_S = 560
GIVING_UP_S = {"gemini": 20, "opencode": 4}
"""Theirs bounds the server's start, too; opencode's begins anew with each progress, told every 5 s."""
CORE = {"get_task", "compile_kernel", "benchmark_kernel", "wait_job"}

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
SLEEPING = f"import time\n\ntime.sleep(600)\n{GOOD}"
LOUD = (
    f"for number in range(30_000):\n    print(number, 'a line of thirty-two characters ')\n{GOOD}"
)


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's state folder: what is known of the task serves every run."""
    return tmp_path_factory.mktemp("clients") / "pike"


@pytest.fixture(params=sorted(PACKAGES))
def client(request: pytest.FixtureRequest) -> str:
    """Each client, installed."""
    name: str = request.param
    try:
        installed(*NODE)
        installed(name, PACKAGES[name])
    except subprocess.SubprocessError:
        pytest.skip(f"npm could not install {name}")
    return name


def driven(
    client: str, state: Path, *steps: tuple[str, Json], options: tuple[str, ...] = ()
) -> Json:
    """Return the driver's report on one run of a client."""
    words = [word for tool, arguments in steps for word in (tool, json.dumps(arguments))]
    argv = [sys.executable, "-m", "tests.clients.driver", *options, "--state", str(state)]
    done = subprocess.run(
        [*argv, client, "--", *words],
        cwd=ROOT, capture_output=True, timeout=RUN_LIMIT_S, check=False, env=dict(os.environ),
    )  # fmt: skip
    assert done.stdout, done.stderr.decode()
    found: Json = json.loads(done.stdout)
    assert found["gone_s"] is not None, "something of the run lives on"
    return found


def answered(call: Json) -> dict[str, Any]:
    """Return the structured result of a call that was answered and shown to the model."""
    assert call["text"]
    assert not call["wire"].get("isError"), call["wire"]
    return call["wire"]["structuredContent"]


def compiled(source: str, **more: Any) -> tuple[str, Json]:
    """Return a call of compile_kernel."""
    return ("compile_kernel", {"task_id": "starter/softmax", "source": source, **more})


def test_a_kernel_is_compiled_and_benchmarked_and_the_model_sees_the_number(
    client: str, state: Path
) -> None:
    found = driven(
        client, state,
        compiled(GOOD),
        ("benchmark_kernel", {"candidate_id": "$candidate_id"}),
    )  # fmt: skip
    assert found["exit"] == 0
    timed = next(c for c in found["calls"] if "speedup_ratio" in json.dumps(c["wire"]))
    result = answered(timed)
    assert result["ok"] is True
    assert re.search(rf"speedup_ratio\W+{re.escape(str(result['speedup_ratio']))}", timed["text"])


def test_a_source_that_does_not_compile_is_an_answer_with_the_compiler_s_words(
    client: str, state: Path
) -> None:
    found = driven(client, state, compiled(BROKEN))
    failed = next(c for c in found["calls"] if "compile_error" in json.dumps(c["wire"]))
    assert answered(failed)["ok"] is False
    assert "undeclared_name" in failed["text"]


def test_a_job_is_waited_for_by_its_id(client: str, state: Path) -> None:
    found = driven(client, state, compiled(GOOD, wait_s=0))
    pending, *_, ended = map(answered, found["calls"])
    assert pending["state"] in ("queued", "running")
    assert {c["tool"] for c in found["calls"][1:]} == {"wait_job"}
    assert ended["state"] == "done"


def test_a_client_that_gives_up_cancels_and_nothing_lives_on(client: str, state: Path) -> None:
    limit_s = GIVING_UP_S.get(client, 3)
    found = driven(client, state, compiled(SLEEPING), options=("--tool-limit", str(limit_s)))
    assert found["calls"][0]["cancelled"], found


def test_a_page_of_a_long_log_reaches_the_model_whole(client: str, state: Path) -> None:
    found = driven(client, state, compiled(LOUD), ("get_artifact", {"artifact_id": "$output_id"}))
    page = answered(found["calls"][-1])
    assert page["total"] > 200_000, "of the megabyte that was printed a quarter is kept"
    shown = re.sub(r"\\+n", "\n", found["calls"][-1]["text"])
    lines = page["text"].splitlines()
    assert len(lines) > 50
    assert all(line in shown for line in lines)


def test_over_http_a_client_takes_its_token_from_the_environment_and_keeps_it_nowhere(
    client: str, state: Path
) -> None:
    asked = ("get_task", {"task_id": "starter/softmax"})
    found = driven(client, state, asked, options=("--http",))
    assert "class Model" in found["calls"][0]["text"]
    assert found["kept"] == []


def test_claude_always_sees_the_core_tools(state: Path) -> None:
    options = ("--client-env", "ENABLE_TOOL_SEARCH=true")
    asked = ("get_task", {"task_id": "starter/softmax"})
    found = driven("claude", state, asked, options=options)
    offered = {name.removeprefix("mcp__kernels__") for name in found["offered"]}
    assert offered >= CORE
    assert "profile_kernel" not in offered, "the others are found by search"
