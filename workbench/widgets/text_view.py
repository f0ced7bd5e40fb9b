"""A text to read, painted line by line from kept strips: diffs, sources, prompts, verdicts, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Size
from textual.scroll_view import ScrollView

from workbench.actions import Where, bindings
from workbench.widgets.document import Document
from workbench.widgets.lines import EMPTY, TONE_CLASSES, Line, paint, plain_text, width_of

if TYPE_CHECKING:
    from textual.strip import Strip

SIDEWAYS = 8
"""Cells that one key scrolls to the side."""


class TextView(ScrollView, can_focus=True):
    """Shows one document; keeps its place when the same document comes again, changed."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)
    BINDINGS: ClassVar = bindings(Where.TEXT)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.document = Document()
        self._lines: tuple[Line, ...] = ()
        self._stops: tuple[int, ...] = ()
        self._strips: dict[tuple[int, int], Strip] = {}
        self._matches: tuple[int, ...] = ()
        self._search = ""

    def show(self, new: Document, *, keep_place: bool = False) -> None:
        """Show a document, from its start unless it takes the place of an older version of itself."""
        if new == self.document:
            return
        self.document = new
        self._lay_out()
        if not keep_place:
            self.scroll_to(x=0, y=0, animate=False, force=True)
        self.refresh()

    def search(self, words: str) -> int:
        """Mark the lines that hold the words and go to the first; return how many there are."""
        self._search = words.lower()
        self._find()
        self._strips.clear()
        self.refresh()
        if self._matches:
            self._go_to(self._matches[0])
        return len(self._matches)

    def _find(self) -> None:
        self._matches = tuple(
            i
            for i, line in enumerate(self._lines)
            if self._search and self._search in plain_text(line).lower()
        )

    def _lay_out(self) -> None:
        width = self.size.width
        self._lines, self._stops = self.document.wrapped(width)
        self._strips.clear()
        self._find()
        widest = width if self.document.wraps else max(map(width_of, self._lines), default=0)
        self.virtual_size = Size(max(width, widest), len(self._lines))

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        self._lay_out()
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget the painted strips: colours changed."""
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Paint one line of the visible part."""
        left, top = self.scroll_offset
        width = self.size.width
        index = y + top
        if index >= len(self._lines):
            return paint(self, EMPTY, width)
        return self._strip(index).crop(left, left + width)

    def _strip(self, index: int) -> Strip:
        full = max(self.virtual_size.width, self.size.width)
        strip = self._strips.get((index, full))
        if strip is None:
            strip = self._strips[index, full] = paint(
                self, self._lines[index], full, self._under(index)
            )
        return strip

    def _under(self, index: int) -> str:
        if index in self._matches:
            return "match"
        under = self.document.under
        return under[index] if index < len(under) else ""

    # --- moving

    def _go_to(self, y: int) -> None:
        self.scroll_to(y=max(0, min(y, self.max_scroll_y)), animate=False, force=True)

    def _stop_at(self) -> tuple[int, ...]:
        return self._matches if self._search else self._stops

    def action_next_stop(self) -> None:
        """Go to the next hunk, section or match."""
        after = [stop for stop in self._stop_at() if stop > self.scroll_offset.y]
        if after:
            self._go_to(after[0])

    def action_previous_stop(self) -> None:
        """Go to the hunk, section or match before."""
        before = [stop for stop in self._stop_at() if stop < self.scroll_offset.y]
        if before:
            self._go_to(before[-1])

    def action_line_down(self) -> None:
        """Scroll one line down."""
        self._go_to(self.scroll_offset.y + 1)

    def action_line_up(self) -> None:
        """Scroll one line up."""
        self._go_to(self.scroll_offset.y - 1)

    def action_text_first(self) -> None:
        """Go to the start."""
        self._go_to(0)

    def action_text_last(self) -> None:
        """Go to the end."""
        self._go_to(self.max_scroll_y)

    def action_half_down(self) -> None:
        """Scroll half a page down."""
        self._go_to(self.scroll_offset.y + max(1, self.size.height // 2))

    def action_half_up(self) -> None:
        """Scroll half a page up."""
        self._go_to(self.scroll_offset.y - max(1, self.size.height // 2))

    def action_page_down(self) -> None:
        """Scroll a page down."""
        self._go_to(self.scroll_offset.y + max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        """Scroll a page up."""
        self._go_to(self.scroll_offset.y - max(1, self.size.height - 1))

    def action_scroll_right(self) -> None:
        """Scroll to the right."""
        self.scroll_to(x=self.scroll_offset.x + SIDEWAYS, animate=False, force=True)

    def action_scroll_left(self) -> None:
        """Scroll to the left."""
        self.scroll_to(x=max(0, self.scroll_offset.x - SIDEWAYS), animate=False, force=True)
