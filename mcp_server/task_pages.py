"""Lists of tasks as agents read them: a page that fits, each row with what stands in the task's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server import states
from mcp_server.clean import printable
from mcp_server.errors import NoInterpreter
from mcp_server.installed import Installed
from mcp_server.listings import TaskList, TaskRow
from mcp_server.reply import fits

if TYPE_CHECKING:
    from mcp_server.states import States
    from mcp_server.tasks import Listed, Tasks

_NOTE = 160


def chosen(tasks: Tasks, suite: str, contains: str) -> list[Listed]:
    """Return the tasks of a suite, or of a level of it, whose ids hold a text."""
    return [one for one in tasks.listed() if _in_suite(one.id, suite) and contains in one.id]


def _in_suite(task_id: str, suite: str) -> bool:
    return not suite or f"/{suite.strip('/')}/" in f"/{task_id}"


def page(
    listed: list[Listed], start: int, limit: int, known: States, python: str | None
) -> TaskList:
    """Return at most so many rows from a place, fewer where a channel would not hold them; no cursor yet."""
    kept, installed = known.all(), _installed(python)
    rows: list[TaskRow] = []
    for one in listed[start : start + limit]:
        note = _note(one, states.current(kept.get(one.id, []), one.told.sha256), installed)
        title = printable(one.told.title)
        row = TaskRow(id=one.id, title=title, note=note)
        longer = TaskList(tasks=[*rows, row], next_cursor="x" * 20)
        if rows and not fits(longer, title_of(longer)):
            break
        rows.append(row)
    return TaskList(tasks=rows)


def _installed(python: str | None) -> Installed:
    try:
        return Installed(python)
    except NoInterpreter:  # a server without an interpreter can still show its tasks
        return Installed(None)


def title_of(shown: TaskList) -> str:
    """Return the rows as lines."""
    return "\n".join(f"{row.id}: {row.note or row.title}" for row in shown.tasks)


def _note(one: Listed, known: states.Known, installed: Installed) -> str | None:
    """Return what stands in the way of a task, None where nothing is known to."""
    if one.told.refused:
        return printable(f"unfit: {one.told.refused}")[:_NOTE]
    if known.state in ("unfit", "not run"):
        return printable(f"{known.state}: {known.reason}")[:_NOTE]
    lacking = [n.what for n in one.told.needs if n.kind == "package" and not installed.has(n.what)]
    return f"needs {', '.join(lacking)}, not here"[:_NOTE] if lacking else None
