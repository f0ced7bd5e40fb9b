"""The evaluator's MCP tools: arguments in, a result in both channels out.

Annotations are evaluated when a tool is registered, so this module does without `from __future__ import annotations`.
"""

import base64
import functools
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal, ParamSpec

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import Field

from mcp_server import attempts, machine, task_pages
from mcp_server.callers import ENGINE, TASKS
from mcp_server.clean import printable
from mcp_server.contract import (
    SESSION_META,
    SESSION_META_LIMIT,
    SOURCE_LIMIT,
    WAIT_LIMIT_S,
    EngineResult,
    KernelResult,
    SessionGateway,
)
from mcp_server.errors import EvaluatorError
from mcp_server.jobs import Job
from mcp_server.listings import ArtifactPage, TaskList, TaskPage
from mcp_server.reply import fits, plain_reply, verdict_reply
from mcp_server.service import Service, Tool, Wish

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
RUNS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
CORE = {"anthropic/alwaysLoad": True}
_SOURCE_BYTES = 5_000

Id = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$", description="an id from an earlier result")
]
TaskId = Annotated[
    str, Field(min_length=1, max_length=120, description="SUITE/NAME, from list_tasks")
]
Source = Annotated[
    str,
    Field(
        min_length=1, max_length=SOURCE_LIMIT, description="a whole Python file with class ModelNew"
    ),
]
Device = Annotated[
    str, Field(pattern=rf"^({machine.NAMES})$", description="auto, cpu, cuda or cuda:N")
]
WaitS = Annotated[
    int, Field(ge=0, le=WAIT_LIMIT_S, description="seconds to wait before a job_id is returned")
]
Server = MCPServer[Service]
Ctx = Context[Service]
_P = ParamSpec("_P")


def hint(words: str) -> dict[str, object]:
    """Return what lets a client find a tool that it does not always load."""
    return {"anthropic/searchHint": words}


SCOPES_OF = {"evaluate_kernel": ENGINE, "add_task": TASKS}
"""What a caller needs to be offered a tool; nothing for the others."""


def register(server: Server, sessions: SessionGateway | None = None) -> None:
    """Add the tools to a server; with `sessions`, jobs of attempts can be waited for too."""
    _register_tasks(server)
    _register_kernels(server)
    _register_jobs(server, sessions)
    _register_engine(server)


def mistakes(
    tool: Callable[_P, Awaitable[CallToolResult]],
) -> Callable[_P, Awaitable[CallToolResult]]:
    """Let the caller's mistakes reach the caller as one sentence."""

    @functools.wraps(tool)
    async def told(*args: _P.args, **kwargs: _P.kwargs) -> CallToolResult:
        try:
            return await tool(*args, **kwargs)
        except EvaluatorError as error:
            raise ToolError(str(error)) from error

    return told


def service(ctx: Ctx) -> Service:
    """Return the evaluator behind a call."""
    return ctx.request_context.lifespan_context


def caller(ctx: Ctx) -> str:
    """Return whose jobs and candidates a call may see."""
    return service(ctx).callers.name()


def session_of(ctx: Ctx) -> str:
    """Return which of its searches a caller says a call is for; empty where it does not say, or not in a name."""
    said = (ctx.request_context.meta or {}).get(SESSION_META)
    return said if isinstance(said, str) and len(said) <= SESSION_META_LIMIT else ""


async def answer(job: Job, wait_s: float, ctx: Ctx, *, cancel_with_call: bool) -> CallToolResult:
    """Wait for a job and return its result, or its id; progress tells each stage as it begins."""
    began = job.started_s

    async def told() -> None:
        elapsed_s = service(ctx).jobs.clock() - began
        await ctx.report_progress(round(elapsed_s, 2), message=f"{job.stage} {job.detail}".strip())

    try:
        await service(ctx).jobs.wait(job, wait_s, told)
    except anyio.get_cancelled_exc_class():
        if cancel_with_call:  # its id was never told
            service(ctx).jobs.cancel(job)
        raise
    if job.problem is not None:
        raise ToolError(job.problem)
    return verdict_reply(job.answer(), whole=job.whole)


