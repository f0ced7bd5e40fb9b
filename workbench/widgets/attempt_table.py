"""The table of attempts, newest first; columns by width, the reason in what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.glyphs import UNICODE
from workbench.widgets.attempt_rows import TONE_OF_VERDICT, AttemptRow
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from workbench.plain import Inert

LEFT = 26
"""Cells of glyph, id, parent and author."""
NUMBERS = 34
"""Cells of speedup, class, runtime and money."""
WHY = 8
"""Fewer cells than this are not worth a column of reasons."""


class AttemptTable(RowList[AttemptRow]):
    """Attempts: glyph and id, parent, author, speedup, class, milliseconds, dollars, why."""

    def header(self, width: int) -> Line:
        """Return the names of the columns, units in them."""
        numbers = (
            f"{'speedup×':>9}  {'class':<9} {'ms':>6} {'$':>6}"
            if width >= LEFT + NUMBERS - 8
            else f"{'speedup×':>9}"
        )
        left = f"   {'id':<6}{'parent':<8}{'by':<8}"
        reason = "  why" if width - LEFT - NUMBERS >= WHY else ""
        return (span(left + numbers + reason),)

    def line(self, row: AttemptRow, width: int) -> Line:
        """Return one attempt in `width` cells."""
        left: Line = (
            Span(
                fit(f" {UNICODE.verdict(row.word) or ' '} ", 3), TONE_OF_VERDICT.get(row.word, "")
            ),
            Span(fit(row.key, 6), "strong" if row.best else "dim" if row.banned else ""),
            Span(fit(row.parent, 8), "dim"),
            Span(fit(row.by, 8)),
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
        room = width - LEFT
        if room < NUMBERS - 8:
            return speedup
        rest: Line = (
            Span(fit(f" {row.precision}", 11)),
            Span(fit(row.ms, 6, right=True)),
            Span(fit(row.cost, 7, right=True), "dim"),
        )
        room -= NUMBERS
        reason = (span("  "), Span(fit(_reason(row), room - 1), "dim")) if room >= WHY else ()
        return (*speedup, *rest, *reason)


def _speedup_tone(row: AttemptRow) -> str:
    if row.best:
        return "strong"
    if row.word == "suspect":
        return "warn"
    return "dim" if row.ratio is None or row.speedup == "≈1" else ""


def _reason(row: AttemptRow) -> Inert:
    banned = "banned · " if row.banned else ""
    text = row.why or row.change
    return type(row.why)(banned + text) if banned else text
