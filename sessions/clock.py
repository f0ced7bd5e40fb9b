"""Time, passed in: the engine never asks the system itself."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the engine needs of time."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that long."""
        ...


class SystemClock:
    """The real one."""

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return after that long."""
        await asyncio.sleep(seconds)
