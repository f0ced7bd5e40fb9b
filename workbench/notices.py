"""Tells the person's command what became of a session, beside a running engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.states import SessionState
from workbench.glyphs import NEEDS_YOU
from workbench.notify import notify

if TYPE_CHECKING:
    from collections.abc import Callable

_EVENTS = {
    SessionState.PAUSED: NEEDS_YOU,
    SessionState.RUNNING: NEEDS_YOU,
    SessionState.FINISHED: "finished",
}
"""`running`: the search goes on, and asks."""


@dataclass(slots=True)
class Notices:
    """The notices of one session; an empty command tells nobody."""

    command: str
    session: str
    best: Callable[[], str] = str
    """Says what the best is, when a search ends."""
    _sending: set[asyncio.Task[bool]] = field(default_factory=set[asyncio.Task[bool]])

    def __call__(self, state: SessionState, cause: str) -> None:
        """Send a notice without waiting for it."""
        if not self.command:
            return
        words = f"{cause}. {self.best()}".strip() if state is SessionState.FINISHED else cause
        event = _EVENTS.get(state, state.value)
        sending = asyncio.get_running_loop().create_task(
            asyncio.to_thread(notify, self.command, self.session, event, words)
        )
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def told(self) -> None:
        """Return when every notice was sent."""
        await asyncio.gather(*self._sending, return_exceptions=True)
