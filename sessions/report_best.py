"""The best of a session as a report counts it, and how it was reached. Pure functions of a state.

Chosen by the first measurement, counted by the second: of the attempts that `best` ranks, the first whose later
measurement (`remeasured`) did not fail is the run's best, and its number is that later one where it exists. So the
luck that made it the best is not counted again. Suspect and banned attempts never count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.best import leaders
from sessions.report_statistics import Measured
from sessions.verdicts import kind_of
from strategies.protocol import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.model import AttemptRecord, State


@dataclass(frozen=True, slots=True)
class Found:
    """The best of a run, or its best plain attempt."""

    id: str
    eager: Measured
    """Over the original as it stands: the one scale on which all attempts of a task compare."""
    baseline: Measured | None
    """Over the strongest baseline of its precision class or a finer one."""
    paper: float | None
    """Over eager by mean latencies, as the paper counts."""
    first: float
    """Over eager, in the measurement that chose it."""
    again: bool
    """Whether the numbers are those of the second measurement."""
    confirmed: bool
    precision: str
    over: str
    """The name of that baseline; foreign text."""
    own_share: float | None
    """Of the device time, in kernels of its own rather than a library's or the framework's; None: not known."""
    runtime_ms: float | None
    plain: bool
    """Whether it is one of the plain variants that cost no query."""
    queries: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Step:
    """The best so far, from a moment on."""

    queries: int
    cost_usd: float
    eager: float | None
    """None: nothing correct yet."""


def best_counted(
    state: State, candidates: Iterable[AttemptRecord]
) -> tuple[Found | None, list[str]]:
    """Return the best, and what stood before it and did not stand up."""
    refuted: list[str] = []
    for attempt in candidates:
        fault = attempt.refutation
        found = None if fault else _found(state, attempt)
        if found is not None:
            return found, refuted
        refuted.append(f"{attempt.id}: {fault or 'no number over eager'}")
    return None, refuted


def fastest(state: State, candidates: Iterable[AttemptRecord]) -> Found | None:
    """Return the fastest over eager: plain attempts of several classes have no other common scale."""
    found = [_found(state, a) for a in candidates if not a.refutation]
    known = [f for f in found if f is not None]
    return max(known, key=lambda f: f.eager.value, default=None)


def verdict_counted(attempt: AttemptRecord) -> tuple[Mapping[str, Any], bool]:
    """Return the verdict whose numbers a report uses, and whether it is the second."""
    second = attempt.remeasured
    if second and kind_of(second) is Kind.CORRECT and second.get("speedup_eager_ratio"):
        return second, True
    return attempt.verdict, False


def _found(state: State, attempt: AttemptRecord) -> Found | None:
    verdict, again = verdict_counted(attempt)
    eager, first = measured(verdict, "speedup_eager"), measured(attempt.verdict, "speedup_eager")
    if eager is None or first is None or state.baseline is None:
        return None
    return Found(
        id=attempt.id,
        eager=eager,
        baseline=measured(verdict, "speedup"),
        paper=_positive(verdict.get("paper_speedup_ratio")),
        first=first.value,
        again=again,
        confirmed=attempt.confirmed,
        precision=str(verdict.get("precision_class") or ""),
        over=str(verdict.get("baseline") or ""),
        own_share=_share(verdict, attempt.verdict),
        runtime_ms=state.baseline.eager_ms / eager.value,
        plain=is_plain(state, attempt),
        queries=attempt.queries_then,
        cost_usd=attempt.cost_then,
    )


def measured(verdict: Mapping[str, Any], name: str) -> Measured | None:
    """Return `speedup` or `speedup_eager` of a verdict; None where it was not measured."""
    value = _positive(verdict.get(f"{name}_ratio"))
    if value is None:
        return None
    ends = [_positive(verdict.get(f"{name}_{end}_ratio")) for end in ("lo", "hi")]
    return Measured(value, *ends)


def _positive(value: Any) -> float | None:
    known = isinstance(value, int | float) and 0 < value < float("inf")
    return float(value) if known else None


def _share(*verdicts: Mapping[str, Any]) -> float | None:
    for verdict in verdicts:
        value = verdict.get("own_share_ratio")
        if isinstance(value, int | float):
            return float(value)
    return None


def steps(state: State) -> list[Step]:
    """Return the best so far where it changes, and where the run ends now.

    Who leads is decided by first measurements, as in the search; refuted attempts are left out.
    """
    judged = sorted(
        (a for a in state.attempts.values() if a.verdict_at is not None and not a.refutation),
        key=lambda a: a.verdict_at or 0.0,
    )
    found, leading = [Step(0, 0.0, None)], ""
    for attempt, leader in leaders(judged):
        if leader is not None and leader.id != leading:
            leading = leader.id
            eager = measured(verdict_counted(leader)[0], "speedup_eager")
            value = eager.value if eager else None
            found.append(Step(attempt.queries_then, attempt.cost_then, value))
    return [*found, Step(state.spending.queries, state.spending.cost_usd, found[-1].eager)]


def is_plain(state: State, attempt: AttemptRecord) -> bool:
    """Return whether an attempt is one of the plain variants of the original."""
    trajectory = state.trajectories.get(attempt.proposal)
    return trajectory is not None and trajectory.proposal.role is Role.PLAIN
