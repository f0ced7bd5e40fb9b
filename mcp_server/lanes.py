"""Which jobs want the same devices, and how many of them are worth having under way at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server.errors import EvaluatorError
from mcp_server.machine import Device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.executor import Executor, Place

CPU, ANY_GPU = "cpu", "cuda"
_UNKNOWN = 1024
"""Room of which nobody knows: whoever evaluates keeps its own line."""


@dataclass(slots=True)
class Lanes:
    """The lanes of an executor; a lane is a device's name, or `cuda` for any GPU of any host."""

    places: Sequence[Place] = ()
    """As last seen."""

    async def look(self, executor: Executor) -> None:
        """See how much room there is now; what cannot be asked is as it was."""
        with suppress(EvaluatorError):
            self.places = await executor.places()

    def of(self, wanted: str, found: object) -> str:
        """Return the lane of a job: `wanted` is its device, `found` what `check_device` said to it."""
        if isinstance(found, Device):
            return found.name
        gpus = any(place.device != CPU for place in self.places)
        return (ANY_GPU if gpus else CPU) if wanted == "auto" else wanted

    def room(self, lane: str) -> int:
        """Return how many jobs of a lane evaluate at once, with those that build meanwhile."""
        if not self.places:  # a cluster tells them once it is joined, by the first job
            return _UNKNOWN
        return sum(p.of + p.ahead for p in self.places if _belongs(p.device, lane))


def _belongs(device: str, lane: str) -> bool:
    return device != CPU if lane == ANY_GPU else device == lane
