"""The tools that drive sessions; offered only where there is a gateway to them.

Annotations are evaluated when a tool is registered, so this module does without `from __future__ import annotations`.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Annotated, ParamSpec

import anyio
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from mcp_server.attempts import agents_verdict, asker
from mcp_server.attempts import wait as wait_for_attempt
from mcp_server.clean import printable
from mcp_server.contract import (
    WAIT_LIMIT_S,
    HandedIn,
    KernelResult,
    SessionGateway,
    SessionsRefused,
    SessionWish,
)
from mcp_server.reply import fits, plain_reply
from mcp_server.session_results import (
    OpenedSession,
    PromptPage,
    PromptRow,
    ReplyTaken,
    SessionList,
    SessionPage,
    SessionRow,
)
from mcp_server.tools import (
    CORE,
    READS,
    RUNS,
    Ctx,
    Device,
    Server,
    Source,
    TaskId,
    WaitS,
    caller,
    cursor_of,
    hint,
    mistakes,
    place_of,
    service,
)

_P = ParamSpec("_P")
_NAME = r"^[A-Za-z0-9._-]{1,64}$"
_LINES = 10
_LINE_CHARACTERS = 600
_PROMPTS_WAIT_S = 2.0
REPLY_LIMIT = 200_000
"""Characters of one reply."""

SessionId = Annotated[str, Field(pattern=_NAME, description="from open_session or list_sessions")]
AttemptId = Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]{1,64})?$")]
Cursor = Annotated[str, Field(max_length=40, description="from an earlier list")]
Claimed = Annotated[str, Field(max_length=100, description="the model you are, as far as you know")]
PromptId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}:q\d{1,9}$", description="from next_prompt")
]


def register(server: Server, sessions: SessionGateway) -> None:
    """Add the session tools to a server."""
    _register_looking(server, sessions)
    _register_attempts(server, sessions)
    _register_prompts(server, sessions)


def refusals(
    tool: Callable[_P, Awaitable[CallToolResult]],
) -> Callable[_P, Awaitable[CallToolResult]]:
    """Let what sessions refuse reach the caller as one sentence."""

    @functools.wraps(tool)
    async def told(*args: _P.args, **kwargs: _P.kwargs) -> CallToolResult:
        try:
            return await mistakes(tool)(*args, **kwargs)
        except SessionsRefused as error:
            raise ToolError(printable(str(error))) from error

    return told


def _register_looking(server: Server, sessions: SessionGateway) -> None:
    @server.tool(title="List sessions", annotations=READS, meta=hint("searches that run or ran"))
    @refusals
    async def list_sessions(
        ctx: Ctx,
        task_id: Annotated[str, Field(max_length=120, description="only on this task")] = "",
        state: Annotated[str, Field(max_length=20, description="only in this state")] = "",
        cursor: Cursor = "",
        limit: Annotated[int, Field(ge=1, le=30)] = 20,
    ) -> Annotated[CallToolResult, SessionList]:
        """List the searches you may see. Next: get_session, or open_session for one of your own."""
        found = await sessions.sessions(asker(ctx))
        chosen = [
            row
            for row in found
            if task_id in ("", row.get("task")) and state in ("", row.get("state"))
        ]
        start = place_of(cursor, len(chosen))
        more = start + limit < len(chosen)
        page = SessionList(
            sessions=[_row(row) for row in chosen[start : start + limit]],
            next_cursor=cursor_of(start + limit) if more else None,
        )
        return plain_reply(page, f"{len(chosen)} sessions")

    @server.tool(title="Show a session", annotations=READS, meta=hint("state, best, guidance"))
    @refusals
    async def get_session(
        ctx: Ctx, session_id: SessionId, attempt_id: AttemptId = "", cursor: Cursor = ""
    ) -> Annotated[CallToolResult, SessionPage]:
        """Show a search or one attempt of it, and what its person wants. Next: submit_attempt."""
        who = asker(ctx)
        if attempt_id:
            found = await sessions.attempt(who, session_id, attempt_id)
            source = service(ctx).artifacts.keep(caller(ctx), "src", str(found.pop("source", "")))
            page = _attempt_page(found, source)
            return plain_reply(page, f"{attempt_id} of {session_id}")
        found = await sessions.session(who, session_id)
        return plain_reply(_session_page(found, cursor), f"{session_id}: {found['state']}")


def _register_attempts(server: Server, sessions: SessionGateway) -> None:
    @server.tool(title="Open a session", annotations=RUNS, meta=hint("a recorded search of yours"))
    @refusals
    async def open_session(
        ctx: Ctx,
        task_id: TaskId,
        title: Annotated[str, Field(max_length=80, description="for the person who watches")] = "",
        attempts: Annotated[int, Field(ge=1, le=500, description="after which it ends")] = 50,
        hours: Annotated[float, Field(ge=0.1, le=48, description="after which it ends")] = 4.0,
        device: Device = "auto",
    ) -> Annotated[CallToolResult, OpenedSession]:
        """Open a recorded search that you drive and a person watches. Next: submit_attempt."""
        wish = SessionWish(task_id, printable(title), attempts, hours, device)
        found = await sessions.open(asker(ctx), wish)
        return plain_reply(OpenedSession.model_validate(found), f"opened {found['session_id']}")

    @server.tool(title="Submit an attempt", annotations=RUNS, meta=CORE)
    @refusals
    async def submit_attempt(
        ctx: Ctx,
        session_id: SessionId,
        source: Source,
        idea: Annotated[str, Field(min_length=1, max_length=500, description="what is new in it")],
        parent_id: Annotated[
            str,
            Field(
                pattern=r"^(c\d{1,9})?$",
                description="the attempt it was made from; c0: the original; empty: your last",
            ),
        ] = "",
        model: Claimed = "",
        wait_s: WaitS = WAIT_LIMIT_S,
    ) -> Annotated[CallToolResult, KernelResult]:
        """Hand in an attempt: evaluated, recorded, committed. Next: wait_job, or submit a better one."""
        handed = HandedIn(session_id, source, printable(idea), parent_id, printable(model))
        job = await sessions.submit(asker(ctx), handed)
        return await wait_for_attempt(ctx, sessions, job, wait_s)


def _register_prompts(server: Server, sessions: SessionGateway) -> None:
    @server.tool(title="Take prompts", annotations=RUNS, meta=hint("be the model of a search"))
    @refusals
    async def next_prompt(
        ctx: Ctx,
        session_id: SessionId,
        n: Annotated[int, Field(ge=1, le=10, description="at most so many")] = 1,
        lease_s: Annotated[int, Field(ge=60, le=3600, description="until others get them")] = 900,
    ) -> Annotated[CallToolResult, PromptPage]:
        """Take prompts of a search whose model you are. Next: submit_reply for each."""
        who = asker(ctx)
        found = await sessions.prompts(who, session_id, n, lease_s)
        with anyio.move_on_after(_PROMPTS_WAIT_S):
            while not found:
                await anyio.sleep(0.25)
                found = await sessions.prompts(who, session_id, n, lease_s)
        page = _prompt_page(ctx, session_id, found, lease_s)
        return plain_reply(page, f"{len(found)} prompts of {session_id}")

    @server.tool(title="Answer a prompt", annotations=RUNS, meta=hint("the reply to next_prompt"))
    @refusals
    async def submit_reply(
        ctx: Ctx,
        prompt_id: PromptId,
        text: Annotated[
            str, Field(min_length=1, max_length=REPLY_LIMIT, description="the whole reply")
        ],
        model: Claimed = "",
    ) -> Annotated[CallToolResult, ReplyTaken]:
        """Answer a prompt that you took; once is enough, again changes nothing. Next: next_prompt."""
        found = await sessions.reply(asker(ctx), prompt_id, text, printable(model))
        return plain_reply(ReplyTaken.model_validate(found), f"{prompt_id}: {found['state']}")


def _row(row: dict[str, object]) -> SessionRow:
    return SessionRow.model_validate(
        {
            "session_id": row["id"],
            "task_id": row.get("task") or "",
            "strategy": row.get("strategy") or "",
            "state": row.get("state") or "",
            "attempts": row.get("attempts"),
            "best_speedup": row.get("best_speedup"),
            "accepts_attempts": row.get("strategy") == "external"
            and row.get("state") != "finished",
            "title": printable(str(row.get("title") or "")) or None,
        }
    )


def _session_page(found: dict[str, object], cursor: str) -> SessionPage:
    held = found.pop("attempts")
    lines = [printable(str(line)) for line in held] if isinstance(held, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON of the gateway
    start = place_of(cursor, len(lines))
    page = SessionPage.model_validate(_printable(found))
    page.attempts = lines[start : start + _LINES]
    page.next_cursor = cursor_of(start + _LINES) if start + _LINES < len(lines) else None
    return page


def _attempt_page(found: dict[str, object], source_id: str | None) -> SessionPage:
    verdict = [line[:_LINE_CHARACTERS] for line in agents_verdict(found)]
    known = {name: value for name, value in found.items() if name != "verdict"}
    page = SessionPage.model_validate({**_printable(known), "source_id": source_id})
    page.verdict = verdict
    while not _fits(page) and page.verdict:
        page.verdict.remove(max(page.verdict, key=len))
    return page


def _prompt_page(
    ctx: Ctx, session_id: str, found: list[dict[str, object]], lease_s: int
) -> PromptPage:
    """Return the prompts whole, or, where they do not fit, their beginnings with ids of the rest."""
    rows = [PromptRow.model_validate(row) for row in found]
    note = "Answer each with submit_reply." if rows else "None yet: ask again in a while."
    page = PromptPage(session_id=session_id, prompts=rows, lease_s=lease_s, note=note)
    if _fits(page):
        return page
    whole = [row.text for row in rows]
    for row in rows:
        row.text_id = service(ctx).artifacts.keep(caller(ctx), "prompt", row.text)
    page.note = "Texts are cut: read each text_id whole with get_artifact, then submit_reply."
    characters = 3_000
    while characters > 50:
        for row, text in zip(rows, whole, strict=True):
            row.text = text[:characters]
        if _fits(page):
            break
        characters = characters * 2 // 3
    return page


def _printable(found: dict[str, object]) -> dict[str, object]:
    return {k: printable(v) if isinstance(v, str) else v for k, v in found.items()}


def _fits(page: BaseModel) -> bool:
    return fits(
        page, "a title of at most so many characters, as the longest of these tools' titles is"
    )
