"""An MCP server with the evaluator's tools and known fates, in this process or as a child on stdio.

A source with `# die` ends the server; one with `# slow` stays pending until it is cancelled. `python -m
tests.sessions.scripted_server [DEVICE TITLE]`: what it says it has, by default the CPU that the fates are of; `@FILE`
for a title that may change. While the file of the variable PIKE_TEST_HANG is there, no job ends; that of
PIKE_TEST_HOSTS holds what it says of its hosts.
"""

import hashlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

from mcp_server.contract import EngineResult
from tests.fakes import SOURCE, verdict_on

SHA = hashlib.sha256(SOURCE.encode()).hexdigest()
DEVICE, TITLE = "cpu", "a test CPU"
HANG = os.environ.get("PIKE_TEST_HANG", "")


def build(device: str = DEVICE, title: str = TITLE) -> MCPServer[Any]:
    """Return the server."""
    server: MCPServer[Any] = MCPServer("scripted")
    jobs: dict[str, dict[str, Any]] = {}

    @server.tool()
    async def get_task(task_id: str) -> dict[str, Any]:
        if not task_id.startswith("local/twice"):
            raise ToolError(f"No task {task_id!r}: list_tasks shows them.")
        known = {"task_id": task_id, "task_sha256": SHA}
        return {**known, "devices": [device], "device_titles": [_now(title)]}

    @server.tool()
    async def evaluate_kernel(
        task_id: str,
        source: str,
        device: str,
        precision: str,
        tolerance: str,
        attempt_id: str,
        wait_s: int,
        beat: float | None = None,
        profile: bool = False,
        tool: str = "",
        device_name: str = "",
    ) -> Annotated[CallToolResult, EngineResult]:
        del device_name, task_id, device, precision, tolerance, wait_s, beat
        job = f"job_{len(jobs):08d}"
        jobs[job] = {"source": source, "attempt_id": attempt_id, "state": "done"}
        jobs[job] |= {"tool": tool} if tool else {}
        jobs[job] |= {"hottest": ["100% 3.0 µs, 1 calls, own: scripted"]} if profile else {}
        if "# slow" in source or (attempt_id != "c0" and _hangs()):
            jobs[job]["state"] = "running"
        return _result({"state": "queued", "job_id": job})

    @server.tool()
    async def wait_job(job_id: str, wait_s: int) -> Annotated[CallToolResult, EngineResult]:
        del wait_s
        if job_id not in jobs:
            raise ToolError(f"No job {job_id!r}.")
        job = jobs[job_id]
        if "# die" in job["source"]:
            os._exit(3)
        if job["state"] != "done":
            return _result({"state": job["state"], "job_id": job_id, "stage": "build"})
        told = {name: job[name] for name in ("attempt_id", "hottest") if name in job}
        found = verdict_on(job["source"]) | told | {"job_id": job_id}
        found |= {"device": device, "device_name": _now(title)}
        return _result({"state": "done", **found}, f"ok: {job['tool']}" if "tool" in job else "")

    @server.tool()
    async def cancel_job(job_id: str) -> Annotated[CallToolResult, EngineResult]:
        jobs[job_id]["state"] = "cancelled"
        return _result({"state": "cancelled", "job_id": job_id})

    server.resource("kernel://hosts/{name}", mime_type="application/json")(_hosts)
    return server


async def _hosts(name: str) -> str:
    del name
    return _now(f"@{os.environ['PIKE_TEST_HOSTS']}")


def _hangs() -> bool:
    return bool(HANG) and Path(HANG).exists()


def _now(title: str) -> str:
    return Path(title[1:]).read_text(encoding="utf-8") if title.startswith("@") else title


def _result(data: dict[str, Any], text: str = "") -> CallToolResult:
    content = [TextContent(type="text", text=text)] if text else []
    return CallToolResult(content=[*content], structured_content=data)


if __name__ == "__main__":
    build(*sys.argv[1:3]).run("stdio")
