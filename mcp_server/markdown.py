"""Tables of kept pages: cells in which foreign text is inert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.clean import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


def cell(text: str) -> str:
    """Return a text fit to stand in a cell: one line, no bar of its own, nothing that a terminal obeys."""
    return printable(text).replace("|", "\\|").replace("\n", " ")


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cell(one) for one in cells)} |"


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table without a line end behind it."""
    return "\n".join(row(cells) for cells in (head, ["---"] * len(head), *body))
