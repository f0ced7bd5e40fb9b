"""Whether new calls may start, and who still works: pausing waits for the second."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class Gate:
    """Open while the search runs."""

    def __init__(self, on_idle: Callable[[], None] = lambda: None) -> None:
        """Start closed. `on_idle`: called whenever nothing works any more."""
        self._on_idle = on_idle
        self._open, self._shut = asyncio.Event(), asyncio.Event()
        self._shut.set()
        self._working = 0

    @property
    def is_open(self) -> bool:
        """Whether a new call may start."""
        return self._open.is_set()

    @property
    def working(self) -> int:
        """How many tasks are not waiting."""
        return self._working

    def open(self) -> None:
        """Let calls start."""
        self._open.set()
        self._shut.clear()

    def close(self) -> None:
        """Let no new call start."""
        self._open.clear()
        self._shut.set()

    @contextmanager
    def task(self) -> Generator[None]:
        """Count one task as working, from here to its end."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Count the task as waiting: what it waits for can only come from outside it."""
        self._add(-1)
        try:
            yield
        finally:
            self._add(1)

    async def enter(self) -> None:
        """Wait until calls may start."""
        if not self.is_open:
            with self.waiting():
                await self._open.wait()

    async def shut(self) -> None:
        """Wait until no call may start."""
        await self._shut.wait()

    def _add(self, number: int) -> None:
        self._working += number
        if not self._working:
            self._on_idle()
