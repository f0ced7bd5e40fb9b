"""What evaluations found out of tasks: whether each can judge candidates, on which device, as of which text.

One file per task and kind of device, written whenever a task was qualified or found unfit, by whatever asked for it.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, cast

from mcp_server import kept
from mcp_server.qualify import evaluator_sha256

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.contract import Verdict
    from mcp_server.link import Message
    from mcp_server.tasks import Task

State = Literal["qualified", "unfit", "not run", "not tried"]
"""`not run`: another machine, or more time, might qualify it."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a task."""

    state: State
    code: str | None = None
    reason: str = ""
    policy: str | None = None
    device: str = ""
    """The device's name for people."""


_NOT_HERE = ("too_large", "needs CUDA", "needs the package", "out of memory")
"""What says that another machine, or more time, might qualify the task."""
NOT_TRIED = Known("not tried")
_CHANGED = "its file has changed since it was tried"
_OLDER = "it was tried by an earlier version of the evaluator"


class States:
    """Those of a state folder; unreadable files count as absent."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "cache" / "states"

    def put(self, task: Task, known: Known) -> None:
        """Keep what was found."""
        path = self._folder / f"{_digest(task.id)}-{_digest(known.device)[:8]}.json"
        row: Message = {
            **asdict(known),
            "task": task.id,
            "sha256": task.sha256,
            "evaluator": evaluator_sha256(),
            "at": time.time(),
        }
        kept.write(path, row)

    def all(self) -> dict[str, list[Message]]:
        """Return by a task's id what was kept of it, the newest last."""
        found: dict[str, list[Message]] = {}
        with suppress(OSError):
            for path in self._folder.glob("*.json"):
                row = kept.read(path)
                if row is not None:
                    found.setdefault(str(row.get("task")), []).append(row)
        for rows in found.values():
            rows.sort(key=_when)
        return found


def told_by(verdict: Verdict, device: str) -> Known | None:
    """Return what a verdict tells of its task; None where it tells nothing."""
    if verdict.status == "task_unfit":  # the enumeration costs a list of tasks half of its time
        return Known(of_unfit(verdict), verdict.code, verdict.cause or "", device=device)
    if verdict.policy_effective is None:
        return None
    return Known("qualified", policy=verdict.policy_effective, device=device)


def of_unfit(verdict: Verdict) -> State:
    """Return whether an unfit task is unfit anywhere, or only here."""
    words = f"{verdict.code} {verdict.cause}"
    return "not run" if any(w in words for w in _NOT_HERE) else "unfit"


def current(rows: list[Message], sha256: str) -> Known:
    """Return what holds of a task's present text: the newest, a device that qualified it before others."""
    same = [row for row in rows if row.get("sha256") == sha256]
    fresh = [row for row in same if row.get("evaluator") == evaluator_sha256()]
    if fresh:
        qualified = [row for row in fresh if row.get("state") == "qualified"]
        return _known((qualified or fresh)[-1])
    if rows:
        return Known("not tried", reason=_OLDER if same else _CHANGED)
    return NOT_TRIED


def _known(row: Message) -> Known:
    code, policy = row.get("code"), row.get("policy")
    return Known(
        cast("State", row.get("state") or "not tried"),
        str(code) if code else None,
        str(row.get("reason") or ""),
        str(policy) if policy else None,
        str(row.get("device") or ""),
    )


def _when(row: Message) -> float:
    at = row.get("at")
    return at if isinstance(at, float) else 0.0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
