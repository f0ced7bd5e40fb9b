"""One table of a report: rows that a person reads, rows that a program reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench import format as fmt
from workbench.report_cells import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Raw = dict[str, Any]
MOST = 6
"""Names that a sentence tells; the tables hold all."""
NAME = 60
"""Characters of a foreign name in a cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows for people and rows for programs."""

    name: str
    title: str
    says: str
    """How to read it."""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    raw: tuple[Raw, ...]
    left: frozenset[str] = field(default_factory=frozenset[str])
    """Heads of columns of words; the others hold numbers."""


def table(
    title: str,
    words: str,
    says: str,
    head: Iterable[str],
    rows: Iterable[tuple[str, ...]],
    raw: Iterable[Raw],
    left: int,
) -> Table:
    """Return a table whose first `left` columns are words."""
    heads = tuple(head)
    return Table(title, words, says, heads, tuple(rows), tuple(raw), frozenset(heads[:left]))


def name(text: str) -> str:
    """Return a foreign name for a cell."""
    return short(text, NAME)


def cost(usd: float, unknown: int, estimated: float = 0.0) -> str:
    """Return dollars, with what is not known or an estimate about them."""
    told = f"at least {fmt.money(usd)}" if unknown else fmt.money(usd)
    return f"{told}, {fmt.money(estimated)} of it estimated" if estimated else told


def listed(told: Sequence[str], between: str = ", ") -> str:
    """Return the first few; the tables hold all."""
    more = f"{between}and {len(told) - MOST} more" if len(told) > MOST else ""
    return f"{between.join(told[:MOST])}{more}"
