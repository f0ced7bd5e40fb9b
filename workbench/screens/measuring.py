"""Attempts measured again, back to back, while a screen shows how far that is."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sessions.journal import JournalError
from sessions.model import ORIGINAL
from workbench import config
from workbench.errors import WorkbenchError
from workbench.screens.pike_screen import PikeScreen
from workbench.widgets.frame import Banner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.remeasure import Remeasurement


class Measuring(PikeScreen):
    """A screen on some attempts of a session that may be measured again."""

    def __init__(self, folder: SessionFolder, ids: Sequence[str]) -> None:
        super().__init__()
        self.folder = folder
        self.ids = list(ids)
        """Oldest first, so that a diff goes forward."""
        self.state: State | None = None
        """None until the journal was read."""
        self.work: Remeasurement | None = None
        """What is measured now."""
        self.doing = ""
        self.elsewhere = ""
        """Where the session measures, if not on this machine, where it is measured again."""
        self.again: dict[str, dict[str, Any]] = {}
        """Verdicts measured again, by candidate."""

    def paint(self) -> None:
        """Show the numbers again."""
        raise NotImplementedError

    def on_unmount(self) -> None:
        """End what was begun: nobody would see it."""
        if self.work is not None:
            self.work.stop()

    def action_again(self) -> None:
        """Time the attempts back to back; a second press ends that."""
        from workbench.remeasure import Remeasurement, elsewhere

        if self.state is None:
            return
        if self.work is not None:
            self.work.stop()
            self._say("stopping")
            return
        ids = [name for name in self.ids if name != ORIGINAL]
        self.elsewhere = elsewhere(self.state.opened, config.load())
        self.work = Remeasurement(self.folder, self.state, ids)
        self._say("waiting for the evaluator; R stops")
        self.run_worker(self._measure, thread=True, group="again", exit_on_error=False)

    def _measure(self) -> None:
        work = self.work
        assert work is not None, "made before"

        def tell(name: str, what: str) -> None:
            self.call_later(self._say, f"{name} {what}; R stops")

        try:
            found = work.run(tell)
        except (WorkbenchError, JournalError, sqlite3.Error, OSError) as error:
            self.call_later(self._measured, {}, "" if work.stopped else str(error))
        else:
            self.call_later(self._measured, found, "")

    def _say(self, doing: str) -> None:
        self.doing = doing
        self.paint()

    def _measured(self, found: dict[str, dict[str, Any]], trouble: str) -> None:
        self.work, self.doing = None, ""
        self.again = found or self.again
        self.query_one("#banner", Banner).say(f"! {trouble}   esc settles this" if trouble else "")
        self.paint()
