"""The session list: which searches there are, which need you, and a hand on each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container
from textual.content import Content

from sessions import summary
from sessions.errors import SessionError
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.format import money, plural
from workbench.plain import Inert, inert_line
from workbench.screens.session_list_acts import SessionListActs
from workbench.today import Today
from workbench.widgets.filter_line import FilterLine
from workbench.widgets.frame import Banner, KeysLine
from workbench.widgets.lines import (
    EMPTY,
    Line,
    Span,
    cut,
    span,
    spread,
    width_of,
    wrap,
    write_border,
)
from workbench.widgets.painted import Lines
from workbench.widgets.session_rows import (
    SessionRow,
    SessionTable,
    keep_sessions,
    session_row,
    wants,
)

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.widgets import Input

    from workbench.gpus import Reading


LOOK_S = 1.0
GPUS_S = 5.0
NOTHING: Line = (
    span("No sessions yet.  "), span("n", "key"), span(" starts one;  "),
    span("d", "key"), span(" runs the demo, no key needed."),
)  # fmt: skip
NONE_LIKE: Line = (
    span("No session is like that;  ", "dim"), span("esc", "key"), span(" drops the filter.", "dim"),
)  # fmt: skip


class SessionListScreen(SessionListActs):
    """Every session of the state folder."""

    WHERE: ClassVar = Where.SESSIONS
    BINDINGS: ClassVar = bindings(Where.SESSIONS)
    AUTO_FOCUS = "#sessions"

    def __init__(self, under: Path) -> None:
        super().__init__(under)
        self._all: list[SessionRow] = []
        self._words = ""
        self._trouble = ""
        self._today = Today()
        self._spent = 0.0
        self._gpus: tuple[Reading, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay out the table between its two lines."""
        with Container(id="body"):
            yield Lines(id="top")
            yield Banner(id="banner")
            table = SessionTable(id="sessions", classes="frame")
            table.border_title = Content("Sessions")
            yield table
            yield Lines(id="needs")
        yield KeysLine(Where.SESSIONS, id="keys")
        yield FilterLine()  # after the keys: both lie at the foot, and the later covers the other
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Look at the folder now and every second."""
        self._put(self._read())
        self.set_interval(LOOK_S * self.pike.pace, self._look)
        self.set_interval(GPUS_S * self.pike.pace, self._look_at_gpus)
        self.call_after_refresh(self._look_at_gpus)

    def _read(self) -> list[SessionRow]:
        try:
            found = summary.rows(self.under)
        except (SessionError, OSError) as error:
            self._trouble = str(error)
            return []
        self._spent = self._today.spent(found, self.pike.now())
        return [session_row(row) for row in found]

    def _look_at_gpus(self) -> None:
        from workbench import gpus

        if self.is_seen:
            self.run_worker(
                lambda: self.call_later(self._put_gpus, tuple(gpus.readings())),
                thread=True,
                exclusive=True,
                group="gpus",
                exit_on_error=False,
            )

    def _put_gpus(self, found: tuple[Reading, ...]) -> None:
        self._gpus = found
        self._paint_top()

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
        names = {row.key for row in rows}
        self.marked = [name for name in self.marked if name in names]
        self._all = [replace(row, marked=row.key in self.marked) for row in rows]
        if self.is_seen:
            self.pike.announcer.of_all({row.key: row.needs for row in rows if row.needs})
        kept = keep_sessions(self._all, self._words)
        with self.pike.batch_update():
            self.table.show(kept)
            write_border(self.table, lower=self._count(len(kept), len(rows)))
            self._paint_top()
            self._paint_needs()

    def put_marks(self) -> None:
        """Show which sessions are marked."""
        self._put(self._all)

    def _count(self, kept: int, all_of_them: int) -> Inert:
        some = f"{kept} of {all_of_them} · {self._words}" if self._words else f"{all_of_them} · all"
        marked = f" · {len(self.marked)} marked" if self.marked else ""
        return inert_line(f"{some}{marked} · what needs you first, then newest")

    def _paint_top(self) -> None:
        running = sum(1 for row in self._all if row.running)
        width = max(1, self.size.width)
        right = (span("today ", "dim"), span(f"{money(self._spent)} "))
        parts: list[Line] = [
            (span(" pike", "strong"),),
            (span(f"{plural(running, 'search', 'searches')} running", "dim"),),
            *((Span(inert_line(reading.told), "dim"),) for reading in self._gpus),
        ]
        left = cut(parts, width - width_of(right) - 1, span("   "))
        self.query_one("#top", Lines).set_lines([spread(left, right, width)])
        self.query_one("#banner", Banner).say(self._trouble)

    def _paint_needs(self) -> None:
        row = self.table.selected
        told = wants(row) if row else NONE_LIKE if self._words else NOTHING
        width = max(20, self.size.width - 2)
        lines = [(span(" "), *line) for line in wrap(told, width)[:2]] if told else [EMPTY]
        self.query_one("#needs", Lines).set_lines(lines)
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
        self._paint_needs()

    # --- what is seen

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
        self.fail(message.what)

    def fail(self, what: str) -> None:
        """Keep a failure in sight."""
        self._trouble = what
        self._paint_top()
