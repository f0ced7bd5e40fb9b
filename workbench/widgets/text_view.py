"""A text to read, painted line by line from kept strips: diffs, sources, prompts, verdicts, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.strip import Strip

from workbench.actions import Where, bindings
from workbench.messages import DiffWanted, PagerWanted, Told
from workbench.widgets.document import Document
from workbench.widgets.lines import EMPTY, Line, plain_text, span, width_of
from workbench.widgets.painted import Scrolled

if TYPE_CHECKING:
    from workbench.widgets.document import Half, Pair

SIDEWAYS = 8
"""Cells that one key scrolls to the side."""
BESIDE_FROM = 140
"""Cells of the view from which two sources stand beside each other, unless a person wants it otherwise."""


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
        self._hidden = 0
        """Cells by which the longest line is longer than what is seen of it."""
        self._shown = self.document
        """The document as it is laid out: with one column or with two."""
        self._beside: bool | None = None
        """Whether a person wants two sources beside each other; None: as the width has it."""
        self._strips: dict[tuple[int, int, int], Strip] = {}
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
        words, lines = self._search, self._lines if self._search else ()
        self._matches = tuple(
            i for i, line in enumerate(lines) if words in plain_text(line).lower()
        )

    def _lay_out(self) -> None:
        width = self._room
        self._choose_columns(width)
        self._lines, self._stops = self._shown.wrapped(width)
        self._hidden = 0 if self._shown.wraps else self._longest(width)
        self._strips.clear()
        self._find()
        self.top = min(self.top, self.last_top)

    @property
    def _room(self) -> int:
        return max(1, self.size.width - 1)

    @property
    def is_beside(self) -> bool:
        """Whether two sources stand beside each other."""
        return self._shown is not self.document

    def _choose_columns(self, width: int) -> None:
        """Take the document with one column or the one with two; it is made once for each document."""
        make = self.document.beside
        wanted = width >= BESIDE_FROM if self._beside is None else self._beside
        if make is None or not wanted:
            self._shown = self.document
        elif self._shown is self.document or self._shown.beside is not make:
            self._shown = make().with_beside(make)

    def _longest(self, width: int) -> int:
        """Return by how many cells the longest line, or side of one, goes beyond what is seen."""
        pairs, (left, right) = self._shown.pairs, _halves(width)
        longest = max((width_of(x) for i, x in enumerate(self._lines) if i not in pairs), default=0)
        sides = [
            width_of(half.text) + width_of(half.gutter) - room
            for pair in pairs.values()
            for half, room in ((pair.old, left), (pair.new, right))
            if half
        ]
        return max(0, longest - width, *sides)

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        self._lay_out_again()
        self.refresh()

    def _lay_out_again(self) -> None:
        """Lay the same document out anew; with another number of columns, at the hunk that was seen."""
        hunk = sum(1 for stop in self._stops if stop <= self.top) - 1
        before = self.is_beside
        self._lay_out()
        if self.is_beside is not before:
            self.top = min(self._stops[hunk], self.last_top) if hunk >= 0 else 0
            self.left = 0

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
        key = (index, width, self.left)
        strip = self._strips.get(key)
        if strip is None:
            pair = self._shown.pairs.get(index)
            strip = self._strips[key] = (
                self._of_pair(pair, width, self._under(index))
                if pair
                else self._cut(self._lines[index], width, self._under(index))
            )
        return strip

    def _cut(self, line: Line, width: int, under: str) -> Strip:
        """Return what is seen of a line in `width` cells."""
        if not self.left:
            return self.paint(line, width, under)
        return self.paint(line, self.left + width, under).crop(self.left, self.left + width)

    def _of_pair(self, pair: Pair, width: int, under: str) -> Strip:
        left, right = _halves(width)
        middle = self.paint((span("│", "bar"),), 1)
        old, new = self._of_half(pair.old, left, under), self._of_half(pair.new, right, under)
        return Strip.join([old, middle, new])

    def _of_half(self, half: Half | None, width: int, under: str) -> Strip:
        if half is None:
            return self.paint(EMPTY, width)
        edge, over = min(width_of(half.gutter), width), under or half.under
        gutter = self.paint(half.gutter, edge, half.under)
        return Strip.join([gutter, self._cut(half.text, width - edge, over)])

    def _under(self, index: int) -> str:
        if index in self._matches:
            return "match"
        under = self._shown.under
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

    def action_beside(self) -> None:
        """Show the two sources of a diff beside each other, or one under the other."""
        if self.document.beside is None:
            self.post_message(Told("only a diff has two sides"))
            return
        self._beside = not self.is_beside
        self._lay_out_again()
        self.refresh()

    def action_pager(self) -> None:
        """Ask for all of the text in a pager."""
        self.post_message(PagerWanted(self.document.paged()))

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
        left = max(0, min(self.left + by, self._hidden + 1))
        if left != self.left:
            self.left = left
            self.refresh()


def _halves(width: int) -> tuple[int, int]:
    """Return the cells of the two sides, with one between them."""
    left = (width - 1) // 2
    return left, max(0, width - 1 - left)
