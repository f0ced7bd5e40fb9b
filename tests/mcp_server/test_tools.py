"""The tools as a client sees them, in memory; jobs run through real small processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client
from mcp.types import TextContent

from mcp_server.app import build
from mcp_server.contract import EngineResult, KernelResult
from tests.mcp_server.conftest import candidate

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from mcp_server.setting import Setting

SNAPSHOT = Path(__file__).parent / "tools.json"
AGENT_TOOLS = {
    "list_tasks",
    "get_task",
    "compile_kernel",
    "check_kernel",
    "benchmark_kernel",
    "profile_kernel",
    "wait_job",
    "cancel_job",
    "get_artifact",
    "add_task",
}


def text(reply: CallToolResult) -> str:
    """Return the text channel."""
    content = reply.content[0]
    assert isinstance(content, TextContent)
    return content.text


def fields(reply: CallToolResult) -> dict[str, Any]:
    """Return the structured channel of a result that is no error."""
    assert not reply.is_error, text(reply)
    assert reply.structured_content is not None
    return reply.structured_content


async def described(setting: Setting) -> list[dict[str, Any]]:
    """Return what a client learns of the tools, without the results' fields."""
    async with Client(build(setting, engine=True)) as client:
        listed = await client.list_tools()
    return [
        t.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"output_schema"})
        for t in listed.tools
    ]


async def test_the_tools_look_as_written_down(setting: Setting) -> None:
    """To accept a change: write the printed JSON to tools.json."""
    seen = await described(setting)
    kept = json.loads(SNAPSHOT.read_text(encoding="utf-8")) if _exists() else None
    assert seen == kept, json.dumps(seen, indent=1)


def _exists() -> bool:
    return SNAPSHOT.exists()


async def test_only_an_engine_is_offered_evaluate_kernel(setting: Setting) -> None:
    async with Client(build(setting)) as client:
        assert {t.name for t in (await client.list_tools()).tools} == AGENT_TOOLS
    names = {t["name"] for t in await described(setting)}
    assert names == {*AGENT_TOOLS, "evaluate_kernel"}


async def test_every_tool_names_the_next_call_and_has_a_schema_of_its_result(
    setting: Setting,
) -> None:
    async with Client(build(setting, engine=True)) as client:
        for tool in (await client.list_tools()).tools:
            assert "Next: " in (tool.description or "")
            assert tool.output_schema is not None
            assert tool.meta is not None


async def test_tasks_are_listed_in_pages(setting: Setting) -> None:
    async with Client(build(setting)) as client:
        first = fields(await client.call_tool("list_tasks", {"limit": 5}))
        rest = fields(await client.call_tool("list_tasks", {"cursor": first["next_cursor"]}))
        ids = [row["id"] for row in first["tasks"] + rest["tasks"]]
        assert len(ids) == len(set(ids)) == 8
        assert "next_cursor" not in rest
        one = fields(await client.call_tool("list_tasks", {"contains": "softm"}))
        assert [row["id"] for row in one["tasks"]] == ["starter/softmax"]


async def test_a_task_shows_its_source_rules_and_digest(setting: Setting) -> None:
    async with Client(build(setting)) as client:
        reply = await client.call_tool("get_task", {"task_id": "starter/softmax"})
        shown = fields(reply)
    assert "class Model" in shown["source"]
    assert "class Model" in text(reply)
    assert len(shown["task_sha256"]) == 64
    assert "cpu" in shown["devices"]
    assert any("ModelNew" in rule for rule in shown["rules"])
    assert "PyTorch" in shown["builds"][-1]
    assert all("about" in line for line in shown["builds"][:-1])


async def test_a_candidate_is_compiled_checked_and_timed_by_its_id(setting: Setting) -> None:
    async with Client(build(setting)) as client:
        arguments = {"task_id": "starter/softmax", "source": candidate("said = 7")}
        compiled = fields(await client.call_tool("compile_kernel", arguments))
        handle = {"candidate_id": compiled["candidate_id"]}
        checked = fields(await client.call_tool("check_kernel", handle))
        timed = fields(await client.call_tool("benchmark_kernel", handle))
    for result in (compiled, checked, timed):
        assert (result["state"], result["ok"]) == ("done", True)
        assert result["candidate_id"] == compiled["candidate_id"]
        KernelResult.model_validate(result)


async def test_an_engine_has_a_tool_carried_out_under_its_policy_and_shown_as_agents_see_it(
    setting: Setting,
) -> None:
    arguments = {"task_id": "starter/softmax", "source": candidate("said = 7"), "precision": "fp32"}
    async with Client(build(setting, engine=True)) as client:
        asked = {**arguments, "tool": "check_kernel"}
        reply = await client.call_tool("evaluate_kernel", asked)
        whole = fields(await client.call_tool("evaluate_kernel", arguments))
    assert "candidate_sha256" in whole
    assert set(fields(reply)) <= set(KernelResult.model_fields)
    assert text(reply).startswith("ok: ")


