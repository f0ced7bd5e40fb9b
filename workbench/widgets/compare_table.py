"""Columns beside each other with a name for each row: attempts, or sessions, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.format import NONE
from workbench.plain import Inert, inert_line
from workbench.widgets.lines import Line, Span, fit, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABEL = 18
WIDEST, NARROWEST = 28, 17
"""Cells of a column; in fewer an interval would be cut."""


def fitting(width: int, count: int) -> tuple[int, int]:
    """Return how many of `count` columns fit, and how wide each is."""
    room = max(NARROWEST, width - LABEL)
    shown = max(1, min(count, room // NARROWEST))
    return shown, min(WIDEST, room // shown)


def table_lines(
    heads: Sequence[tuple[str, str]],
    rows: Sequence[str],
    columns: Sequence[Mapping[str, str]],
    width: int,
) -> list[Line]:
    """Return the table in `width` cells; columns without room are left out from the right.

    Args:
        heads: for each column its name and tone.
        rows: the names of the rows, in order.
        columns: for each column its cells by row.
        width: in cells.
    """
    shown, cells = fitting(width, len(heads))
    first: Line = (
        span(" " * LABEL),
        *(Span(_cell(name, cells), tone) for name, tone in heads[:shown]),
    )
    body: list[Line] = [
        (
            Span(fit(inert_line(name), LABEL), "dim"),
            *(_value(column.get(name, ""), cells) for column in columns[:shown]),
        )
        for name in rows
    ]
    return [first, *body]


def _value(text: str, cells: int) -> Span:
    return Span(_cell(text, cells), "dim" if text in ("", NONE) else "")


def _cell(text: str, cells: int) -> Inert:
    return Inert(f"{fit(inert_line(text), cells - 1)} ")
