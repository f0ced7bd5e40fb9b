"""The schedule that the engine is measured against: phase barriers over all tasks.

All answers of a step, then all its evaluations, then the next step; phases are shared by all tasks. The same strategy
decides, the same world answers; only who waits for whom differs.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench import draws
from strategies.protocol import Candidate, Outcome, Proposal, Reason, Role, View
from tests.fakes import EAGER_MS

if TYPE_CHECKING:
    from bench.simulated import World
    from strategies.protocol import Strategy

ORIGINAL = Candidate("c0", "", "", None)


@dataclass
class Line:
    """One trajectory of the phase under way."""

    proposal: Proposal
    step: int = 0
    over: bool = False
    works: str = ""

    @property
    def number(self) -> int:
        return int(self.proposal.id.removeprefix("p")) - 2


@dataclass
class Task:
    """One task's search."""

    number: int
    strategy: Strategy
    queries: int
    phases: int | None = None
    """At most so many, without the ideas."""
    parents: dict[str, str] = field(default_factory=dict[str, str])
    works: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[Line] = field(default_factory=list[Line])

    def begin(self) -> bool:
        """Propose the next phase; return whether there is one."""
        if self.phases is not None and self.phases < 0:
            return False
        view = View(self.queries, self.strategy.settings.places, (), ORIGINAL)
        self.lines = [Line(proposal) for proposal in self.strategy.propose(view)]
        if self.phases is not None:
            self.phases -= 1
        self.queries -= len(self.lines)
        self.parents |= {line.proposal.id: line.proposal.parent for line in self.lines}
        return bool(self.lines)

    def end(self, seed: int) -> None:
        """Hand what closed to the strategy."""
        for line in self.lines:
            self.strategy.absorb(self._outcome(seed, line))

    def due(self, step: int) -> list[Line]:
        """Return who asks in this step; the fixes that can still be paid go to the lowest numbers."""
        asking = [line for line in self.lines if not line.over]
        if step:
            paid = min(len(asking), self.queries)
            self.queries -= paid
            for line in asking[paid:]:
                line.over = True
            asking = asking[:paid]
        for line in asking:
            line.step = step
        return asking

    def _outcome(self, seed: int, line: Line) -> Outcome:
        ideas = tuple(f"idea number {n}" for n in range(1, 11))
        if line.proposal.role is Role.IDEAS:
            return Outcome(line.proposal, (), None, ideas, Reason.WORKS)
        if not line.works:
            return Outcome(line.proposal, (), None, (), Reason.GAVE_UP)
        speed = draws.speed(seed, draws.Key(self.number, line.number, line.step))
        self.works[line.proposal.id] = line.works
        works = Candidate(line.works, line.proposal.parent, "", EAGER_MS / speed)
        return Outcome(line.proposal, (), works, (), Reason.WORKS)


async def search(world: World, tasks: list[Task]) -> float:
    """Carry all searches to their ends; return the makespan in seconds."""
    while begun := [task for task in tasks if task.begin()]:
        fixes = max(task.strategy.settings.fixes for task in begun)
        for step in range(fixes + 1):
            await _step(world, begun, step)
        for task in begun:
            task.end(world.seed)
    return world.clock.now()


async def _step(world: World, tasks: list[Task], step: int) -> None:
    due = [(task, line) for task in tasks for line in task.due(step)]
    keys = [draws.Key(task.number, line.number, step) for task, line in due]
    await asyncio.gather(*(world.ask(key) for key in keys))
    judged = [line for _, line in due if line.proposal.role is not Role.IDEAS]
    for _, line in due:
        line.over = line.proposal.role is Role.IDEAS
    judging = [key for key, (_, line) in zip(keys, due, strict=True) if not line.over]
    found = await asyncio.gather(*(world.judge(key) for key in judging))
    for line, evaluation in zip(judged, found, strict=True):
        line.over = evaluation.works
        line.works = f"{line.proposal.id}/{step}" if evaluation.works else ""
