"""What a tab of the detail pane shows: lines, the places `n` stops at, and whether long lines are broken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.plain import Inert, inert
from workbench.widgets.lines import EMPTY, NO_TEXT, Line, Span, plain_text, span, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LINE_LIMIT = 2_000
"""Characters of one line that are shown; the rest is in the written file."""
LINES_LIMIT = 5_000
"""Lines that are shown; what is left out is said, and a pager shows it."""


class Half(NamedTuple):
    """One side of a line that shows two sources beside each other."""

    gutter: Line
    """Stays where it is when the text is scrolled to the side."""
    text: Line
    under: str = ""
    """The tone under it."""


class Pair(NamedTuple):
    """A line that shows two sources beside each other; None where one has no such line."""

    old: Half | None
    new: Half | None


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
    pages: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Makes what a pager shows, where that is more than what is copied."""
    pairs: Mapping[int, Pair] = field(default_factory=dict[int, Pair], repr=False, compare=False)
    """The lines painted with two sides, by their number; `lines` then holds what is searched in them."""
    beside: Callable[[], Document] | None = field(default=None, repr=False, compare=False)
    """Makes the same document with two sides beside each other, for a view with room for that."""

    def copied(self) -> str:
        """Return what `Y` copies."""
        return self.copies() if self.copies else self.text

    def paged(self) -> str:
        """Return all of it, however long, for a pager."""
        return self.pages() if self.pages else self.copied()

    def with_beside(self, beside: Callable[[], Document]) -> Document:
        """Return this document, which can be laid out with two sides as well."""
        return replace(self, beside=beside)

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


def left_out(count: int) -> Line:
    """Return what stands at the end of a text that is too long to be shown whole."""
    return (span(f"… {count:,} more lines; L opens all of it in $PAGER", "warn"),)


def text_lines(text: str, tone: str = "", limit: int = LINES_LIMIT) -> list[Line]:
    """Return foreign text as lines, inert, over-long lines and texts cut with a word about it."""
    rows = inert(text).split("\n")
    lines: list[Line] = [_short(row, tone) for row in rows[:limit]]
    return [*lines, left_out(len(rows) - limit)] if len(rows) > limit else lines


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
