"""A PIKE-O search without an engine: closed in the order opened, its fates drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from strategies import registry
from strategies.pike_o import PikeO
from strategies.protocol import Attempt, Candidate, Kind, Outcome, Proposal, Reason, Verdict, View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.settings import Value

ORIGINAL = Candidate("c0", "", "class Model: ...", 1.0)


def source(number: int) -> str:
    """Sources of many lengths and some variety of characters."""
    return f"class ModelNew: {number}\n" + "x = 1\n" * (number * 37 % 300) + "é" * (number % 3)


@dataclass
class Evolution:
    """Runs one search; what closes works in a known share of the cases."""

    strategy: PikeO
    queries: int = 300
    open: list[Proposal] = field(default_factory=list[Proposal])
    proposed: list[Proposal] = field(default_factory=list[Proposal])
    banned: frozenset[str] = frozenset()
    pinned: tuple[Candidate, ...] = ()
    weight: Mapping[str, float] = field(default_factory=dict[str, float])
    fates: Random = field(default_factory=lambda: Random(11))
    closed: int = 0

    def view(self) -> View:
        return View(
            queries_left=self.queries,
            places=self.strategy.settings.places,
            open=tuple(self.open),
            original=ORIGINAL,
            banned=self.banned,
            pinned=self.pinned,
            weight=self.weight,
        )

    def propose(self) -> list[Proposal]:
        made = self.strategy.propose(self.view())
        self.queries -= len(made)
        self.open += made
        self.proposed += made
        return made

    def land(self, outcome: Outcome) -> None:
        self.open.remove(outcome.proposal)
        self.strategy.absorb(outcome)

    def close(self, proposal: Proposal, runtime_ms: float | None = 0.5) -> Candidate | None:
        """Close one with an attempt, which works if it has a runtime."""
        self.closed += 1
        name = f"c{proposal.id}" if proposal.id.startswith("h") else f"c{self.closed}"
        made = Candidate(name, proposal.parent, source(self.closed), runtime_ms)
        works = runtime_ms is not None
        attempt = Attempt(made, 0, Verdict(Kind.CORRECT if works else Kind.WRONG))
        reason = Reason.WORKS if works else Reason.GAVE_UP
        self.land(Outcome(proposal, (attempt,), made if works else None, (), reason))
        return made if works else None

    def play(self, results: int, works: float = 0.7, fastest: float = 0.01) -> None:
        """Close so many, the oldest first; the first of all works."""
        for _ in range(results):
            self.propose()
            if self.open:
                lucky = self.fates.random() < works or (self.closed == 0 and works > 0)
                runtime_ms = fastest + self.fates.random()
                self.close(self.open[0], runtime_ms if lucky else None)
        self.propose()

    def migrations(self, results: int) -> list[int]:
        """Return after how many results the islands exchanged."""
        found: list[int] = []
        for result in range(1, results + 1):
            before = self.strategy.turns.migrated_at
            self.play(1)
            if self.strategy.turns.migrated_at != before:
                found.append(result)
        return found


def evolution(settings: Mapping[str, Value], seed: int = 7) -> Evolution:
    """Return a fresh search of the preset `pike-o`, changed by settings."""
    strategy = registry.create("pike-o", settings, seed)
    assert isinstance(strategy, PikeO)
    return Evolution(strategy, strategy.settings.queries)
