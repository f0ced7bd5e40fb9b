"""What happened on the way, counted per configuration: fixes, lines changed, attempts, queries, dollars per agent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.report_statistics import Interval, quantile, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.report import Section
    from sessions.report_runs import Run

WITHIN = 5
"""Fixes, as in the paper."""


@dataclass(frozen=True, slots=True)
class Fixes:
    """What became of the trajectories of a configuration."""

    configuration: str
    works: Mapping[int, int]
    """Trajectories that work, by the number of fixes they took."""
    gave_up: Mapping[int, int]
    """Trajectories given up, by the number of fixes spent."""
    cut_short: int
    """By a person, a budget or a lost evaluation: neither a success nor a failure."""

    @property
    def total(self) -> int:
        """Trajectories that came to an end of their own."""
        return sum(self.works.values()) + sum(self.gave_up.values())

    @property
    def within(self) -> int:
        """Of those, the ones that work after five fixes at most."""
        return sum(count for fixes, count in self.works.items() if fixes <= WITHIN)

    @property
    def sure(self) -> Interval | None:
        """95 % of that share; trajectories are taken as independent."""
        return wilson(self.within, self.total)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines changed at one step, over all attempts of a configuration."""

    configuration: str
    step: int
    """0: the first answer, against its parent; 1..: fixes, against what they fixed."""
    attempts: int
    low: float
    """A quarter changed fewer."""
    median: float
    high: float
    """A quarter changed more."""


@dataclass(frozen=True, slots=True)
class AgentCost:
    """What an agent cost, over all runs of a configuration."""

    configuration: str
    agent: str
    queries: int
    cost_usd: float
    unknown: int
    """Queries of unknown cost."""
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    tokens_thinking: int


@dataclass(frozen=True, slots=True)
class Total:
    """A configuration as a whole."""

    configuration: str
    tasks: int
    runs: int
    found: int
    """Runs with a correct answer."""
    unended: int
    """Runs that have not ended: their numbers are those so far."""
    again: int
    """Bests whose number is that of a second measurement."""
    confirmed: int
    attempts: int
    correct: int
    suspect: int
    banned: int
    queries: int
    cost_usd: float
    unpriced: int
    estimated_usd: float
    running_s: float


def fixes(section: Section) -> list[Fixes]:
    """Return the fix-attempt histogram of each configuration that had trajectories."""
    found: list[Fixes] = []
    for name in section.configurations:
        runs = _runs(section, name)
        works = _added(run.fixes for run in runs)
        gave_up = _added(run.gave_up for run in runs)
        cut_short = sum(run.cut_short for run in runs)
        if works or gave_up or cut_short:
            found.append(Fixes(name, works, gave_up, cut_short))
    return found


def _added(counts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for several in counts:
        total.update(several)
    return {number: total[number] for number in sorted(total)}


def lines(section: Section) -> list[Lines]:
    """Return the lines changed per step."""
    found: list[Lines] = []
    for name in section.configurations:
        runs = _runs(section, name)
        for step in sorted({step for run in runs for step in run.lines}):
            changed = sorted(n for run in runs for n in run.lines.get(step, ()))
            low, median, high = (quantile(changed, share) for share in (0.25, 0.5, 0.75))
            found.append(Lines(name, step, len(changed), low, median, high))
    return found


def agent_costs(section: Section) -> list[AgentCost]:
    """Return what each agent of each configuration cost."""
    found: list[AgentCost] = []
    for name in section.configurations:
        spent = [s for run in _runs(section, name) for s in run.spent]
        for agent in sorted({s.agent for s in spent}):
            own = [s for s in spent if s.agent == agent]
            found.append(
                AgentCost(
                    configuration=name,
                    agent=agent,
                    queries=sum(s.queries for s in own),
                    cost_usd=sum(s.cost_usd for s in own),
                    unknown=sum(s.unknown for s in own),
                    tokens_in=sum(s.tokens_in for s in own),
                    tokens_cached=sum(s.tokens_cached for s in own),
                    tokens_out=sum(s.tokens_out for s in own),
                    tokens_thinking=sum(s.tokens_thinking for s in own),
                )
            )
    return found


def totals(section: Section) -> list[Total]:
    """Return a line for each configuration."""
    return [_total(name, section) for name in section.configurations]


def _total(name: str, section: Section) -> Total:
    runs = _runs(section, name)
    bests = [run.best for run in runs if run.best is not None]
    return Total(
        configuration=name,
        tasks=len(section.strata(name)),
        runs=len(runs),
        found=len(bests),
        unended=sum(not run.ended for run in runs),
        again=sum(best.again for best in bests),
        confirmed=sum(best.confirmed for best in bests),
        attempts=sum(sum(run.kinds.values()) for run in runs),
        correct=sum(run.kinds.get("correct", 0) for run in runs),
        suspect=sum(run.suspect for run in runs),
        banned=sum(run.banned for run in runs),
        queries=sum(run.queries for run in runs),
        cost_usd=sum(run.cost_usd for run in runs),
        unpriced=sum(run.unpriced for run in runs),
        estimated_usd=sum(run.estimated_usd for run in runs),
        running_s=sum(run.running_s for run in runs),
    )


def _runs(section: Section, name: str) -> list[Run]:
    return [run for runs in section.strata(name) for run in runs]