def _register_tasks(server: Server) -> None:
    @server.tool(title="List tasks", annotations=READS, meta=hint("PyTorch modules to make faster"))
    @mistakes
    async def list_tasks(
        ctx: Ctx,
        suite: Annotated[str, Field(max_length=40, description="only this suite")] = "",
        contains: Annotated[str, Field(max_length=80, description="only ids with this text")] = "",
        cursor: Annotated[str, Field(max_length=40, description="from an earlier list")] = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 30,
    ) -> Annotated[CallToolResult, TaskList]:
        """List the tasks: PyTorch modules to make faster. Next: get_task with an id."""
        found = task_pages.chosen(service(ctx).tasks, suite, contains)
        start = place_of(cursor, len(found))
        page = service(ctx).task_page(found, start, limit)
        after = start + len(page.tasks)
        page.next_cursor = cursor_of(after) if after < len(found) else None
        return plain_reply(page, task_pages.title_of(page))

    @server.tool(title="Show a task", annotations=READS, meta=CORE)
    @mistakes
    async def get_task(ctx: Ctx, task_id: TaskId) -> Annotated[CallToolResult, TaskPage]:
        """Show a task's source and the rules for candidates. Next: compile_kernel with your file."""
        task = service(ctx).tasks.get(task_id)
        title, source = printable(task.title), printable(task.source)
        page = TaskPage(task_id=task.id, title=title, task_sha256=task.sha256)
        await service(ctx).tell_known(task, page)
        title = f"{task.id}: {title}"
        if len(source.encode()) <= _SOURCE_BYTES:
            page.source = source
        if page.source is None or not fits(page, title):
            page.source = None
            page.source_id = service(ctx).artifacts.keep(caller(ctx), "src", source)
        return plain_reply(page, title)


def _register_kernels(server: Server) -> None:
    @server.tool(title="Compile a kernel", annotations=RUNS, meta=CORE)
    @mistakes
    async def compile_kernel(
        ctx: Ctx,
        task_id: TaskId,
        source: Source,
        device: Device = "auto",
        wait_s: WaitS = WAIT_LIMIT_S,
    ) -> Annotated[CallToolResult, KernelResult]:
        """Import and build a candidate file. Next: benchmark_kernel with the candidate_id."""
        candidate = await service(ctx).admit(caller(ctx), task_id, source, device)
        return await answer(service(ctx).compile(candidate), wait_s, ctx, cancel_with_call=True)

    @server.tool(
        title="Check a kernel", annotations=RUNS, meta=hint("is a PyTorch kernel's answer right")
    )
    @mistakes
    async def check_kernel(
        ctx: Ctx, candidate_id: Id, wait_s: WaitS = WAIT_LIMIT_S
    ) -> Annotated[CallToolResult, KernelResult]:
        """Compare a candidate's answers with the original's. Next: benchmark_kernel, or compile a fix."""
        candidate = service(ctx).candidate(caller(ctx), candidate_id)
        return await answer(service(ctx).check(candidate), wait_s, ctx, cancel_with_call=True)

    @server.tool(title="Benchmark a kernel", annotations=RUNS, meta=CORE)
    @mistakes
    async def benchmark_kernel(
        ctx: Ctx,
        candidate_id: Id,
        mode: Annotated[
            Literal["quick", "full"],
            Field(description="quick; full: three fresh process pairs and every baseline, minutes"),
        ] = "quick",
        wait_s: WaitS = WAIT_LIMIT_S,
    ) -> Annotated[CallToolResult, KernelResult]:
        """Check a candidate, then time it against the task's baselines. Next: improve it, compile again."""
        candidate = service(ctx).candidate(caller(ctx), candidate_id)
        job = service(ctx).benchmark(candidate, mode)
        return await answer(job, wait_s, ctx, cancel_with_call=True)

    @server.tool(
        title="Profile a kernel",
        annotations=RUNS,
        meta=hint("costliest kernels, launches, roofline, what is left to gain"),
    )
    @mistakes
    async def profile_kernel(
        ctx: Ctx, candidate_id: Id, wait_s: WaitS = WAIT_LIMIT_S
    ) -> Annotated[CallToolResult, KernelResult]:
        """Show where a candidate's time goes and what is left to gain. Next: compile a better one."""
        candidate = service(ctx).candidate(caller(ctx), candidate_id)
        return await answer(service(ctx).profile(candidate), wait_s, ctx, cancel_with_call=True)


