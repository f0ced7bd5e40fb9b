"""Places shared by the searches of a machine: no search starves, and no place is idle while one waits."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.machine_places import MachinePlaces

EXAMPLES = 25
"""Each writes a file."""
POOL = "evaluations on cpu"
ROUNDS = 30
LOOKS = 2_000
"""Of the event loop, after which a place that somebody waits for is idle for good."""


async def at_once(_seconds: float) -> None:
    """Let time pass without any."""
    await asyncio.sleep(0)


@dataclass
class Search:
    """One that asks for no more places than there are, as a search's own line lets it."""

    name: str
    shared: MachinePlaces
    asks: set[asyncio.Task[int]] = field(default_factory=set[asyncio.Task[int]])
    passed: Counter[str] = field(default_factory=Counter[str])
    """How often each other was served while this one waited and held nothing."""

    def ask(self, places: int) -> None:
        if sum(1 for row in self.shared.rows(POOL) if row[1] == self.name) < places:
            self.asks.add(asyncio.ensure_future(self.shared.take(POOL, places)))


@dataclass
class Played:
    """Searches of one machine, and what an onlooker sees of their places."""

    places: int
    searches: dict[str, Search]

    def rows(self) -> list[tuple[int, str, bool]]:
        return next(iter(self.searches.values())).shared.rows(POOL)

    def held(self) -> Counter[str]:
        return Counter(name for _, name, taken in self.rows() if taken)

    async def settle(self) -> None:
        """Let everybody stand in line, and places be given until none is free, or nobody waits."""
        for look in range(LOOKS):
            await asyncio.sleep(0)
            held, waiting = self.held().total(), sum(not row[2] for row in self.rows())
            assert held <= self.places
            if look > len(self.rows()) and (held == self.places or not waiting):
                return
        raise AssertionError("a place is idle while a search waits")

    async def free(self, which: int) -> None:
        """Give one place back, and see who gets it."""
        taken = [row for row in self.rows() if row[2]]
        if not taken:
            return
        ticket, name, _ = taken[which % len(taken)]
        before = {row[0] for row in taken}
        self.searches[name].shared.free(ticket)
        held = self.held()
        poor = {row[1] for row in self.rows() if not row[2] and not held[row[1]]}
        await self.settle()
        for _, served, _ in (row for row in self.rows() if row[2] and row[0] not in before):
            self._served(served, poor)

    def _served(self, served: str, poor: set[str]) -> None:
        assert not poor or served in poor, f"{served} before {poor}, who hold nothing"
        self.searches[served].passed.clear()
        for name in poor - {served}:
            self.searches[name].passed[served] += 1
            assert self.searches[name].passed[served] <= self.places, f"{name} starves"


async def play(folder: Path, seed: int, places: int, names: list[str]) -> None:
    random = Random(seed)
    searches = {n: Search(n, MachinePlaces(folder, n, sleep=at_once)) for n in names}
    played = Played(places, searches)
    try:
        for _ in range(ROUNDS):
            for search in searches.values():
                if random.random() < 0.8:
                    search.ask(places)
                    await asyncio.sleep(0)
            await played.settle()
            await played.free(random.randrange(places))
    finally:
        asks = [ask for search in searches.values() for ask in search.asks]
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        for search in searches.values():
            search.shared.close()


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 3))
def test_no_search_starves_and_no_place_is_idle_while_one_waits(
    seed: int, places: int, count: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), seed, places, [f"s{n}" for n in range(count)]))
