"""Attempts on sessions as tool results: who asks, how long to wait, what an agent sees of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.server.mcpserver.exceptions import ToolError

from mcp_server.callers import ALL_SESSIONS
from mcp_server.clean import printable
from mcp_server.contract import (
    AgentView,
    EngineResult,
    SessionCaller,
    SessionsRefused,
)
from mcp_server.reply import verdict_reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.mcpserver import Context
    from mcp.types import CallToolResult

    from mcp_server.contract import SessionGateway
    from mcp_server.link import Message
    from mcp_server.service import Service

JOB = "att_"
"""How the job of an attempt begins: any server can answer for it."""
_LOOK_S = 0.25
_TELL_S = 5.0
_ELSEWHERE = ("job_id", "evidence_id", "attempt_id")
"""Ids of a verdict that name things of the engine's evaluator, not of this server."""
_BESIDE = ("session_id", "attempt_id", "commit", "lineage", "is_best", "attempts_left", "guidance")


def asker(ctx: Context[Service]) -> SessionCaller:
    """Return who calls."""
    callers = ctx.request_context.lifespan_context.callers
    return SessionCaller(callers.name(), callers.may(ALL_SESSIONS), _client(ctx))


async def wait(
    ctx: Context[Service], sessions: SessionGateway, job_id: str, wait_s: float
) -> CallToolResult:
    """Wait for an attempt's verdict, and return it, or that it is still under way.

    Raises:
        ToolError: there is no such attempt of this caller's, or the search did not take it.
    """
    who, began = asker(ctx), anyio.current_time()
    told = began
    try:
        while True:
            found = await sessions.submitted(who, job_id)
            now = anyio.current_time()
            if found["state"] == "done" or now - began >= wait_s:
                return shown(found, job_id)
            if now - told >= _TELL_S:
                told = now
                await ctx.report_progress(round(now - began, 1), message=str(found["state"]))
            await anyio.sleep(_LOOK_S)
    except SessionsRefused as error:
        raise ToolError(str(error)) from error


def shown(found: Mapping[str, object], job_id: str) -> CallToolResult:
    """Return what an agent sees of an attempt; `found`: as the gateway's `submitted` says it."""
    state = found["state"]
    verdict = _verdict(found) if state == "done" else {}
    result = EngineResult.model_validate(
        {
            **verdict,
            "state": state,
            "job_id": None if state == "done" else job_id,
            "ok": verdict.get("status") == "ok" if state == "done" else None,
            "stage": verdict.get("stage"),
        }
    )
    beside: Message = {name: found[name] for name in _BESIDE if found.get(name) is not None}
    if "guidance" in beside:
        beside["guidance"] = printable(str(beside["guidance"]))
    return verdict_reply(result, whole=False, beside=beside)


def agents_verdict(found: Mapping[str, object]) -> list[str]:
    """Return the fields of an attempt's verdict that an agent may see, a line each."""
    verdict = _verdict(found)
    return [
        f"{name}: {printable(str(value))}" for name, value in verdict.items() if value is not None
    ]


def _verdict(found: Mapping[str, object]) -> Message:
    held = found.get("verdict")
    data: Message = dict(held) if isinstance(held, dict) else {}  # pyright: ignore[reportUnknownArgumentType] - JSON of the gateway
    known = AgentView.model_fields
    return {k: v for k, v in data.items() if k in known and k not in _ELSEWHERE}


def _client(ctx: Context[Service]) -> str:
    """Return what the client's program calls itself; empty where it does not say."""
    params = ctx.session.client_params
    if params is None:
        return ""
    about = params.client_info
    return printable(f"{about.name} {about.version}".strip())[:60]