def _register_jobs(server: Server, sessions: SessionGateway | None) -> None:
    @server.tool(title="Wait for a job", annotations=READS, meta=CORE)
    @mistakes
    async def wait_job(
        ctx: Ctx, job_id: Id, wait_s: WaitS = WAIT_LIMIT_S
    ) -> Annotated[CallToolResult, KernelResult]:
        """Wait for a job that a tool returned. Next: wait_job again until state is done."""
        if sessions is not None and job_id.startswith(attempts.JOB):
            return await attempts.wait(ctx, sessions, job_id, wait_s)
        job = service(ctx).jobs.get(caller(ctx), job_id)
        return await answer(job, wait_s, ctx, cancel_with_call=False)

    @server.tool(title="Cancel a job", annotations=RUNS, meta=hint("stop a running evaluation"))
    @mistakes
    async def cancel_job(ctx: Ctx, job_id: Id) -> Annotated[CallToolResult, KernelResult]:
        """Cancel a job; one that is over stays as it is. Next: compile_kernel with another file."""
        if sessions is not None and job_id.startswith(attempts.JOB):
            raise ToolError(
                "An attempt is a fact and cannot be cancelled: wait_job tells its verdict."
            )
        job = service(ctx).jobs.get(caller(ctx), job_id)
        service(ctx).jobs.cancel(job)
        return verdict_reply(job.answer(), whole=job.whole)

    @server.tool(
        title="Read an artifact", annotations=READS, meta=hint("build log, output, evidence")
    )
    @mistakes
    async def get_artifact(
        ctx: Ctx,
        artifact_id: Id,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=6000, description="serialised bytes")] = 4000,
    ) -> Annotated[CallToolResult, ArtifactPage]:
        """Read a page of a log, of output or of a source. Next: the same with next_offset."""
        page = service(ctx).artifacts.page(caller(ctx), artifact_id, offset, limit)
        shown = ArtifactPage(
            artifact_id=artifact_id,
            text=page.text,
            offset=page.offset,
            next_offset=page.next_offset,
            total=page.total,
        )
        return plain_reply(shown, f"{artifact_id}: characters from {page.offset} of {page.total}")


def _register_engine(server: Server) -> None:
    @server.tool(title="Evaluate a kernel", annotations=RUNS, meta=hint("all stages, for engines"))
    @mistakes
    async def evaluate_kernel(
        ctx: Ctx,
        task_id: TaskId,
        source: Source,
        device: Device = "auto",
        precision: Literal["fp32", "tf32", "half"] = "half",
        tolerance: Literal["budget", "paper"] = "budget",
        beat: Annotated[float | None, Field(description="the best's speedup_lo_ratio")] = None,
        attempt_id: Annotated[str | None, Field(max_length=64, description="echoed")] = None,
        profile: Annotated[bool, Field(description="where its time goes; not confirmed")] = False,
        device_name: Annotated[
            str, Field(max_length=120, description="the only model of device that will do")
        ] = "",
        tool: Annotated[
            Tool | None, Field(description="only what this tool does, shown as agents see it")
        ] = None,
        wait_s: WaitS = WAIT_LIMIT_S,
    ) -> Annotated[CallToolResult, EngineResult]:
        """Build, check, time and confirm a candidate as one job. Next: wait_job while it is pending."""
        candidate = await service(ctx).admit(caller(ctx), task_id, source, device)
        wish = Wish(
            precision,
            tolerance,
            beat,
            attempt_id,
            profile=profile,
            device_name=device_name,
            tool=tool,
            session=session_of(ctx),
        )
        job = service(ctx).evaluate(candidate, wish)
        return await answer(job, wait_s, ctx, cancel_with_call=True)


def cursor_of(place: int) -> str:
    """Return a cursor to a place in a list."""
    return base64.urlsafe_b64encode(f"after:{place}".encode()).decode()


def place_of(cursor: str, length: int) -> int:
    """Return where a cursor points.

    Raises:
        ToolError: it is none of ours.
    """
    if not cursor:
        return 0
    try:
        word, number = base64.urlsafe_b64decode(cursor.encode()).decode().split(":")
        place = int(number)
    except ValueError:
        word, place = "", -1
    if word != "after" or not 0 <= place <= length:
        raise ToolError("The cursor is none of this list: start without one.")
    return place
