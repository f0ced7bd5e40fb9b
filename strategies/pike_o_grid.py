"""Where a source stands in PIKE-O's grid: code length × diversity, scaled over all values seen.

A source itself is not kept: its measure is enough, and keeps a saved state small.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strategies.protocol import JsonMap

REFERENCES = 20
"""Diversity is measured against that many sources, the first ones added."""

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Measure:
    """What the grid needs to know of a source."""

    length: int
    """Characters."""
    lines: int
    characters: str
    """Each that occurs, once, sorted."""


def measured(source: str) -> Measure:
    """Return a source's measure."""
    return Measure(len(source), source.count("\n"), "".join(sorted(set(source))))


def difference(one: Measure, other: Measure) -> float:
    """Return how much two sources differ: length, lines, and which characters occur."""
    characters = len(set(one.characters) ^ set(other.characters))
    lines = abs(one.lines - other.lines)
    return 0.1 * abs(one.length - other.length) + 10.0 * lines + 0.5 * characters


@dataclass(slots=True)
class Span:
    """The range of all values of one feature."""

    low: float | None = None
    high: float | None = None

    def add(self, value: float) -> None:
        """Widen the range."""
        self.low = value if self.low is None else min(self.low, value)
        self.high = value if self.high is None else max(self.high, value)

    def scaled(self, value: float) -> float:
        """Return where a value stands, from 0 to 1; the middle while all are the same."""
        if self.low is None or self.high is None or self.low == self.high:
            return 0.5
        return (value - self.low) / (self.high - self.low)


@dataclass(slots=True)
class Grid:
    """Gives every source its cell, for good."""

    size: int
    """Cells of each side."""
    length: Span = field(default_factory=Span)
    diversity: Span = field(default_factory=Span)
    references: list[Measure] = field(default_factory=list[Measure])

    def place(self, measure: Measure) -> Cell:
        """Return the cell of a source, which is added to the values and, early on, to the references."""
        length = float(measure.length)
        self.length.add(length)
        column = self._cell(self.length, length)
        row = self._row(measure)
        if len(self.references) < REFERENCES:
            self.references.append(measure)
        return column, row

    def dump(self) -> dict[str, Any]:
        """Return ranges and references as JSON."""
        return asdict(self)

    @classmethod
    def loaded(cls, state: JsonMap) -> Grid:
        """Return the grid that `dump` gave; KeyError or TypeError where it is damaged."""
        references = [Measure(**measure) for measure in state["references"]]
        return cls(state["size"], Span(**state["length"]), Span(**state["diversity"]), references)

    def _row(self, measure: Measure) -> int:
        if not self.references:
            return 0
        differences = [difference(measure, other) for other in self.references]
        diversity = sum(differences) / len(differences)
        self.diversity.add(diversity)
        return self._cell(self.diversity, diversity)

    def _cell(self, span: Span, value: float) -> int:
        return min(self.size - 1, int(span.scaled(value) * self.size))
