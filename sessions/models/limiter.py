"""One limiter per provider: every try of every model of that provider passes it, whichever session makes it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sessions.machine_places import place_or_none

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from sessions.machine_places import MachinePlaces

log = logging.getLogger(__name__)

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
        shared: MachinePlaces | None = None,
    ) -> None:
        """Time comes from `now`, and is spent in `sleep`. `shared`: with the other sessions of this machine."""
        self.provider = provider
        self.tries = 0
        """Tries of this process let through so far."""
        self._count = places
        self._places = asyncio.Semaphore(places)
        self._spacing_s = spacing_s
        self._free_at = now()
        self._now = now
        self._sleep = sleep
        self._shared = shared

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Wait until this try may start; hold its place until it ends."""
        async with self._places, place_or_none(self._shared, self._pool, self._count):
            await self._pace()
            self.tries += 1
            yield

    def hold(self, seconds: float) -> None:
        """Let no try start for so long: the provider asked one of them to wait."""
        self._free_at = max(self._free_at, self._now() + seconds)
        if self._shared is not None and seconds > 0:
            try:
                self._shared.hold(self._pool, seconds)
            except sqlite3.Error as error:
                log.warning("other sessions are not held back: %s", error)

    @property
    def _pool(self) -> str:
        return f"provider {self.provider}"

    async def _pace(self) -> None:
        if self._shared is not None:
            try:
                await self._shared.pace(self._pool, self._spacing_s)
            except sqlite3.Error as error:
                log.warning("tries are spaced in this session only: %s", error)
            else:
                return
        at = max(self._now(), self._free_at)
        self._free_at = at + self._spacing_s
        if at > self._now():
            await self._sleep(at - self._now())


class Limiters:
    """The limiters of a process, one per provider, made when first asked for."""

    def __init__(self, shared: MachinePlaces | None = None) -> None:
        """Start without any. `shared`: with the other sessions of this machine."""
        self._shared = shared
        self._by_provider: dict[str, Limiter] = {}

    def of(self, provider: str) -> Limiter:
        """Return the provider's limiter: the same one each time."""
        return self._by_provider.setdefault(provider, Limiter(provider, shared=self._shared))
