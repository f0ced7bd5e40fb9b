"""One run over many tasks: what is known is not found out again, so that a run that was killed goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server import suite
from mcp_server.suite import Kept, Row, Wish

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.local import LocalExecutor
    from mcp_server.tasks import Task

INFRA = frozenset(
    {suite.LATE, "worker_lost", "gpu_unhealthy", "sandbox_failed", "unstable_clock", "disk_full"}
)
"""What is no property of a task: tried again next time."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """Qualifies tasks on one device."""

    executor: LocalExecutor
    wish: Wish
    kept: Kept
    place: str
    """All that is known of device, driver and torch, in one word."""

    async def row(self, name: str, what: Path | Task) -> tuple[Row, bool]:
        """Return what came of a task, and whether that was known.

        Raises:
            EvaluatorError: this machine cannot evaluate.
        """
        task = suite.read(name, what, self.kept.home)
        if isinstance(task, Row):
            return task, False
        key = suite.key_of(task, self.wish, self.place)
        known = self.kept.get(key)
        if known is not None:
            return known, True
        row = await suite.qualify(self.executor, task, self.wish)
        if row.code not in INFRA:
            self.kept.put(key, row)
        return row, False
