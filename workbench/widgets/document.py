"""What a tab of the detail pane shows: lines, the places `n` stops at, and whether long lines are broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.plain import Inert, inert
from workbench.widgets.lines import EMPTY, NO_TEXT, Line, Span, plain_text, span, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LINE_LIMIT = 2_000
"""Characters of one line that are shown; the rest is in the written file."""
LINES_LIMIT = 5_000
"""Lines that are shown; what is left out is said."""


@dataclass(frozen=True, slots=True)
class Document:
    """Lines to read."""

    lines: tuple[Line, ...] = ()
    stops: tuple[int, ...] = ()
    """Numbers of lines where a hunk or a section starts."""
    note: Inert = NO_TEXT
    """Stands in the border: what this is."""
    wraps: bool = False
    text: str = field(default="", repr=False)
    """What `Y` copies: the content without gutters, as it was stored."""
    under: tuple[str, ...] = ()
    """For each line, the tone under it; empty for none at all."""
    hang: int = 0
    """Cells by which the rest of a broken line is moved in."""
    copies: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Makes what is copied, instead of `text`, where that takes a moment."""

    def copied(self) -> str:
        """Return what `Y` copies."""
        return self.copies() if self.copies else self.text

    def wrapped(self, width: int) -> tuple[tuple[Line, ...], tuple[int, ...]]:
        """Return the lines broken to a width, and where the stops are then."""
        if not self.wraps:
            return self.lines, self.stops
        lines: list[Line] = []
        starts: list[int] = []
        for line in self.lines:
            starts.append(len(lines))
            lines += wrap(line, width, self.hang)
        return tuple(lines), tuple(starts[stop] for stop in self.stops if stop < len(starts))


def text_lines(text: str, tone: str = "", limit: int = LINES_LIMIT) -> list[Line]:
    """Return foreign text as lines, inert, over-long lines and texts cut with a word about it."""
    rows = inert(text[: limit * LINE_LIMIT]).split("\n")
    lines: list[Line] = [_short(row, tone) for row in rows[:limit]]
    left = len(rows) - limit
    if left > 0:
        lines.append((span(f"… {left:,} more lines; E writes the whole file", "warn"),))
    return lines


def section(title: str, lines: Iterable[Line]) -> list[Line]:
    """Return lines under a heading of our own words."""
    return [(span(title, "head"),), *lines, EMPTY]


def document(
    lines: Iterable[Line], *, note: str = "", wraps: bool = False, text: str = ""
) -> Document:
    """Return a document whose stops are its headings."""
    found = tuple(lines)
    stops = tuple(i for i, line in enumerate(found) if line and line[0].tone == "head")
    return Document(found, stops, Inert(note), wraps, text or "\n".join(map(plain_text, found)))


def _short(row: str, tone: str) -> Line:
    if len(row) <= LINE_LIMIT:
        return (Span(Inert(row), tone),)
    more = f"… {len(row) - LINE_LIMIT:,} more characters"
    return (Span(Inert(row[:LINE_LIMIT]), tone), span(more, "warn"))
