"""The orders in which attempts can be listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.widgets.attempt_rows import AttemptRow


@dataclass(frozen=True, slots=True)
class Order:
    """One order."""

    words: str
    """What the first row is, as the border says it."""
    reversed_words: str
    value: Callable[[AttemptRow], float | None]
    """What is compared, the greatest first; None goes last either way."""


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _speed(row: AttemptRow) -> float | None:
    """A suspect number stands below every number that is believed."""
    if row.ratio is None:
        return None
    return row.ratio - 1e9 if row.word == "suspect" else row.ratio


def _slowness(row: AttemptRow) -> float | None:
    runtime = _number(row.ms)
    return None if runtime is None else -runtime


ORDERS = (
    Order("newest first", "oldest first", lambda _: None),
    Order("fastest first", "slowest first", _speed),
    Order("shortest runtime first", "longest runtime first", _slowness),
    Order("dearest first", "cheapest first", lambda row: _number(row.cost)),
)


@dataclass(frozen=True, slots=True)
class Sorting:
    """An order, and whether it is the other way round."""

    at: int = 0
    reverse: bool = False

    @property
    def words(self) -> str:
        """What the border says."""
        order = ORDERS[self.at]
        return order.reversed_words if self.reverse else order.words

    @property
    def newest_first(self) -> bool:
        """Whether it is the order in which attempts come."""
        return self.at == 0 and not self.reverse

    def next(self) -> Sorting:
        """Return the next order."""
        return Sorting((self.at + 1) % len(ORDERS))

    def turned(self) -> Sorting:
        """Return the same order the other way round."""
        return Sorting(self.at, not self.reverse)

    def sort(self, rows: Sequence[AttemptRow]) -> Sequence[AttemptRow]:
        """Return rows, which come newest first, in this order."""
        if self.at == 0:
            return rows[::-1] if self.reverse else rows
        value = ORDERS[self.at].value
        known = [row for row in rows if value(row) is not None]
        known.sort(key=lambda row: value(row) or 0.0, reverse=not self.reverse)
        return [*known, *(row for row in rows if value(row) is None)]
