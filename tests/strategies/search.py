"""A search without an engine: views made, proposals closed, all by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strategies.pike_b import PikeB, PikeBSettings
from strategies.protocol import Candidate, Outcome, Proposal, Reason, Role, View

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGINAL = Candidate("c0", "", "class Model: ...", None)


def made(candidate_id: str, runtime_ms: float | None, parent: str = "c0") -> Candidate:
    return Candidate(candidate_id, parent, "class ModelNew: ...", runtime_ms)


def closed(proposal: Proposal, works: Candidate | None = None, *ideas: str) -> Outcome:
    reason = Reason.WORKS if works or ideas else Reason.GAVE_UP
    return Outcome(proposal, (), works, ideas, reason)


def pike_b(**settings: int | str | bool) -> PikeB:
    return PikeB(PikeBSettings(**settings), seed=7)  # type: ignore[arg-type]


@dataclass
class Search:
    """Runs one strategy: every proposal opens at once and stays open until closed here."""

    strategy: PikeB
    queries_left: int = 300
    banned: frozenset[str] = frozenset()
    pinned: tuple[Candidate, ...] = ()
    weight: Mapping[str, float] = field(default_factory=dict[str, float])
    open: list[Proposal] = field(default_factory=list[Proposal])

    def view(self) -> View:
        return View(
            queries_left=self.queries_left,
            places=10,
            open=tuple(self.open),
            original=ORIGINAL,
            banned=self.banned,
            pinned=self.pinned,
            weight=self.weight,
        )

    def propose(self) -> list[Proposal]:
        proposals = self.strategy.propose(self.view())
        self.open += proposals
        self.queries_left -= len(proposals)
        return proposals

    def close(
        self, proposal: Proposal, runtime_ms: float | None = None, *ideas: str
    ) -> Candidate | None:
        self.open.remove(proposal)
        works = None if runtime_ms is None else made(f"c{proposal.id[1:]}", runtime_ms)
        self.strategy.absorb(closed(proposal, works, *ideas))
        return works

    def close_all(self, *runtimes_ms: float) -> None:
        """Close what is open in order; the first ones work, with these runtimes."""
        for i, proposal in enumerate(list(self.open)):
            self.close(proposal, runtimes_ms[i] if i < len(runtimes_ms) else None)


def started(**settings: int | str | bool) -> Search:
    """A search whose phase 0 is open: ten starts without ideas."""
    search = Search(pike_b(ideas=0, **settings))
    assert {p.role for p in search.propose()} == {Role.START}
    return search


def shares(proposals: list[Proposal]) -> list[tuple[str, int]]:
    """Each parent in order of first appearance, with its number of proposals."""
    counts: dict[str, int] = {}
    for proposal in proposals:
        counts[proposal.parent] = counts.get(proposal.parent, 0) + 1
    return list(counts.items())
