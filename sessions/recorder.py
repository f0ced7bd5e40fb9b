"""Facts into the journal and the state, one transaction at a time.

`decide` looks at the state and writes under one lock, so that no two tasks spend the same reservation.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.errors import StorageFailed
from sessions.fold import fold
from sessions.storage import drop_ballast
from sessions.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from sessions.clock import Clock
    from sessions.facts import Body, Fact
    from sessions.journal import Journal, NewReply
    from sessions.model import State

log = logging.getLogger(__name__)

RETRY_S = 2.0
_FULL = ("full", "disk i/o error")


@dataclass(frozen=True, slots=True)
class Entry:
    """What belongs into one transaction."""

    bodies: Sequence[Body] = ()
    texts: Sequence[str] = ()
    reply: NewReply | None = None
    taken: Sequence[int] = field(default_factory=tuple[int, ...])


class Recorder:
    """The one way to a new fact."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        state: State,
        ballast: Path,
        told: Callable[[Fact], None] = lambda _: None,
    ) -> None:
        """Write into `journal`, whose facts are folded in `state`; `told` hears of each fact after that."""
        self.journal = journal
        self.state = state
        self._told = told
        self.full = ""
        """Why the disk took a fact only after room was made; empty if it never did."""
        self._clock = clock
        self._ballast = ballast
        self._lock = asyncio.Lock()
        self._event = asyncio.Event()
        self._stuck = False

    async def write(self, *bodies: Body, texts: Sequence[str] = ()) -> None:
        """Append facts, whatever the state."""
        entry = Entry(bodies, texts)
        await self.decide(lambda _: entry)

    async def decide(self, make: Callable[[State], Entry | None]) -> bool:
        """Append what `make` says of the present state; return False if it says nothing.

        Cancelling the caller does not tear the transaction.

        Raises:
            StorageFailed: the journal cannot be written at all.
        """
        task = asyncio.ensure_future(self._decide(make))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if self._stuck:
                task.cancel()
            await asyncio.wait([task])
            raise

    @property
    def event(self) -> asyncio.Event:
        """Set by the next fact: take it before looking at the state, then wait for it."""
        return self._event

    async def changed(self) -> None:
        """Return after the next fact."""
        await self._event.wait()

    def nudge(self) -> None:
        """Wake whoever waits for a change."""
        event, self._event = self._event, asyncio.Event()
        event.set()

    async def summarise(self) -> None:
        """Refresh the row that session lists show; a disk that refuses it stops no search."""
        await self._quietly(lambda: self.journal.summarise(summarise(self.state)))

    async def show(self, at: float, live: dict[str, object]) -> None:
        """Overwrite the live row; a disk that refuses it stops no search."""
        await self._quietly(lambda: self.journal.live(at, live))

    async def _quietly(self, write: Callable[[], Awaitable[None]]) -> None:
        async with self._lock:
            try:
                await write()
            except sqlite3.Error as error:
                log.warning("%s: %s", self.journal.path, error)

    async def _decide(self, make: Callable[[State], Entry | None]) -> bool:
        async with self._lock:
            entry = make(self.state)
            if entry is None:
                return False
            await self._persist(entry)
        self.nudge()
        return True

    async def _persist(self, entry: Entry) -> None:
        while True:
            try:
                facts = await self.journal.record(
                    self._clock.now(),
                    entry.bodies,
                    texts=entry.texts,
                    reply=entry.reply,
                    taken=entry.taken,
                )
            except sqlite3.Error as error:
                await self._make_room(error)
            else:
                self._stuck = False
                fold(facts, self.state)
                for fact in facts:
                    self._told(fact)
                return

    async def _make_room(self, error: sqlite3.Error) -> None:
        """Give the ballast back, else wait for room: a paid answer is kept in memory until then."""
        need_folder(self.journal.path)
        says = str(error).lower()
        if not any(word in says for word in _FULL):
            raise StorageFailed(f"cannot write {self.journal.path}: {error}") from error
        if not self.full:
            log.error("the disk is full: %s (%s)", self.journal.path, error)
        self.full = f"the disk is full: free some room for {self.journal.path.parent}, then resume"
        if drop_ballast(self._ballast):
            return
        self._stuck = True
        await self._clock.sleep(RETRY_S)


def need_folder(journal: Path) -> None:
    """End an engine whose folder was removed: nobody could see what it does, or stop it.

    Raises:
        StorageFailed: it was.
    """
    if not journal.exists():
        raise StorageFailed(f"{journal.parent} was removed; its search ends here")
