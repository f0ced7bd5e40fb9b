"""What one PIKE-O proposal starts from: its parent, and what a cross prompt shows beside it.

```
u ─▶ explore: the island │ exploit: its seats in the archive, else all seats │ random: everything
```
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from strategies.pike_o_library import Entry, fastest
from strategies.selection import drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.pike_o_grid import Cell
    from strategies.pike_o_library import Library
    from strategies.protocol import View

TRIES = 3
"""Looks at neighbouring cells, per free seat among the inspirations."""
REACH = 2
"""How far a neighbouring cell lies at most, in each direction."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """The draws of one proposal."""

    library: Library
    view: View
    draw: Callable[[], float]
    """Uniform, at least 0 and below 1; the proposal's own."""

    def parent(self, slot: int) -> tuple[str, Entry]:
        """Return how the parent of a proposal of island `slot` was drawn, and the parent."""
        settings, u = self.library.settings, self.draw()
        if u < settings.explore:
            return "explore", self._explore(slot)
        if u < settings.explore + settings.exploit:
            return "exploit", self._exploit(slot)
        return "random", self._pick(self.library.alive or [self._original(slot)])

    def shown(self, parent: Entry) -> tuple[str, ...]:
        """Return the elites and the inspirations, each once.

        Neither the parent nor the original is among them: a prompt shows both anyway.
        """
        elites = fastest(self.library.on(parent.island))[: self.library.settings.elites]
        line = [*(entry.candidate for entry in elites), *self._inspirations(parent)]
        hidden = (parent.candidate, self.view.original.id)
        return tuple(name for name in dict.fromkeys(line) if name not in hidden)

    def _explore(self, slot: int) -> Entry:
        if not self.library.on(slot):
            self.library.settle_in(slot)
        return self._pick(self.library.on(slot) or [self._original(slot)])

    def _exploit(self, slot: int) -> Entry:
        seated = self.library.archive()
        pool = [entry for entry in seated if entry.island == slot] or seated
        pool = [*pool, *self._pinned({entry.candidate for entry in pool}, slot)]
        return self._pick(pool) if pool else self._explore(slot)

    def _pinned(self, known: set[str], slot: int) -> list[Entry]:
        """Return the pinned that a pool lacks; one that left the library is a child of its old island."""
        found: list[Entry] = []
        for pinned in self.view.pinned:
            if pinned.id not in known | self.view.banned:
                entries = [e for e in self.library.alive if e.candidate == pinned.id]
                home = self.library.homes.get(pinned.id, slot)
                found += entries[:1] or [Entry(0, pinned.id, pinned.runtime_ms, home, None)]
        return found

    def _original(self, slot: int) -> Entry:
        """Return the original, where all else is banned."""
        return Entry(0, self.view.original.id, self.view.original.runtime_ms, slot, None)

    def _inspirations(self, parent: Entry) -> list[str]:
        settings = self.library.settings
        line, seats = fastest(self.library.on(parent.island)), settings.inspirations
        firsts = max(1, math.floor(seats * settings.elite_ratio)) if seats else 0
        found = [e.candidate for e in line[:firsts] if e.candidate != parent.candidate]
        if len(line) > seats:
            found += self._neighbours(parent, line, found)
            found += self._others(parent, line, found)
        return found[:seats]

    def _neighbours(self, parent: Entry, line: Sequence[Entry], found: list[str]) -> list[str]:
        """Return entries of cells near the parent's; the fastest of each cell."""
        if parent.cell is None:
            return []
        free = self.library.settings.inspirations - len(found)
        cells = {entry.cell: entry.candidate for entry in reversed(line)}
        near: list[str] = []
        for _ in range(TRIES * free):
            name = cells.get(self._near(parent.cell))
            if len(near) < free and name not in (None, parent.candidate, *found, *near):
                near.append(name)
        return near

    def _others(self, parent: Entry, line: Sequence[Entry], found: list[str]) -> list[str]:
        """Return entries of the island at random, as many as there are free seats."""
        taken = {parent.candidate, *found}
        rest = list(dict.fromkeys(e.candidate for e in line if e.candidate not in taken))
        others: list[str] = []
        while rest and len(found) + len(others) < self.library.settings.inspirations:
            others.append(self._draw(rest, rest))
            rest.remove(others[-1])
        return others

    def _near(self, cell: Cell) -> Cell:
        """Return a cell near another, drawn; never off the grid."""
        last = self.library.settings.grid - 1
        column, row = (at + math.floor(self.draw() * (2 * REACH + 1)) - REACH for at in cell)
        return max(0, min(last, column)), max(0, min(last, row))

    def _pick(self, entries: Sequence[Entry]) -> Entry:
        return self._draw(entries, [entry.candidate for entry in entries])

    def _draw(self, pool: Sequence[T], names: Sequence[str]) -> T:
        """Return one of a pool; `names`: the candidate of each, whose boost is its weight."""
        return drawn(pool, [self.view.weight.get(name, 1.0) for name in names], self.draw())
