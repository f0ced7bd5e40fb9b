"""Attempts of one session side by side: a table, which is faster and how sure, and what differs between them."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Vertical

from sessions.ids import number_of
from sessions.journal import JournalError, Reader
from sessions.model import ORIGINAL
from sessions.verdicts import kind_of
from workbench import comparing
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.errors import WorkbenchError
from workbench.feed import load
from workbench.files import free
from workbench.patches import patch
from workbench.plain import inert_line
from workbench.screens.measuring import Measuring
from workbench.widgets.compare_table import fitting, table_lines
from workbench.widgets.document import Document, document, text_lines
from workbench.widgets.frame import Banner, KeysLine, Separator
from workbench.widgets.lines import EMPTY, Line, Span, span, wrap, write_border
from workbench.widgets.painted import Lines
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from sessions.folder import SessionFolder
    from sessions.model import State

logger = logging.getLogger(__name__)


class CompareScreen(Measuring):
    """Compares attempts; its only act on the machine is to measure them again."""

    CSS_PATH = "../styles/compare.tcss"
    WHERE: ClassVar = Where.COMPARE
    BINDINGS: ClassVar = bindings(Where.COMPARE)
    AUTO_FOCUS = "#text"

    def __init__(self, folder: SessionFolder, ids: Sequence[str]) -> None:
        super().__init__(folder, sorted(ids, key=number_of))
        self._sides: list[comparing.Side] = []
        self._sources: dict[str, str] = {}
        self._pair = 0
        self._around = 3
        self._whitespace = True
        self._is_reading = True

    def compose(self) -> ComposeResult:
        """Lay out the table over the diff."""
        with Container(id="body"):
            yield Banner(id="banner")
            with Vertical(id="pair"):
                yield Lines(id="table")
                yield Separator("Diff", id="diff-line")
                yield TextView(id="text")
        yield KeysLine(Where.COMPARE, id="keys")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Read the journal, off the event loop."""
        table = self.query_one("#table", Lines)
        write_border(table, upper=inert_line(f"Compare · {self.folder.name}"))
        table.set_lines([(span(" reading …", "dim"),)])
        self.run_worker(self._load, thread=True, group="load", exit_on_error=False)

    def _load(self) -> None:
        try:
            state = load(self.folder)
            comparing.pick(state, self.ids)
            with Reader(self.folder.journal) as reader:
                self._sources = {name: reader.text(_key(state, name)) for name in self.ids}
            self.post_message(m.StateLoaded(state))
        except (JournalError, WorkbenchError, sqlite3.Error, OSError, ValueError) as error:
            self.post_message(m.Failed(f"cannot compare attempts of {self.folder.name}: {error}"))

    def on_state_loaded(self, message: m.StateLoaded) -> None:
        """Show what was read."""
        message.stop()
        self.state = message.state
        at_work = comparing.at_work(self.folder)
        self._sides = comparing.sides(message.state, self.ids, at_work=at_work)
        named = (f"Compare · {self.folder.name}", *comparing.labels(message.state, self.ids))
        write_border(self.query_one("#table"), upper=inert_line(" · ".join(named)))
        self.paint()
        self._show_diff()

    @property
    def is_reading(self) -> bool:
        """Whether table and diff are still to come."""
        return self._is_reading

    @property
    def is_shown(self) -> bool:
        """Whether the journal was read."""
        return bool(self._sides)

    # --- the table

    def paint(self) -> None:
        """Show the table and what is said under it."""
        table = self.query_one("#table", Lines)
        width = max(20, self.size.width - 3)
        if not self._sides:
            return
        heads = [(comparing.head(side), "best" if side.best else "strong") for side in self._sides]
        rows = comparing.ROWS + (comparing.AGAIN_ROWS if self.again else ())
        lines = table_lines(heads, rows, [self._cells(side) for side in self._sides], width)
        table.set_lines([*map(_indented, lines), *map(_indented, self._sentences(width))])
        hidden = len(self._sides) - fitting(width, len(self._sides))[0]
        more = f"{hidden} more in a wider window" if hidden else ""
        write_border(self.query_one(TextView), lower=inert_line(more))

    def _cells(self, side: comparing.Side) -> dict[str, str]:
        again = self.again.get(side.id)
        more = comparing.again_cells(kind_of(again).value, again) if again else {}
        return {**side.cells, **more}

    def _sentences(self, width: int) -> list[Line]:
        """Say which is faster; what was measured back to back counts more than what was recorded."""
        again = comparing.told_again(self._sides, self.again, self.elsewhere)
        lines = wrap((span(again or comparing.told(self._sides), "strong"),), width)
        if self.doing:
            lines += wrap((Span(inert_line(f"measuring again: {self.doing}"), "busy"),), width)
        elif again:
            lines += wrap((span("These numbers enter no journal.", "dim"),), width)
        elif apart := comparing.told_apart(self._sides):
            lines += wrap(
                (span(f"{apart} ", "dim"), span("R", "key"), span(_REPEATS, "dim")), width
            )
        return [EMPTY, *lines]

    def on_resize(self) -> None:
        """Fit the table to the width."""
        small = f"Too small ({self.size.width}×{self.size.height}). Enlarge, or use `pike compare`."
        self.query_one("#too-small", Lines).set_lines(
            wrap((Span(inert_line(small)),), self.size.width)
        )
        self.paint()

    # --- the diff

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """The first against the last, then each against its neighbour."""
        neighbours = list(zip(self.ids, self.ids[1:], strict=False))
        return [(self.ids[0], self.ids[-1]), *(neighbours if len(self.ids) > 2 else [])]

    def _show_diff(self, *, keep_place: bool = False) -> None:
        before, after = self._pairs[self._pair]
        more = f" · {self._pair + 1} of {len(self._pairs)}" if len(self._pairs) > 1 else ""
        self.query_one("#diff-line", Separator).set_title(f"Diff {before} → {after}{more}")
        sources = (self._sources.get(before, ""), self._sources.get(after, ""))
        around, whitespace = self._around, self._whitespace

        def work() -> None:
            try:
                found = _diff(*sources, before, around, whitespace=whitespace)
            except Exception as error:
                logger.exception("cannot show the diff of %s and %s", before, after)
                found = document(text_lines(f"cannot show this: {error!r}", "warn"))
            self.call_later(self._put, found, keep_place)

        self.run_worker(work, thread=True, exclusive=True, group="diff", exit_on_error=False)

    def _put(self, found: Document, keep_place: bool) -> None:
        self.query_one(TextView).show(found, keep_place=keep_place)
        if self._is_reading:
            self._is_reading = False
            self.pike.call_later(self.pike.press_ahead)

    def on_diff_wanted(self, message: m.DiffWanted) -> None:
        """Show more or less around each change, or white space the other way."""
        message.stop()
        self._around = max(0, min(self._around + message.by, MOST_CONTEXT))
        if message.whitespace:
            self._whitespace = not self._whitespace
            self.tell(
                f"changes of white space alone are {'shown' if self._whitespace else 'hidden'}"
            )
        self._show_diff(keep_place=True)

    def action_next_pair(self) -> None:
        """Show what differs between the next two."""
        self._turn(1)

    def action_previous_pair(self) -> None:
        """Show what differs between the two before."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        if len(self._pairs) == 1:
            self.tell("two are compared: there is no other pair")
            return
        self._pair = (self._pair + by) % len(self._pairs)
        self._show_diff()

    def _patch(self) -> tuple[str, str]:
        """Return the patch that is seen, and a name for its file."""
        before, after = self._pairs[self._pair]
        text = patch(self._sources[before], self._sources[after], f"{before}.py", f"{after}.py")
        return text, f"{self.folder.name}-{before}-{after}"

    def action_copy_patch(self) -> None:
        """Copy the patch."""
        if self.state is not None:
            text, name = self._patch()
            self.pike.copy_text(text, f"{name}.patch")

    def action_write(self) -> None:
        """Write the patch to a new file in the current folder."""
        if self.state is None:
            return
        text, name = self._patch()
        try:
            path = free(Path.cwd(), name, ".patch")
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        except OSError as error:
            self.post_message(m.Failed(f"cannot write {name}.patch: {error}"))
        else:
            self.tell(f"wrote {path}")

    # --- leaving

    def action_back(self) -> None:
        """Settle what failed, else go back."""
        banner = self.query_one("#banner", Banner)
        if banner.has_class("-on") and self.state is not None:
            banner.say("")
        else:
            if self.work is not None:
                self.tell("measuring again was ended; nothing of it was kept")
            self.pike.pop_screen()

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in sight."""
        message.stop()
        self._is_reading = False
        self.query_one("#banner", Banner).say(f"! {message.what}")


MOST_CONTEXT = 99
_REPEATS = " times them again, back to back."


def _key(state: State, name: str) -> str:
    if name == ORIGINAL:
        return state.opened.source_key if state.opened else ""
    return state.attempts[name].source_key


def _indented(line: Line) -> Line:
    return (span(" "), *line)


def _diff(before: str, after: str, base: str, context: int, *, whitespace: bool) -> Document:
    from workbench.widgets.diff_view import diff_document

    return diff_document(before, after, base, context=context, whitespace=whitespace)
