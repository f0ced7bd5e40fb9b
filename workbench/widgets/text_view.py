"""A text to read, painted line by line from kept strips: diffs, sources, prompts, verdicts, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from workbench.actions import Where, bindings
from workbench.messages import DiffWanted
from workbench.widgets.document import Document
from workbench.widgets.lines import Line, plain_text, width_of
from workbench.widgets.painted import Scrolled

if TYPE_CHECKING:
    from textual.strip import Strip

SIDEWAYS = 8
"""Cells that one key scrolls to the side."""


class TextView(Scrolled):
    """Shows one document; keeps its place when the same document comes again, changed."""

    BINDINGS: ClassVar = bindings(Where.TEXT)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.document = Document()
        self._lines: tuple[Line, ...] = ()
        self._stops: tuple[int, ...] = ()
        self.left = 0
        """Cells scrolled to the side."""
        self._widest = 0
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
            self.top = self.left = 0
        self.refresh()

    def search(self, words: str) -> int:
        """Mark the lines that hold the words and go to the first; return how many there are."""
        self._search = words.lower()
        self._find()
        self._strips.clear()
        self.refresh()
        if self._matches:
            self.go_to(self._matches[0])
        return len(self._matches)

    def _find(self) -> None:
        self._matches = tuple(
            i
            for i, line in enumerate(self._lines)
            if self._search and self._search in plain_text(line).lower()
        )

    def _lay_out(self) -> None:
        width = max(1, self.size.width - 1)
        self._lines, self._stops = self.document.wrapped(width)
        self._widest = 0 if self.document.wraps else max(map(width_of, self._lines), default=0)
        self._strips.clear()
        self._find()
        self.top = min(self.top, self.last_top)

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        self._lay_out()
        self.refresh()

    def notify_style_update(self) -> None:
        """Forget the painted strips: colours changed."""
        self._strips.clear()
        super().notify_style_update()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def strip(self, index: int, width: int) -> Strip:
        """Return what is seen of one line."""
        full = max(self._widest, width)
        strip = self._strips.get((index, full))
        if strip is None:
            strip = self._strips[index, full] = self.paint(
                self._lines[index], full, self._under(index)
            )
        return strip.crop(self.left, self.left + width)

    def _under(self, index: int) -> str:
        if index in self._matches:
            return "match"
        under = self.document.under
        return under[index] if index < len(under) else ""

    # --- what stands around changes

    def action_more_context(self) -> None:
        """Ask for more unchanged lines around each change."""
        self.post_message(DiffWanted(1))

    def action_less_context(self) -> None:
        """Ask for fewer unchanged lines around each change."""
        self.post_message(DiffWanted(-1))

    def action_whitespace(self) -> None:
        """Ask for changes of white space alone to be shown, or hidden."""
        self.post_message(DiffWanted(whitespace=True))

    # --- moving

    def _stop_at(self) -> tuple[int, ...]:
        return self._matches if self._search else self._stops

    def action_next_stop(self) -> None:
        """Go to the next hunk, section or match."""
        after = [stop for stop in self._stop_at() if stop > self.top]
        if after:
            self.go_to(after[0])

    def action_previous_stop(self) -> None:
        """Go to the hunk, section or match before."""
        before = [stop for stop in self._stop_at() if stop < self.top]
        if before:
            self.go_to(before[-1])

    def action_line_down(self) -> None:
        """Scroll one line down."""
        self.go_to(self.top + 1)

    def action_line_up(self) -> None:
        """Scroll one line up."""
        self.go_to(self.top - 1)

    def action_text_first(self) -> None:
        """Go to the start."""
        self.go_to(0)

    def action_text_last(self) -> None:
        """Go to the end."""
        self.go_to(self.last_top)

    def action_half_down(self) -> None:
        """Scroll half a page down."""
        self.go_to(self.top + max(1, self.page // 2))

    def action_half_up(self) -> None:
        """Scroll half a page up."""
        self.go_to(self.top - max(1, self.page // 2))

    def action_page_down(self) -> None:
        """Scroll a page down."""
        self.go_to(self.top + max(1, self.page - 1))

    def action_page_up(self) -> None:
        """Scroll a page up."""
        self.go_to(self.top - max(1, self.page - 1))

    def action_scroll_right(self) -> None:
        """Scroll to the right."""
        self._sideways(SIDEWAYS)

    def action_scroll_left(self) -> None:
        """Scroll to the left."""
        self._sideways(-SIDEWAYS)

    def _sideways(self, by: int) -> None:
        left = max(0, min(self.left + by, self._widest - self.size.width + 2))
        if left != self.left:
            self.left = left
            self.refresh()
