"""The table of attempts, newest first; columns by width, the reason in what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.glyphs import UNICODE
from workbench.plain import inert_line
from workbench.widgets.attempt_rows import TONE_OF_VERDICT, AttemptRow
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from workbench.plain import Inert

LEFT = 23
"""Cells of glyph, id, parent and author."""
COLUMNS = (("speedup×", 9), ("class", 11), ("ms", 6), ("$", 6))
"""What follows, and its cells; from the right, what has no room is left out."""
WHY = 10
"""Fewer cells than this are not worth a column of reasons."""


def columns(width: int) -> int:
    """Return how many of the columns have room."""
    room, count = width - LEFT, 0
    for _, cells in COLUMNS:
        room -= cells
        count += int(room >= 0)
    return max(1, count)


class AttemptTable(RowList[AttemptRow]):
    """Attempts: glyph and id, parent, author, speedup, class, milliseconds, dollars, why."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.marked: list[str] = []
        """Attempts marked to be compared, in the order in which they were."""

    def mark(self) -> None:
        """Mark the attempt under the cursor, or unmark it."""
        if self.selected is None:
            return
        key = self.selected.key
        if key in self.marked:
            self.marked.remove(key)
        else:
            self.marked.append(key)
        self.forget_strips()
        self.refresh()

    def header(self, width: int) -> Line:
        """Return the names of the columns, units in them."""
        heads = (f"{'speedup×':>9}", f"  {'class':<9}", f"{'ms':>6}", f"{'$':>6}")
        left = f"   {'id':<6}{'parent':<7}{'by':<7}"
        reason = "  why" if self._room(width) >= WHY else ""
        return (span(left + "".join(heads[: columns(width)]) + reason),)

    @staticmethod
    def _room(width: int) -> int:
        """Return what is left for the reason."""
        return width - LEFT - sum(cells for _, cells in COLUMNS) - 2

    def line(self, row: AttemptRow, width: int) -> Line:
        """Return one attempt in `width` cells."""
        left: Line = (
            span("•" if row.key in self.marked else " ", "key"),
            Span(fit(f"{UNICODE.verdict(row.word) or ' '} ", 2), TONE_OF_VERDICT.get(row.word, "")),
            Span(fit(row.key, 6), "strong" if row.best else "dim" if row.banned else ""),
            Span(fit(row.parent, 7), "dim"),
            Span(fit(row.by, 7)),
        )
        if row.word == "running":
            return (*left, span("  "), Span(fit(row.why, width - LEFT), "busy"))
        return (*left, *self._numbers(row, width))

    def _numbers(self, row: AttemptRow, width: int) -> Line:
        speedup: Line = (
            span(" ★" if row.best else "  ", "best"),
            Span(fit(row.speedup, 6, right=True), _speedup_tone(row)),
            span("~" if row.unsure else " ", "dim"),
        )
        room = self._room(width)
        says = row.precision if room >= WHY else _standing(row) or row.precision
        rest: Line = (
            Span(fit(f" {says}", 11), "" if says == row.precision else "warn"),
            Span(fit(row.ms, 6, right=True)),
            Span(fit(row.cost, 6, right=True), "dim"),
        )
        reason = (span("  "), Span(fit(_reason(row), room), "dim")) if room >= WHY else ()
        return (*speedup, *rest[: columns(width) - 1], *reason)


def _speedup_tone(row: AttemptRow) -> str:
    if row.best:
        return "strong"
    if row.word == "suspect":
        return "warn"
    return "dim" if row.ratio is None or row.speedup == "≈1" else ""


def _standing(row: AttemptRow) -> str:
    """Return what a person made of an attempt; where there is no column of reasons, it stands in that of the class."""
    return "banned" if row.banned else "pinned" if row.pinned else ""


def _reason(row: AttemptRow) -> Inert:
    standing = _standing(row)
    text = row.change if row.word == "correct" and row.change else row.why
    return inert_line(f"{standing} · {text}" if standing else text)