async def test_a_candidate_that_does_not_compile_is_a_normal_result(setting: Setting) -> None:
    async with Client(build(setting)) as client:
        arguments = {"task_id": "starter/softmax", "source": "class ModelNew(:\n"}
        reply = await client.call_tool("compile_kernel", arguments)
    assert not reply.is_error
    shown = fields(reply)
    assert (shown["ok"], shown["status"], shown["code"]) == (False, "compile_error", "syntax")
    assert "Line 1" in text(reply)


async def test_a_call_that_takes_long_returns_a_job_to_wait_for(setting: Setting) -> None:
    async with Client(build(setting, engine=True)) as client:
        arguments = {"task_id": "starter/softmax", "source": candidate("said = 7"), "wait_s": 0}
        pending = fields(await client.call_tool("evaluate_kernel", arguments))
        assert pending["state"] in ("queued", "running")
        assert pending["ok"] is None
        ended = fields(await client.call_tool("wait_job", {"job_id": pending["job_id"]}))
    verdict = EngineResult.model_validate(ended)
    assert (verdict.state, verdict.ok) == ("done", True)
    assert verdict.candidate_sha256 is not None


async def test_progress_tells_each_stage_as_it_begins(setting: Setting) -> None:
    heard: list[str] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        assert progress >= 0
        assert total is None
        heard.append(message or "")

    async with Client(build(setting, engine=True)) as client:
        arguments = {
            "task_id": "starter/softmax",
            "source": candidate("import time\ntime.sleep(0.2)\nsaid = 1"),
        }
        await client.call_tool("evaluate_kernel", arguments, progress_callback=listen)
    assert "timing" in heard


async def test_a_cancelled_job_ends_and_a_finished_one_stays(setting: Setting) -> None:
    async with Client(build(setting, engine=True)) as client:
        sleeps = candidate("import time\ntime.sleep(300)")
        arguments = {"task_id": "starter/softmax", "source": sleeps, "wait_s": 0}
        pending = fields(await client.call_tool("evaluate_kernel", arguments))
        handle = {"job_id": pending["job_id"]}
        assert fields(await client.call_tool("cancel_job", handle))["state"] == "cancelled"
        assert fields(await client.call_tool("wait_job", handle))["state"] == "cancelled"
        quick = {"task_id": "starter/softmax", "source": candidate("said = 1")}
        done = fields(await client.call_tool("evaluate_kernel", quick))
        after = fields(await client.call_tool("cancel_job", {"job_id": done["job_id"]}))
    assert (after["state"], after["ok"]) == ("done", True)


async def test_logs_and_evidence_are_read_as_artifacts(setting: Setting) -> None:
    async with Client(build(setting, engine=True)) as client:
        body = "print('\\n'.join(f'line {n}' for n in range(5000)))\nsaid = 1"
        arguments = {"task_id": "starter/softmax", "source": candidate(body)}
        done = fields(await client.call_tool("evaluate_kernel", arguments))
        handle = {"artifact_id": done["output_id"], "offset": 0}
        page = fields(await client.call_tool("get_artifact", handle))
        assert page["text"].startswith("line 0\nline 1\n")
        assert page["next_offset"] == len(page["text"])
        assert page["total"] > 40_000
        evidence = {"artifact_id": done["evidence_id"]}
        assert "output" in fields(await client.call_tool("get_artifact", evidence))["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("get_task", {"task_id": "starter/none"}, "list_tasks"),
        ("get_task", {}, "task_id"),
        ("get_task", {"task_id": "x", "path": "/etc"}, "no argument 'path'"),
        ("list_tasks", {"cursor": "nonsense"}, "cursor"),
        ("check_kernel", {"candidate_id": "cand_unknown0"}, "compile_kernel"),
        ("check_kernel", {"candidate_id": "../etc"}, "pattern"),
        ("wait_job", {"job_id": "job_unknown0"}, "start it again"),
        ("wait_job", {"job_id": "job_unknown0", "wait_s": 41}, "40"),
        ("get_artifact", {"artifact_id": "log_unknown0"}, "an hour"),
        ("compile_kernel", {"task_id": "starter/softmax", "source": ""}, "source"),
        (
            "compile_kernel",
            {"task_id": "starter/softmax", "source": "x", "device": "cuda:99"},
            "no device 'cuda:99'",
        ),
        ("compile_kernel", {"task_id": "starter/nope", "source": "x"}, "no task"),
    ],
)
async def test_a_caller_s_mistake_is_one_sentence(
    setting: Setting, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with Client(build(setting, engine=True)) as client:
        reply = await client.call_tool(tool, arguments)
    assert reply.is_error
    assert said in text(reply)
    assert "\n" not in text(reply)
    assert "Traceback" not in text(reply)


async def test_two_agents_calls_at_once_both_end(setting: Setting) -> None:
    ended: list[bool] = []
    async with Client(build(setting)) as client, anyio.create_task_group() as group:

        async def call(number: int) -> None:
            arguments = {"task_id": "starter/softmax", "source": candidate(f"said = {number}")}
            ended.append(fields(await client.call_tool("compile_kernel", arguments))["ok"])

        for number in range(4):
            group.start_soon(call, number)
    assert ended == [True] * 4
