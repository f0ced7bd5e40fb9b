"""Tasks and hosts as resources, and completion of task ids; agents need none of them, since many clients ignore both.

Annotations are evaluated when one is registered, so this module does without `from __future__ import annotations`.
"""

import json
import re
from dataclasses import asdict

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from mcp_server.callers import ENGINE
from mcp_server.clean import printable
from mcp_server.contract import HOSTS_URI
from mcp_server.errors import EvaluatorError
from mcp_server.listings import RULES
from mcp_server.service import Service
from mcp_server.tasks import Task, Tasks

_HOSTS_TEMPLATE = HOSTS_URI.replace("all", "{name}")
"""The SDK hands the call to templates alone."""
TASK_URI = "kernel://tasks/{+task_id}"
_MOST_COMPLETIONS = 100
_MOST_LINES = 500


def register(server: MCPServer[Service], tasks: Tasks) -> None:
    """Add the resources and the completion to a server."""

    @server.resource("kernel://tasks", title="Tasks", mime_type="text/markdown")
    async def every_task() -> str:
        """List the ids of the PyTorch modules to make faster."""
        return _list(tasks.ids())

    @server.resource(TASK_URI, title="A task", mime_type="text/markdown")
    async def one_task(task_id: str) -> str:
        """Show a task's source and the rules for candidates."""
        try:
            return _page(tasks.get(task_id))
        except EvaluatorError as error:
            raise ResourceNotFoundError(printable(str(error))) from error

    @server.resource(_HOSTS_TEMPLATE, title="Hosts", mime_type="application/json")
    async def hosts(name: str, ctx: Context[Service]) -> str:
        """Show the machines that evaluate, `all` or one: devices, versions, places; for engines only."""
        service = ctx.request_context.lifespan_context
        if not service.callers.may(ENGINE):
            raise ResourceNotFoundError("Hosts are shown to engines only.")
        try:
            found = await service.executor.hosts()
        except EvaluatorError as error:
            raise ResourceNotFoundError(printable(str(error))) from error
        return json.dumps([asdict(host) for host in found if name in ("all", host.host)])

    @server.completion()
    async def complete(
        _ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        _context: CompletionContext | None,
    ) -> Completion | None:
        return _completed(tasks, argument.value) if argument.name == "task_id" else None

    _ = every_task, one_task, hosts, complete


def _list(ids: list[str]) -> str:
    lines = [f"* `{task_id}`" for task_id in ids[:_MOST_LINES]]
    more = len(ids) - len(lines)
    return "\n".join(
        ["# Tasks", "", *lines, *([f"* … {more} more: ask list_tasks."] if more else []), ""]
    )


def _page(task: Task) -> str:
    source = printable(task.source)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", source)), default=0))
    rules = "\n".join(f"* {rule}" for rule in RULES)
    head = f"# {task.id}\n\n{printable(task.title)}\n\nSHA-256 of the file: {task.sha256}"
    return f"{head}\n\n## Rules for candidates\n\n{rules}\n\n## Source\n\n{fence}python\n{source}\n{fence}\n"


def _completed(tasks: Tasks, begun: str) -> Completion:
    """Return the ids that begin so, or whose names do."""
    ids = tasks.ids()
    found = [i for i in ids if i.startswith(begun) or i.partition("/")[2].startswith(begun)]
    shown = found[:_MOST_COMPLETIONS]
    return Completion(values=shown, total=len(found), has_more=len(found) > len(shown))
