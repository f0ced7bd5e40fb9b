"""PIKE-O's library: entries on islands, a grid, an archive, a population that loses its worst.

An entry is a candidate on an island. A copy is an entry, not a candidate: migration and empty islands make them.
The banned stay entries, yet count nowhere: `alive` is what every rule sees.

```
add:  grid ─▶ island ─▶ archive ─▶ population
```
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from strategies.pike_o_grid import Cell, Grid, Measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.pike_o_settings import PikeOSettings
    from strategies.protocol import JsonMap


@dataclass(slots=True)
class Entry:
    """A candidate on an island."""

    number: int
    """Its age: older ones have lower numbers."""
    candidate: str
    runtime_ms: float | None
    """None: score 0."""
    island: int
    cell: Cell | None
    """Fixed when the candidate was added; None where that is no longer known."""
    migrant: bool = False
    """Copied by a migration: it never migrates again."""
    owner: bool = False
    """Holds its cell of the grid."""
    seated: bool = False
    """Holds a seat of the archive."""


def fastest(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries by score, best first; ties go to the older."""
    return sorted(entries, key=_rank)


@dataclass(slots=True)
class Library:
    """All entries, and the rules by which they come and go."""

    settings: PikeOSettings
    grid: Grid
    entries: list[Entry] = field(default_factory=list[Entry])
    """By age."""
    next_number: int = 1
    homes: dict[str, int] = field(default_factory=dict[str, int])
    """Candidate to the island it was added to, kept when it leaves."""
    banned: frozenset[str] = frozenset()
    """Of the moment: no part of the saved state."""

    @property
    def alive(self) -> list[Entry]:
        """All entries that are not banned, by age."""
        return [entry for entry in self.entries if entry.candidate not in self.banned]

    def on(self, island: int) -> list[Entry]:
        """Return an island's entries, by age."""
        return [entry for entry in self.alive if entry.island == island]

    def archive(self) -> list[Entry]:
        """Return who holds a seat, by age."""
        return [entry for entry in self.alive if entry.seated]

    def smallest(self) -> int:
        """Return the island with the fewest entries; the first of them."""
        return min(range(self.settings.islands), key=lambda island: len(self.on(island)))

    def add(
        self, candidate: str, runtime_ms: float | None, island: int, measure: Measure, *, seat: bool
    ) -> None:
        """Take a candidate in, by the rules; `seat`: it may enter the archive."""
        before = fastest(self.alive)[:1]
        entry = self._new(candidate, runtime_ms, island, self.grid.place(measure))
        self.homes.setdefault(candidate, island)
        if candidate not in self.banned:
            self._take_cell(entry, seat=seat)
            self.entries.append(entry)
            if seat:
                self._take_seat(entry)
        else:
            self.entries.append(entry)
        self.shrink([entry, *before])

    def settle_in(self, island: int) -> None:
        """Copy the best entry there is to an empty island; of an empty library nothing."""
        for best in fastest(self.alive)[:1]:
            self._copy(best, island, migrant=False)
            self.shrink([best, self.entries[-1]])

    def migrate(self) -> None:
        """Copy the top of each island to both neighbours in the ring; migrants stay where they are."""
        for island in range(self.settings.islands):
            line = fastest(self.on(island))
            count = max(1, math.floor(len(line) * self.settings.migration_rate))
            for entry in line[:count]:
                if not entry.migrant:
                    self._send(entry)
        self.shrink(fastest(self.alive)[:1])

    def shrink(self, kept: Iterable[Entry] = ()) -> None:
        """Let the worst leave, from the archive and from the population, until both have their size."""
        archive = fastest(self.archive())
        for entry in archive[self.settings.archive :]:
            entry.seated = False
        stay = {entry.number for entry in kept}
        line = [entry for entry in fastest(self.alive) if entry.number not in stay]
        excess = max(0, len(self.alive) - self.settings.population)
        gone = {entry.number for entry in line[max(0, len(line) - excess) :]}
        self.entries = [entry for entry in self.entries if entry.number not in gone]

    def dump(self) -> dict[str, Any]:
        """Return all but the bans as JSON."""
        return {
            "entries": [asdict(entry) for entry in self.entries],
            "next_number": self.next_number,
            "homes": dict(self.homes),
            "grid": self.grid.dump(),
        }

    @classmethod
    def loaded(cls, settings: PikeOSettings, state: JsonMap) -> Library:
        """Return the library that `dump` gave; KeyError or TypeError where it is damaged."""
        entries = [_entry(entry) for entry in state["entries"]]
        grid = Grid.loaded(state["grid"])
        return cls(settings, grid, entries, state["next_number"], dict(state["homes"]))

    def _new(
        self,
        candidate: str,
        runtime_ms: float | None,
        island: int,
        cell: Cell | None,
        *,
        migrant: bool = False,
    ) -> Entry:
        entry = Entry(self.next_number, candidate, runtime_ms, island, cell, migrant)
        self.next_number += 1
        return entry

    def _take_cell(self, entry: Entry, *, seat: bool) -> None:
        """Take an empty cell; or beat its owner, and take its seat in the archive too."""
        owner = next((e for e in self.alive if e.owner and e.cell == entry.cell), None)
        if owner is None:
            for (
                former
            ) in self.entries:  # a banned one, which does not come back to a cell that was taken
                former.owner = former.owner and former.cell != entry.cell
            entry.owner = True
        elif _score(entry) > _score(owner):
            entry.owner, owner.owner = True, False
            if owner.seated and seat:
                entry.seated, owner.seated = True, False

    def _take_seat(self, entry: Entry) -> None:
        """Take a free seat of the archive, or that of its worst if that is worse."""
        others = [e for e in self.archive() if e is not entry]
        if entry.seated:
            return
        if len(others) < self.settings.archive:
            entry.seated = True
        elif _score(entry) > _score(worst := fastest(others)[-1]):
            entry.seated, worst.seated = True, False

    def _send(self, entry: Entry) -> None:
        """Copy an entry to both neighbours, unless it is there already."""
        islands = self.settings.islands
        for to in dict.fromkeys([(entry.island + 1) % islands, (entry.island - 1) % islands]):
            if all(other.candidate != entry.candidate for other in self.on(to)):
                self._copy(entry, to, migrant=True)

    def _copy(self, entry: Entry, island: int, *, migrant: bool) -> None:
        copy = self._new(entry.candidate, entry.runtime_ms, island, entry.cell, migrant=migrant)
        self.entries.append(copy)


def _score(entry: Entry) -> float:
    return 1 / entry.runtime_ms if entry.runtime_ms else 0.0


def _rank(entry: Entry) -> tuple[float, int]:
    return (-_score(entry), entry.number)


def _entry(dumped: JsonMap) -> Entry:
    """Return an entry; JSON has no tuples."""
    entry = Entry(**dumped)
    column, row = dumped["cell"]
    entry.cell = (column, row)
    return entry
