"""One limiter per provider: every try of every model of that provider passes it."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

PLACES = 64
"""Tries in flight at once."""
SPACING_S = 0.05
"""Between the starts of two tries: ten places do not all knock in the same instant."""


class Limiter:
    """Spaces the tries of one provider, and holds all of them back when it says to wait."""

    def __init__(
        self,
        provider: str,
        *,
        places: int = PLACES,
        spacing_s: float = SPACING_S,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Time comes from `now`, and is spent in `sleep`."""
        self.provider = provider
        self.tries = 0
        """Tries let through so far."""
        self._places = asyncio.Semaphore(places)
        self._spacing_s = spacing_s
        self._free_at = now()
        self._now = now
        self._sleep = sleep

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Wait until this try may start; hold its place until it ends."""
        async with self._places:
            at = max(self._now(), self._free_at)
            self._free_at = at + self._spacing_s
            if at > self._now():
                await self._sleep(at - self._now())
            self.tries += 1
            yield

    def hold(self, seconds: float) -> None:
        """Let no try start for so long: the provider asked one of them to wait."""
        self._free_at = max(self._free_at, self._now() + seconds)


class Limiters:
    """The limiters of a process, one per provider, made when first asked for."""

    def __init__(self) -> None:
        """Start without any."""
        self._by_provider: dict[str, Limiter] = {}

    def of(self, provider: str) -> Limiter:
        """Return the provider's limiter: the same one each time."""
        return self._by_provider.setdefault(provider, Limiter(provider))
