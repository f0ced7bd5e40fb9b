"""One host of a Ray cluster, as an executor among those that work is spread over."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server import crossing
from mcp_server.executor import HostFacts, Told, Work

if TYPE_CHECKING:
    from mcp_server.executor import Outcome, Place, Report
    from mcp_server.ray_executor import RayExecutor
    from mcp_server.tasks import Task


@dataclass(frozen=True, slots=True)
class RayMember:
    """One host of the cluster, as an executor."""

    whole: RayExecutor
    name: str

    async def places(self) -> list[Place]:
        """Return its room."""
        return [place for place in await self.whole.places() if place.host == self.name]

    async def hosts(self) -> list[HostFacts]:
        """Return what it said of itself."""
        return [host for host in await self.whole.hosts() if host.host == self.name]

    async def check_device(self, device: str) -> object:
        """Refuse a device that no host has."""
        await self.whole.check_device(device)
        return device

    async def told(self, task: Task) -> Told:
        """Return what it knows of a task.

        Raises:
            HostLost: it is gone.
        """
        return crossing.read_told(
            await self.whole.ask(self.name, "told", Work("told", task, ""), _silent)
        )

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate there.

        Raises:
            HostLost: it is gone.
            EvaluatorError: what it raised.
        """
        reply = await self.whole.ask(self.name, "run", work, report)
        body = json.loads(reply)
        if "error" in body:
            raise crossing.refused(body)
        return crossing.read_outcome(reply)

    async def close(self) -> None:
        """Nothing: the whole ends its hosts."""


def _silent(_stage: str, _detail: str) -> None:
    """Report nothing."""
