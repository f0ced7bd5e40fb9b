"""A made-up search that can go on: its journal up to now, and its engine's writing from there.

`python -m bench.facts_writer FOLDER ATTEMPTS FACTS_PER_SECOND` records what follows, fact by fact through the real
journal, and the live row once a second (with 0 facts a second: the live row alone), until it is killed.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.fold import fold
from sessions.journal import Journal
from sessions.summary import summarise
from tests.tui import journals

if TYPE_CHECKING:
    from collections.abc import Iterator

MORE = 1_000
"""Attempts that are there to be written."""
TOGETHER = 20
"""Steps recorded in one transaction while the session is built, which spares most waits for the disk."""
Step = tuple[float, list[f.Body], list[str]]


@dataclass(frozen=True, slots=True)
class Cut:
    """A search, cut between two trajectories."""

    before: list[Step]
    after: list[Step]
    attempts: list[str]
    """Those before the cut, oldest first."""
    queries: int

    def live(self) -> dict[str, object]:
        """Return the row of what goes on at the cut."""
        script = journals.Script(at=time.time())
        script.queries = self.queries
        return journals.live_row(script)


def cut(attempts: int) -> Cut:
    """Return a search of so many attempts, and a thousand more that follow."""
    steps = journals.script(attempts + MORE, hostile=False).steps
    made: list[str] = []
    for place, (_, bodies, _) in enumerate(steps):
        if len(made) >= attempts and bodies[0].KIND == "proposed":
            asked = sum(1 for step in steps[:place] if step[1][0].KIND == "query_sent")
            return Cut(steps[:place], steps[place:], made, asked)
        made += [body.candidate for body in bodies if isinstance(body, f.AttemptMade)]
    raise ValueError(f"{attempts} attempts are more than there are")


async def build(folder: Path, search: Cut) -> None:
    """Write the journal of a session up to the cut, its last fact a moment ago."""
    journal = await Journal.open(folder / "journal.db", wal=True)
    shift = time.time() - search.before[-1][0]
    try:
        for place in range(0, len(search.before), TOGETHER):
            steps = search.before[place : place + TOGETHER]
            bodies = [body for _, several, _ in steps for body in several]
            texts = [text for _, _, several in steps for text in several]
            await journal.record(steps[-1][0] + shift, bodies, texts=texts)
        # Nobody is at work: the seconds of an agent's work would be counted on the screen.
        await journal.live(time.time(), search.live() | {"agents": [], "evaluations": []})
        await journal.summarise(summarise(fold(await journal.facts())))
        await journal.checkpoint()
    finally:
        await journal.close()


def _one_by_one(steps: list[Step]) -> Iterator[tuple[f.Body, list[str]]]:
    for _, bodies, texts in steps:
        for number, body in enumerate(bodies):
            yield body, [] if number else texts


async def go_on(folder: Path, search: Cut, rate: float) -> None:
    """Write until killed: `rate` facts a second, the live row once a second."""
    facts = _one_by_one(search.after)
    journal = await Journal.open(folder / "journal.db", wal=True)
    row, pause = search.live(), 1 / rate if rate else 1.0
    for number in itertools.count():
        if rate:
            body, texts = next(facts)
            await journal.record(time.time(), [body], texts=texts)
        if number % max(1, int(rate)) == 0:
            await journal.live(time.time(), row | {"heartbeat": time.time()})
        await asyncio.sleep(pause)


if __name__ == "__main__":
    asyncio.run(go_on(Path(sys.argv[1]), cut(int(sys.argv[2])), float(sys.argv[3])))
