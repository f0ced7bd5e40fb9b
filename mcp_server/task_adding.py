"""The tool `add_task`: an agent brings a task of its own, which is marked as an agent's in every verdict.

A mark is a file `NAME.agent` beside the task's: it is there before the task is, so that nobody takes one for the other.
Annotations are evaluated when a tool is registered, so this module does without `from __future__ import annotations`.
"""

import hashlib
import re
import tempfile
from pathlib import Path
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from mcp_server.errors import NotATask, QueueFull, StateUnusable
from mcp_server.reply import plain_reply
from mcp_server.tasks import Task, Tasks
from mcp_server.tools import RUNS, Ctx, Server, caller, hint, mistakes, service

MOST_ADDED = 200
"""Tasks of agents in one state folder; a person may remove some."""
TASK_LIMIT = 200_000

Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=60,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$",
        description="a short name; letters, digits, . _ - and blanks",
    ),
]
TaskSource = Annotated[
    str,
    Field(
        min_length=1,
        max_length=TASK_LIMIT,
        description="a whole KernelBench-format file: class Model, get_inputs(), get_init_inputs()",
    ),
]


class AddedTask(BaseModel):
    """A task that an agent added."""

    task_id: str
    title: str
    task_sha256: str
    note: str = "Verdicts on it carry the flag agent_task: an agent chose what is measured."


def register(server: Server) -> None:
    """Add the tool to a server."""

    @server.tool(
        title="Add a task", annotations=RUNS, meta=hint("bring a PyTorch module of your own")
    )
    @mistakes
    async def add_task(
        ctx: Ctx, name: Name, source: TaskSource
    ) -> Annotated[CallToolResult, AddedTask]:
        """Keep a PyTorch module of yours as a task. Next: get_task with the task_id."""
        caller(ctx)
        task = add(service(ctx).tasks, name, source)
        added = AddedTask(task_id=task.id, title=task.title, task_sha256=task.sha256)
        return plain_reply(added, f"{task.id} was added")

    _ = add_task


def add(tasks: Tasks, name: str, source: str) -> Task:
    """Keep a task as an agent's; a file that a person added before stays the person's.

    Raises:
        NotATask: it is not in KernelBench format.
        QueueFull: agents have added as many as they may.
        StateUnusable: the state folder cannot be written.
    """
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "task"
    kept = tasks.folder / f"{stem}-{hashlib.sha256(source.encode()).hexdigest()[:8]}.py"
    if kept.exists():
        return tasks.get(f"local/{kept.stem}")
    mark = kept.with_suffix(".agent")
    _mark(mark)
    try:
        with tempfile.TemporaryDirectory(prefix="pike-task-") as folder:
            path = Path(folder, f"{stem}.py")
            path.write_text(source, encoding="utf-8", newline="")
            task = tasks.add(path)
    finally:
        if not kept.exists():
            mark.unlink(missing_ok=True)
    if not task.by_agent:
        raise NotATask(f"{name} could not be kept as an agent's task: give it another name.")
    return task


def _mark(mark: Path) -> None:
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in mark.parent.glob("*.agent")) >= MOST_ADDED:
            raise QueueFull(
                f"Agents have added {MOST_ADDED} tasks, which is the most: use one of them, see list_tasks."
            )
        mark.touch()
    except OSError as error:
        raise StateUnusable(
            f"{mark.parent} cannot be written ({error.strerror}): tell the person who runs the server."
        ) from error
