"""The plain command `tasks`: rows for people, or JSON for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mcp_server.tasks import Task, Tasks


def tasks(home: Path, add: str | None, *, as_json: bool) -> int:
    """Print the tasks, or keep a file and print its row."""
    known = Tasks(home)
    found = [known.add(Path(add))] if add else [known.get(i) for i in known.ids()]
    rows = [row(task) for task in found]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        sys.stdout.writelines(f"{r['id']:<28} {r['title']}\n" for r in rows)
    return 0


def row(task: Task) -> dict[str, object]:
    """Return what a list tells of a task."""
    return {
        "id": task.id,
        "title": task.title,
        "suite": task.id.partition("/")[0],
        "path": str(task.path),
        "task_sha256": task.sha256,
        "by_agent": task.by_agent,
    }
