"""What the keys of the session list do to a session: open, new, demo, pause, stop, mark, compare, copy."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sessions.folder import SessionFolder
from sessions.journal import JournalError
from sessions.lock import Presence
from workbench import messages as m
from workbench.asking import ask
from workbench.comparing_sessions import same_task
from workbench.errors import WorkbenchError
from workbench.feed import load
from workbench.plain import Inert, inert_line
from workbench.screens.choice import CANCEL, Answer, Choice
from workbench.screens.pike_screen import PikeScreen
from workbench.widgets.session_rows import SessionTable

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.model import State


def _read(folders: list[SessionFolder]) -> tuple[list[State], str]:
    """Return the states of sessions, and why they cannot be compared; empty if they can."""
    try:
        states = [load(folder) for folder in folders]
        same_task(states)
    except (JournalError, WorkbenchError, sqlite3.Error, OSError, ValueError) as error:
        return [], f"cannot compare these sessions: {error}"
    return states, ""


class SessionListActs(PikeScreen):
    """The acts on the sessions of a list."""

    def __init__(self, under: Path) -> None:
        super().__init__()
        self.under = under
        self.marked: list[str] = []
        """Sessions to be compared, in the order in which they were marked."""
        self._demo = False
        """Whether a demo is being started."""

    @property
    def table(self) -> SessionTable:
        """The sessions."""
        return self.query_one("#sessions", SessionTable)

    def put_marks(self) -> None:
        """Show which sessions are marked."""
        raise NotImplementedError

    def fail(self, what: str) -> None:
        """Keep a failure in sight."""
        raise NotImplementedError

    def folder(self) -> SessionFolder | None:
        """Return the folder of the session under the cursor."""
        row = self.table.selected
        return SessionFolder(self.under / row.key) if row else None

    def action_open(self) -> None:
        """Watch the session."""
        found, row = self.folder(), self.table.selected
        if found is None or row is None:
            return
        if row.word == "unreadable":
            self.fail(f"{row.key}: {row.cause}")
        else:
            self.pike.show_live(found)

    def action_pause(self) -> None:
        """Pause or resume the session."""
        found, row = self.folder(), self.table.selected
        if found is None or row is None:
            return
        alive = row.engine in (Presence.ALIVE, Presence.FOREIGN)
        runs = row.running and not row.rests and alive
        self._ask(
            found, "pause" if runs else "resume", {"now": False} if runs else {}, revive=not alive
        )

    def action_stop(self) -> None:
        """Ask, then stop the session."""
        found = self.folder()
        if found is None:
            return
        answers = (Answer("x", "Stop; what is in flight finishes", "stop"), CANCEL)
        said = [Inert("The engine pauses, then ends. Nothing recorded is lost; p goes on later.")]

        def stop(answer: str | None) -> None:
            if answer:
                self._ask(found, "stop", {"now": False})

        self.pike.push_screen(Choice(inert_line(f"Stop {found.name}"), said, answers), stop)

    def _ask(
        self, folder: SessionFolder, act: str, args: dict[str, Any], *, revive: bool = False
    ) -> None:
        def work() -> None:
            told = ask(folder, act, args, 0, revive=revive)
            self.post_message(told or m.Told(f"{act} asked of {folder.name}"))

        self.run_worker(work, thread=True, group="asking", exit_on_error=False)

    def action_new(self) -> None:
        """Open the form of a new session."""
        self.pike.show_new()

    def action_demo(self) -> None:
        """Start the demo and watch it."""
        from workbench.beginning import Begun, begin
        from workbench.commands import demo

        def ended(found: Begun) -> None:
            self._demo = False
            if found.folder is None or found.why:
                self.fail(f"the demo did not start: {found.why}")
            elif self.is_seen:
                self.pike.show_live(found.folder)

        if self._demo:
            return
        self._demo = True
        self.tell("the demo starts: this machine is looked at first")
        wish, typed = demo.wanted()
        self.run_worker(
            lambda: self.call_later(ended, begin(wish, typed)),
            thread=True,
            group="demo",
            exit_on_error=False,
        )

    def action_mark(self) -> None:
        """Mark the session under the cursor, or take its mark away."""
        row = self.table.selected
        if row is None or row.word == "unreadable":
            return
        if row.key in self.marked:
            self.marked.remove(row.key)
        else:
            self.marked.append(row.key)
        self.put_marks()
        self.table.action_cursor_down()

    def action_compare(self) -> None:
        """Compare the marked sessions; with one marked, that and the one under the cursor."""
        row = self.table.selected
        names = list(self.marked)
        if len(names) == 1 and row is not None and row.key not in names:
            names.append(row.key)
        if len(names) < 2:
            self.tell("mark two sessions on one task with space, then c compares them")
            return
        folders = [SessionFolder(self.under / name) for name in names]
        self.tell(f"reading {', '.join(names)}")
        self.run_worker(
            lambda: self.call_later(self._compare, folders, *_read(folders)),
            thread=True,
            exclusive=True,
            group="compare",
            exit_on_error=False,
        )

    def _compare(self, folders: list[SessionFolder], states: list[State], why_not: str) -> None:
        if why_not:
            self.fail(why_not)
        elif self.is_current:
            self.pike.show_versus(folders, states)

    def action_copy(self) -> None:
        """Copy the session's name."""
        row = self.table.selected
        if row:
            self.pike.copy_text(row.key, row.key)
