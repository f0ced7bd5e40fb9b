"""Follows a journal as it grows, for the plain commands: facts as they come, until nothing more will."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.fold import apply
from sessions.journal import Reader
from sessions.lock import Presence
from sessions.model import State
from sessions.states import ENDED, SessionState
from workbench import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessions.facts import Fact
    from sessions.folder import SessionFolder

    OnLook = Callable[[dict[str, Any]], None]

LOOK_S = 0.25
GRACE_S = 3.0
"""How long a session may lack an engine before that is an end: one may just be starting."""


@dataclass(slots=True)
class Follower:
    """One session's facts, and its state as they come."""

    folder: SessionFolder
    state: State = field(default_factory=State)
    alone_since: float | None = None
    """Since when no engine was seen."""

    def facts(
        self, *, follow: bool, past_pauses: bool = True, on_look: OnLook = lambda _: None
    ) -> Iterator[Fact]:
        """Yield every fact; with `follow`, go on until the search ends or its engine is gone.

        `past_pauses`: also go on when the engine has paused itself. `on_look`: called with the live row, each look.
        """
        with Reader(self.folder.journal) as reader:
            version = None
            while True:
                if (seen := reader.data_version()) != version:
                    version = seen
                    yield from self._new(reader)
                if not follow or self._over(past_pauses=past_pauses):
                    yield from self._new(reader)
                    return
                on_look(reader.live()[1])
                time.sleep(LOOK_S)

    @property
    def abandoned(self) -> bool:
        """Whether the search should run, and no engine runs it."""
        return self.state.state not in ENDED and self.alone_since is not None

    @property
    def paused_itself(self) -> bool:
        """Whether the engine paused by itself, and needs a person."""
        return self.state.state is SessionState.PAUSED and self.state.code not in ("", "asked")

    def _new(self, reader: Reader) -> Iterator[Fact]:
        for fact in reader.facts(self.state.seq):
            apply(self.state, fact)
            yield fact

    def _over(self, *, past_pauses: bool) -> bool:
        if self.state.state in ENDED or (self.paused_itself and not past_pauses):
            return True
        self._look_for_engine()
        return self.alone_since is not None and time.monotonic() - self.alone_since >= GRACE_S

    def _look_for_engine(self) -> None:
        if launch.presence_now(self.folder) in (Presence.ALIVE, Presence.FOREIGN):
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = time.monotonic()
