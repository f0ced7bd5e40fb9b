"""The Code tab: the candidate's source with line numbers."""

from __future__ import annotations

from workbench.plain import Inert
from workbench.widgets.document import Document
from workbench.widgets.lines import span
from workbench.widgets.syntax import source_lines


def code_document(source: str) -> Document:
    """Return a source as a document; `n` stops at its classes and functions."""
    lines = source_lines(source)
    width = len(str(len(lines)))
    starts = ("class ", "def ", "__global__", "@triton")
    stops = tuple(
        i
        for i, row in enumerate(source.split("\n")[: len(lines)])
        if row.lstrip().startswith(starts)
    )
    numbered = tuple((span(f"{n:>{width}}  ", "gutter"), *line) for n, line in enumerate(lines, 1))
    return Document(numbered, stops, Inert(f"{len(lines):,} lines"), text=source)
