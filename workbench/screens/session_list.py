"""The session list: which searches there are, which need you, and a hand on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Container
from textual.content import Content

from sessions import summary
from sessions.errors import SessionError
from sessions.folder import SessionFolder
from sessions.lock import Presence
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.asking import ask
from workbench.format import money, plural
from workbench.plain import Inert, inert_line
from workbench.screens.choice import CANCEL, Answer, Choice
from workbench.screens.pike_screen import PikeScreen
from workbench.widgets.filter_line import FilterLine
from workbench.widgets.frame import Banner, KeysLine
from workbench.widgets.lines import Span, span, spread, wrap, write_border
from workbench.widgets.painted import Lines
from workbench.widgets.session_rows import SessionRow, SessionTable, keep_sessions, session_row

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.widgets import Input


LOOK_S = 1.0
NOTHING = "No sessions yet.  `pike demo` shows a search, no key needed;  `pike run FILE` starts one on your own model."


class SessionListScreen(PikeScreen):
    """Every session of the state folder."""

    WHERE: ClassVar = Where.SESSIONS
    BINDINGS: ClassVar = bindings(Where.SESSIONS)
    AUTO_FOCUS = "#sessions"

    def __init__(self, under: Path) -> None:
        super().__init__()
        self.under = under
        self._all: list[SessionRow] = []
        self._words = ""
        self._trouble = ""

    @property
    def table(self) -> SessionTable:
        """The sessions."""
        return self.query_one("#sessions", SessionTable)

    def compose(self) -> ComposeResult:
        """Lay out the table between its two lines."""
        with Container(id="body"):
            yield Lines(id="top")
            yield Banner(id="banner")
            table = SessionTable(id="sessions", classes="frame")
            table.border_title = Content("Sessions")
            yield table
            yield Banner(id="needs")
        yield FilterLine()
        yield KeysLine(Where.SESSIONS, id="keys")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Look at the folder now and every second."""
        self._put(self._read())
        self.set_interval(LOOK_S * self.pike.pace, self._look)

    def _read(self) -> list[SessionRow]:
        try:
            return [session_row(row) for row in summary.rows(self.under)]
        except (SessionError, OSError) as error:
            self._trouble = str(error)
            return []

    def _look(self) -> None:
        if self.is_seen:
            self.run_worker(
                lambda: self.post_message(m.SessionsRead(self._read())),
                thread=True,
                exclusive=True,
                group="look",
                exit_on_error=False,
            )

    def on_sessions_read(self, message: m.SessionsRead) -> None:
        """Show what was found."""
        message.stop()
        self._put(message.rows)

    def on_screen_resume(self) -> None:
        """Look at once when the list comes back."""
        self._look()

    def _put(self, rows: list[SessionRow]) -> None:
        self._all = rows
        if self.is_seen:
            self.pike.announcer.of_all({row.key: row.needs for row in rows if row.needs})
        kept = keep_sessions(rows, self._words)
        with self.pike.batch_update():
            self.table.show(kept)
            some = f"{len(kept)} of {len(rows)} · {self._words}" if self._words else f"{len(rows)}"
            write_border(
                self.table, lower=inert_line(f"{some} · what needs you first, then newest")
            )
            self._paint_top()
            self._paint_needs()

    def _paint_top(self) -> None:
        spent = sum(row.cost_usd for row in self._all)
        running = sum(1 for row in self._all if row.running)
        left = (
            span(" pike", "strong"),
            span(f"   {plural(running, 'search', 'searches')} running", "dim"),
        )
        right = (span(f"{money(spent)} in {plural(len(self._all), 'session')} ", "dim"),)
        self.query_one("#top", Lines).set_lines([spread(left, right, max(1, self.size.width))])
        self.query_one("#banner", Banner).say(self._trouble)

    def _paint_needs(self) -> None:
        row = self.table.selected
        needs = self.query_one("#needs", Banner)
        if row is None:
            needs.say("" if self._words else NOTHING, "dim")
        elif row.needs:
            needs.say(f"▲ {row.key}: {row.needs}")
        elif row.cause and row.word in ("finished", "paused", "stopped", "unreadable"):
            needs.say(f"{row.key}: {row.cause}", "dim")
        else:
            needs.say("")
        resumes = row is not None and (row.rests or not row.running)
        self.query_one("#keys", KeysLine).relabel("list.pause", "Resume" if resumes else "Pause")

    def on_resize(self) -> None:
        """Fit the lines that depend on the width."""
        small = (
            f"Too small ({self.size.width}×{self.size.height}). Enlarge, or use `pike sessions`."
        )
        self.query_one("#too-small", Lines).set_lines(
            wrap((Span(inert_line(small)),), self.size.width)
        )
        self._paint_top()

    # --- acts

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
            self._fail(f"{row.key}: {row.cause}")
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

    def action_copy(self) -> None:
        """Copy the session's name."""
        row = self.table.selected
        if row:
            self.pike.copy_text(row.key, row.key)

    def action_filter(self) -> None:
        """Ask for a filter."""
        self.query_one(FilterLine).ask(Inert("words of a row: paused  pike-b  softmax"))

    def action_back(self) -> None:
        """Drop the filter, or settle what failed."""
        line = self.query_one(FilterLine)
        line.value, self._words, self._trouble = "", "", ""
        line.put_away()
        self.set_focus(self.table)
        self._put(self._all)

    def action_leave(self) -> None:
        """Leave; searches go on."""
        self.pike.exit(0)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter while typing."""
        self._words = message.value
        self._put(self._all)

    def on_input_submitted(self) -> None:
        """Keep the filter."""
        self.query_one(FilterLine).put_away()
        self.set_focus(self.table)

    def on_row_opened(self, message: m.RowOpened) -> None:
        """Watch the opened session."""
        message.stop()
        self.action_open()

    def on_cursor_moved(self, message: m.CursorMoved) -> None:
        """Say what the session under the cursor needs."""
        message.stop()
        self._paint_needs()

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in sight."""
        message.stop()
        self._fail(message.what)

    def _fail(self, what: str) -> None:
        self._trouble = what
        self._paint_top()
