"""What the keys of the live screen do to a session: pause, stop, leave, copy, write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.lock import Presence
from sessions.states import SessionState
from workbench import messages as m
from workbench.asking import ask, start
from workbench.files import free
from workbench.format import plural
from workbench.keymap import keymap_of
from workbench.plain import Inert, inert_line
from workbench.screens.choice import CANCEL, STAY, Answer, Choice
from workbench.screens.detail_pane import DetailPane
from workbench.screens.pike_screen import PikeScreen
from workbench.shown import Standing
from workbench.too_small import is_too_small
from workbench.widgets.attempt_table import AttemptTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord
    from workbench.feed import Feed

AXES = ("queries", "money", "time")
GOES_ON = ("budget", "submit", "fork")
"""Steers that give a finished search something to do."""


class SessionActs(PikeScreen):
    """The acts on one session and on its attempts."""

    def __init__(self, folder: SessionFolder) -> None:
        super().__init__()
        self.folder = folder
        self.feed: Feed | None = None
        self.standing = Standing("running")
        self.query_text = ""
        """The filter."""
        self.axis = AXES[0]
        self.trouble = ""
        """What failed and is not settled."""
        self._searching = False

    @property
    def table(self) -> AttemptTable:
        """The attempts."""
        return self.query_one("#attempts", AttemptTable)

    @property
    def detail(self) -> DetailPane:
        """The detail pane."""
        return self.query_one("#detail", DetailPane)

    def paint_rows(self) -> None:
        """Show the attempts again."""
        raise NotImplementedError

    def paint_count(self) -> None:
        """Show again how many attempts there are."""
        raise NotImplementedError

    def paint_chart(self) -> None:
        """Draw the curve again."""
        raise NotImplementedError

    def paint_top(self) -> None:
        """Show status line and banner again."""
        raise NotImplementedError

    # --- asking the session

    @property
    def is_foreign(self) -> bool:
        """Whether the engine runs on another host, so that nothing may be asked from this one."""
        return self.feed is not None and self.feed.engine is Presence.FOREIGN

    def refuses(self) -> bool:
        """Say why nothing can be asked of the session from here, if that is so."""
        if self.is_foreign:
            self.tell("read-only: the engine of this session runs on another host; ask it there")
        return self.is_foreign

    def ask(self, act: str, args: dict[str, Any] | None = None, *, revive: bool = False) -> None:
        """Write a command, in a thread; the screen shows that it waits, and when it was taken."""
        if self.refuses():
            return
        seen = self.feed.state.seq if self.feed else 0
        self.in_thread(lambda: ask(self.folder, act, args or {}, seen, revive=revive))

    def in_thread(self, work: Callable[[], Message | None]) -> None:
        """Do what may block, then handle what it found."""

        def run() -> None:
            told = work()
            if told is not None:
                self.post_message(told)

        self.run_worker(run, thread=True, group="asking", exit_on_error=False)

    def action_pause(self) -> None:
        """Pause what runs, resume what is paused, revive what has no engine."""
        if self.feed is None:
            return
        if self.standing.word == "finished":
            if any(command.act in GOES_ON for command in self.feed.asked):
                self.ask("resume", revive=True)
            else:
                budget = keymap_of(self).key_of("live.budget")
                self.tell(
                    f"finished: {self.standing.note}. {budget} raises its budget; then p again"
                )
            return
        alive = self.feed.engine is Presence.ALIVE or self.is_foreign
        if alive and not self.standing.resumes:
            self.ask("pause", {"now": False})
        elif alive:
            self.ask("resume")
        elif self.standing.word in ("crashed", "stopped") and self.standing.silent:
            self.in_thread(lambda: start(self.folder))
        else:
            self.ask("resume", revive=True)

    def action_pause_now(self) -> None:
        """Pause and cancel evaluations; they are done again on resume."""
        self.ask("pause", {"now": True})
        self.tell("pausing now: evaluations are cancelled, queries already sent are kept")

    def action_stop(self) -> None:
        """Ask how to stop, then do."""
        flying = len(self.feed.state.in_flight) if self.feed else 0
        lost = f"Stop now, losing {plural(flying, 'query', 'queries')} in flight"
        answers = (
            Answer("x", "Stop; what is in flight finishes", "stop"),
            Answer("X", lost, "now"),
            CANCEL,
        )
        said = [Inert("The engine pauses, then ends. Nothing recorded is lost; p goes on later.")]
        self.pike.push_screen(
            Choice(inert_line(f"Stop {self.folder.name}"), said, answers), self._stop
        )

    def _stop(self, answer: str | None) -> None:
        if answer:
            self.ask("stop", {"now": answer == "now"})

    def action_leave(self) -> None:
        """Leave; while a search runs, say first that it goes on."""
        if self.screen.get_selected_text():
            self.screen.clear_selection()
            return
        if not self.standing.active or is_too_small(self):
            self.pike.exit(0)
            return
        pauses = self.feed is not None and self.feed.state.state is SessionState.PAUSED
        leave, stop = Answer("enter", "Leave", "leave"), Answer("x", "Stop it, then leave", "stop")
        pause = () if pauses else (Answer("p", "Pause, then leave", "pause"),)
        answers = (leave, *pause, stop, STAY)
        goes_on = "The search is paused; its engine waits without this window."
        said = [Inert(goes_on if pauses else "The search goes on without this window.")]
        tail = [inert_line(f"Come back with:  pike attach {self.folder.name}")]
        title = inert_line(f"Leave {self.folder.name}")
        self.pike.push_screen(Choice(title, said, answers, tail), self._leave)

    def _leave(self, answer: str | None) -> None:
        seen = self.feed.state.seq if self.feed else 0
        match answer:
            case "pause":
                ask(self.folder, "pause", {"now": False}, seen)
            case "stop":
                ask(self.folder, "stop", {"now": False}, seen)
            case "leave":
                pass
            case _:
                return
        self.pike.exit(0)

    # --- the selected attempt

    def attempt(self) -> AttemptRecord | None:
        """Return the attempt under the cursor."""
        row = self.table.selected
        return self.feed.state.attempts.get(row.key) if self.feed and row else None

    def action_copy(self) -> None:
        """Copy the attempt's id."""
        row = self.table.selected
        if row:
            self.pike.copy_text(row.key, row.key)

    def action_copy_content(self) -> None:
        """Copy what the detail pane shows."""
        text = self.detail.view.document.copied()
        if text:
            self.pike.copy_text(text, plural(len(text), "character"))
        else:
            self.tell("nothing to copy yet")

    def action_write(self) -> None:
        """Write the candidate to a new file in the current folder; the patch, while a diff has the keys."""
        attempt = self.attempt()
        if attempt is None or self.feed is None:
            self.tell("no attempt is selected")
            return
        patch = self.detail.tab == "Diff" and self.focused is self.detail.view
        text = self.detail.view.document.copied() if patch else self.feed.text(attempt.source_key)
        try:
            path = free(
                Path.cwd(), f"{self.folder.name}-{attempt.id}", ".patch" if patch else ".py"
            )
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        except OSError as error:
            self.post_message(m.Failed(f"cannot write {attempt.id}: {error}"))
        else:
            self.tell(f"wrote {path}")

    # --- what is told

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in the banner until it is settled."""
        message.stop()
        self.trouble = message.what
        self.paint_top()
