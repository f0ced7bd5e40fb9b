"""Claude Code, Codex, Gemini CLI and opencode, unchanged, against `pike mcp` and the real evaluator on the processor.

`make test-clients` runs it; npm installs the clients on first use, 0.1 to 0.4 GB each.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.clients.driving import BROKEN, GOOD, MARKS, answered, compiled, driven

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = MARKS
GIVING_UP_S = {"gemini": 20, "opencode": 4}
"""Theirs bounds the server's start, too; opencode's begins anew with each progress, told every 5 s."""
CORE = {"get_task", "compile_kernel", "benchmark_kernel", "wait_job"}

SLEEPING = f"import time\n\ntime.sleep(600)\n{GOOD}"
LOUD = (
    f"for number in range(30_000):\n    print(number, 'a line of thirty-two characters ')\n{GOOD}"
)


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
    limit = ("--tool-limit", str(GIVING_UP_S.get(client, 3)))
    found = driven(client, state, compiled(SLEEPING), options=limit)
    assert found["calls"][0]["cancelled"], found


def test_a_page_of_a_long_log_reaches_the_model_whole(client: str, state: Path) -> None:
    found = driven(client, state, compiled(LOUD), ("get_artifact", {"artifact_id": "$output_id"}))
    page = answered(found["calls"][-1])
    assert page["total"] > 200_000, "of the megabyte that was printed a quarter is kept"
    shown = re.sub(r"\\+n", "\n", found["calls"][-1]["text"])
    lines = page["text"].splitlines()
    assert len(lines) > 50
    assert all(line in shown for line in lines)


def test_over_http_a_client_works_with_a_token_of_its_environment_and_keeps_it_nowhere(
    client: str, state: Path
) -> None:
    found = driven(
        client, state,
        ("get_task", {"task_id": "starter/softmax"}),
        compiled(GOOD),
        ("benchmark_kernel", {"candidate_id": "$candidate_id"}),
        options=("--http",),
    )  # fmt: skip
    assert "class Model" in found["calls"][0]["text"]
    assert "speedup_ratio" in found["calls"][-1]["text"]
    assert found["kept"] == []


def test_claude_always_sees_the_core_tools(state: Path) -> None:
    options = ("--client-env", "ENABLE_TOOL_SEARCH=true")
    asked = ("get_task", {"task_id": "starter/softmax"})
    found = driven("claude", state, asked, options=options)
    offered = {name.removeprefix("mcp__kernels__") for name in found["offered"]}
    assert offered >= CORE
    assert "profile_kernel" not in offered, "the others are found by search"
