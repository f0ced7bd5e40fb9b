"""The one reader of a journal in the screens: polls it and keeps the folded state. It never writes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.fold import fold
from sessions.journal import Reader
from sessions.lock import Presence
from workbench.launch import presence_now
from workbench.shown import Live

if TYPE_CHECKING:
    from sessions.facts import Fact
    from sessions.folder import SessionFolder
    from sessions.journal import Command
    from sessions.model import State

RECENT = 400
"""Facts kept to be told."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What one look at the journal found."""

    facts: tuple[Fact, ...] = ()
    live: bool = False
    """Whether the live row, or what is asked of the engine, may have changed."""


def load(folder: SessionFolder) -> State:
    """Read a journal from its start and return its state. Slow for a long one: call it in a thread.

    Raises:
        JournalError: newer, damaged or missing.
    """
    with Reader(folder.journal) as reader:
        return fold(reader.facts())


class Feed:
    """Follows one session's journal from a state on."""

    def __init__(self, folder: SessionFolder, state: State) -> None:
        self.folder = folder
        self.state = state
        self.live = Live()
        self.engine = Presence.NONE
        self.asked: list[Command] = []
        """Commands no engine has taken yet."""
        self._reader = Reader(folder.journal)
        self._version = -1
        self.recent: deque[Fact] = deque(
            self._reader.facts(max(0, state.seq - RECENT)), maxlen=RECENT
        )
        """The newest facts, as a story to read."""

    def poll(self) -> Beat:
        """Look once; cheap when nothing was written."""
        version = self._reader.data_version()
        if version == self._version:
            return Beat()
        self._version = version
        facts = self._reader.facts(self.state.seq)
        fold(facts, self.state)
        self.recent.extend(facts)
        self.live = Live(*self._reader.live())
        self.asked = self._reader.waiting_commands()
        return Beat(tuple(facts), live=True)

    def look_for_engine(self) -> bool:
        """Look whether an engine is there; return whether that changed."""
        before, self.engine = self.engine, presence_now(self.folder)
        return before is not self.engine

    @property
    def doing(self) -> Live:
        """What goes on now: nothing, whatever the last live row says, once no engine is there."""
        return (
            self.live if self.engine in (Presence.ALIVE, Presence.FOREIGN) else Live(self.live.at)
        )

    def text(self, key: str) -> str:
        """Return a kept text."""
        return self._reader.text(key)

    def close(self) -> None:
        """Close the journal."""
        self._reader.close()
