"""Who of those that wait is served next: users in turn, of a user its sessions in turn, of a session the oldest.

```
lane (a device) ── user (a token) ── session (a search) ── jobs, oldest first
                    └ fewest under way, then whoever was served, or came, longest ago
```
So a caller with one job never waits for all the jobs of another: while it has none under way, each of the others is
served at most once before it. No lane keeps room free that somebody may use.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Ticket:
    """One who waits, or is served."""

    name: str
    lane: str
    user: str
    session: str
    most: int
    """How many of this session may be served at once, over all lanes."""

    @property
    def groups(self) -> tuple[_Group, _Group]:
        """Whom it is counted with: its user, and its session, in its lane."""
        return (self.lane, self.user), (self.lane, self.user, self.session)


_Group = tuple[str, ...]


@dataclass(slots=True)
class Turns:
    """The lines of all lanes. Knows no time: what happens first is served first."""

    room: Callable[[str], int]
    """How many of a lane may be served at once; asked anew each time."""
    _waiting: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    """By name, oldest first."""
    _served: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    _since: dict[_Group, int] = field(default_factory=dict[_Group, int])
    """When a group was last served, else when it came."""
    _ticks: Iterator[int] = field(default_factory=itertools.count)

    def join(self, ticket: Ticket) -> None:
        """Stand in line."""
        self._waiting[ticket.name] = ticket
        for group in ticket.groups:
            self._since.setdefault(group, next(self._ticks))

    def leave(self, name: str) -> None:
        """Give back what was held, or leave the line; nothing happens if neither is so."""
        gone = self._served.pop(name, None) or self._waiting.pop(name, None)
        if gone is not None:
            present = {g for t in self._all() for g in t.groups}
            for group in set(gone.groups) - present:
                del self._since[group]

    def waiting(self, user: str, session: str | None = None) -> int:
        """Return how many of a user's, or of one session of it, wait."""
        return sum(_is_of(ticket, user, session) for ticket in self._waiting.values())

    def serve(self) -> list[str]:
        """Serve all for whom there is room; return their names, in order."""
        names: list[str] = []
        while (ticket := self._next()) is not None:
            self._served[ticket.name] = self._waiting.pop(ticket.name)
            for group in ticket.groups:
                self._since[group] = next(self._ticks)
            names.append(ticket.name)
        return names

    def _next(self) -> Ticket | None:
        rooms: dict[str, bool] = {}
        may: list[Ticket] = []
        for ticket in self._waiting.values():
            if ticket.lane not in rooms:
                taken = sum(held.lane == ticket.lane for held in self._served.values())
                rooms[ticket.lane] = taken < max(1, self.room(ticket.lane))
            if rooms[ticket.lane] and self._under_way(ticket) < ticket.most:
                may.append(ticket)
        return min(may, key=self._rank, default=None)

    def _under_way(self, ticket: Ticket) -> int:
        return sum(_is_of(held, ticket.user, ticket.session) for held in self._served.values())

    def _rank(self, ticket: Ticket) -> tuple[int, ...]:
        """Order by the user first, then by the session; of equals the oldest stands first in line."""
        ranks = ((self._count(group), self._since[group]) for group in ticket.groups)
        return tuple(itertools.chain.from_iterable(ranks))

    def _count(self, group: _Group) -> int:
        return sum(group in held.groups for held in self._served.values())

    def _all(self) -> Iterator[Ticket]:
        return itertools.chain(self._waiting.values(), self._served.values())


def _is_of(ticket: Ticket, user: str, session: str | None) -> bool:
    return ticket.user == user and session in (None, ticket.session)
