"""What prompts may tell besides task and parent (`informed`, `profile_guided`): a pure function of the facts.

Children and plain variants are told as they stood when the proposal was made: so a prompt is the same when it is made
again, and whichever of several trajectories comes first in a replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from sessions.model import ORIGINAL
from sessions.verdicts import verdict_of
from strategies.briefing import Fate, Known, ParentNotes, PlainTime
from strategies.options import held
from strategies.protocol import PromptRole, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.facts import Baseline
    from sessions.model import AttemptRecord, State, TrajectoryRecord

FATES = 8
"""Children of a parent that a prompt tells of."""
CLASSES: Mapping[str, tuple[str, ...]] = {
    "fp32": ("fp32",),
    "tf32": ("fp32", "tf32_fp16"),
    "half": ("fp32", "tf32_fp16", "bf16"),
}
"""The precision classes that a policy allows."""
OF_PARENTS = frozenset({Role.START, Role.IMPROVE, Role.CROSS})
"""Proposals whose prompts tell of a parent."""
_BY_COA = (PromptRole.START, PromptRole.IMPROVE, PromptRole.CROSS)


@dataclass(frozen=True, slots=True)
class Told:
    """What one prompt tells."""

    known: Known | None = None
    notes: ParentNotes | None = None


def told(state: State, record: TrajectoryRecord, role: PromptRole) -> Told:
    """Return what a prompt of a trajectory tells; nothing where neither option is on, or EFA is asked."""
    if role is PromptRole.IDEAS:
        return Told(_known(state, record.seq))
    if role in _BY_COA:
        return Told(_known(state, record.seq), _notes(state, record))
    return Told()


def lacks_profile(state: State, record: TrajectoryRecord) -> bool:
    """Return whether a trajectory's parent is to be profiled before its first prompt is written."""
    proposal = record.proposal
    asked = bool(state.opened and held(state.opened.settings).profile_guided)
    if not asked or proposal.role not in OF_PARENTS or proposal.parent in state.profiles:
        return False
    parent = state.attempts.get(proposal.parent)
    return proposal.parent == ORIGINAL or (parent is not None and parent.correct)


def _known(state: State, at: int) -> Known | None:
    baseline, informed = state.baseline, state.informed
    if informed is None or baseline is None:
        return None
    return Known(
        machine=tuple(informed.machine),
        floors=_floors(state, baseline, informed.floors),
        plain=tuple(sorted(_plain(state, baseline, at), key=lambda one: one.runtime_ms)),
        eager_ms=baseline.eager_ms,
    )


def _floors(state: State, baseline: Baseline, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the floors that the policy allows; what the original's verdict says where nothing else is known."""
    policy = state.opened.precision if state.opened else ""
    effective = str(baseline.verdict.get("policy_effective") or policy)
    allowed = CLASSES.get(effective, ("fp32",))
    kept = tuple(line for line in lines if line.partition(":")[0] in allowed)
    floor_ms = baseline.verdict.get("floor_ms")
    if kept or not isinstance(floor_ms, int | float):
        return kept
    return (f"{baseline.verdict.get('precision_class') or 'fp32'}: {floor_ms:.3g} ms",)


def _plain(state: State, baseline: Baseline, at: int) -> list[PlainTime]:
    """Return the evaluator's baselines and the plain start's variants that are correct."""
    rows = zip(baseline.names, baseline.classes, baseline.times_ms, strict=False)
    found = [PlainTime(*row) for row in rows]
    if all(one.name != "eager" for one in found):
        found.append(PlainTime("eager", "fp32", baseline.eager_ms))
    for attempt in state.attempts.values():
        of_plain = state.trajectories[attempt.proposal].proposal.role is Role.PLAIN
        if of_plain and attempt.runtime_ms and attempt.verdict_seq < at:
            name = str(attempt.verdict.get("precision_class") or "fp32")
            found.append(PlainTime(attempt.change, name, attempt.runtime_ms))
    return found


def _notes(state: State, record: TrajectoryRecord) -> ParentNotes | None:
    parent = record.proposal.parent
    profile = state.profiles.get(parent)
    if profile is None:
        return None
    attempt, baseline = state.attempts.get(parent), state.baseline
    verdict = attempt.verdict if attempt else baseline.verdict if baseline else {}
    eager_ms = baseline.eager_ms if baseline else None
    line = takewhile(lambda t: t is not record, state.trajectories.values())  # by age
    siblings = [t for t in line if _is_sibling(t, record)]
    closed = [t for t in siblings if t.closed and t.closed_seq < record.seq]
    fates = [_fate(state, t, _runtime_ms(attempt, eager_ms)) for t in closed if t.attempts]
    return ParentNotes(
        runtime_ms=_runtime_ms(attempt, eager_ms),
        speedup_eager=verdict.get("speedup_eager_ratio") if attempt else None,
        speedup=attempt.speedup if attempt else None,
        baseline=str(verdict.get("baseline") or ""),
        kernels=tuple(profile.hottest),
        idle_share=profile.idle_share_ratio,
        launches=profile.launches_per_call,
        fates=tuple(fates[-FATES:]),
        asked=sum(1 for t in siblings if _is_twin(t, record)),
    )


def _runtime_ms(parent: AttemptRecord | None, eager_ms: float | None) -> float | None:
    return parent.runtime_ms if parent else eager_ms


def _is_sibling(other: TrajectoryRecord, record: TrajectoryRecord) -> bool:
    proposal = other.proposal
    return proposal.parent == record.proposal.parent and proposal.role in OF_PARENTS


def _is_twin(other: TrajectoryRecord, record: TrajectoryRecord) -> bool:
    """Return whether two children are asked for in the same words, but for what is told."""
    return (other.proposal.role, other.proposal.idea) == (
        record.proposal.role,
        record.proposal.idea,
    )


def _fate(state: State, record: TrajectoryRecord, parent_ms: float | None) -> Fate:
    last = state.attempts[record.attempts[-1]]
    if last.runtime_ms and parent_ms:
        return Fate(last.change, last.runtime_ms / parent_ms)
    verdict = verdict_of(last.verdict, None)
    said = (verdict.cause or verdict.stderr or verdict.code).strip().splitlines()
    return Fate(last.change, None, f"{last.kind}: {said[0]}" if said else last.kind)
