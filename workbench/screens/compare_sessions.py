"""Sessions on one task side by side: their curves over each other, what each found, and what it cost."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Vertical
from textual.content import Content

from sessions.journal import JournalError
from workbench import comparing_sessions as comparing
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.errors import WorkbenchError
from workbench.feed import load
from workbench.plain import inert_line
from workbench.screens.pike_screen import PikeScreen
from workbench.widgets.compare_table import fitting, table_lines
from workbench.widgets.frame import Banner, KeysLine, Separator
from workbench.widgets.lines import EMPTY, Line, Span, span, wrap, write_border
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from sessions.folder import SessionFolder
    from sessions.model import State

AXES = (("queries", "queries"), ("money", "dollars"), ("time", "minutes"))
SHORT = ("strategy", "models", "best", "over eager", "best after", "queries", "cost", "attempts")
"""The rows that matter most, where a screen has no room for all."""


class CompareSessionsScreen(PikeScreen):
    """Compares sessions as they were when it was opened."""

    CSS_PATH = "../styles/compare.tcss"
    WHERE: ClassVar = Where.VERSUS
    BINDINGS: ClassVar = bindings(Where.VERSUS)

    def __init__(self, folders: Sequence[SessionFolder], states: Sequence[State] = ()) -> None:
        super().__init__()
        self._given = list(states)
        """What was read already; empty if nothing was."""
        self._folders = list(folders)
        self._states: list[State] = []
        self._columns: list[comparing.Column] = []
        self._axis = 0
        self._is_reading = True

    def compose(self) -> ComposeResult:
        """Lay out the table over the chart."""
        with Container(id="body"):
            yield Banner(id="banner")
            table = Lines(id="table")
            table.border_title = Content("Compare sessions")
            with Vertical(id="pair"):
                yield table
                yield Separator("best so far", id="chart-line")
        yield KeysLine(Where.VERSUS, id="keys")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Read the journals, off the event loop."""
        self.query_one("#table", Lines).set_lines([(span(" reading …", "dim"),)])
        self.run_worker(self._load, thread=True, group="load", exit_on_error=False)

    def _load(self) -> None:
        try:
            states = self._given or [load(folder) for folder in self._folders]
            comparing.same_task(states)
        except (JournalError, WorkbenchError, sqlite3.Error, OSError, ValueError) as error:
            self.post_message(m.Failed(f"cannot compare these sessions: {error}"))
        else:
            self.call_later(self._read, states)

    async def _read(self, states: list[State]) -> None:
        from workbench.widgets.overlay_chart import OverlayChart

        self._states = states
        self._columns = comparing.columns(states, self.pike.now())
        self._paint()
        await self.query_one("#pair").mount(OverlayChart(id="chart"))
        self._paint_chart()
        self._is_reading = False
        self.pike.call_later(self.pike.press_ahead)

    @property
    def is_reading(self) -> bool:
        """Whether table and curves are still to come."""
        return self._is_reading

    # --- painting

    def _paint(self) -> None:
        if not self._columns:
            return
        width = max(20, self.size.width - 4)
        heads = [
            (f"{letter} {column.name}", "strong")
            for letter, column in zip(comparing.LETTERS, self._columns, strict=False)
        ]
        rows = SHORT if self.size.height < 34 else comparing.ROWS
        lines = table_lines(heads, rows, [column.cells for column in self._columns], width)
        told = wrap((span(comparing.told(self._columns), "strong"),), width)
        table = self.query_one("#table", Lines)
        table.set_lines([_indented(line) for line in [*lines, EMPTY, *told]])

    def _paint_chart(self) -> None:
        from workbench.widgets.overlay_chart import Curve, OverlayChart
        from workbench.widgets.speedup_chart import curve

        axis, words = AXES[self._axis]
        self.query_one("#chart-line", Separator).set_title(f"best so far ×, by {words}")
        for chart in self.query(OverlayChart):
            curves = zip(comparing.LETTERS, self._states, strict=False)
            chart.show(tuple(Curve(letter, curve(state, axis).best) for letter, state in curves))
            shown = fitting(max(20, self.size.width - 4), len(self._columns))[0]
            hidden = len(self._columns) - shown
            more = f"{hidden} more in a wider window" if hidden else ""
            write_border(chart, lower=inert_line(more))

    def on_resize(self) -> None:
        """Fit the table to the width."""
        small = f"Too small ({self.size.width}×{self.size.height}). Enlarge, or use `pike compare`."
        self.query_one("#too-small", Lines).set_lines(
            wrap((Span(inert_line(small)),), self.size.width)
        )
        self._paint()
        self._paint_chart()

    # --- acts

    def action_axis(self) -> None:
        """Draw the curves over something else."""
        self._axis = (self._axis + 1) % len(AXES)
        self._paint_chart()

    def action_back(self) -> None:
        """Go back."""
        self.pike.pop_screen()

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in sight."""
        message.stop()
        self._is_reading = False
        self.query_one("#table", Lines).set_lines([])
        self.query_one("#banner", Banner).say(f"! {message.what}")


def _indented(line: Line) -> Line:
    return (span(" "), *line)
