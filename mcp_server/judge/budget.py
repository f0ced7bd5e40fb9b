"""How wrong an answer may be: the reference's own error in the policy's formats, times a factor.

Source of the table: the evaluator's rules, section Budget; the paper accepts fp16 and bf16 at 1e-2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PRECISIONS = ("fp32", "tf32", "half")
"""Policies, finest first."""


@dataclass(frozen=True, slots=True)
class Format:
    """A precision that a reference can be run in."""

    name: str
    policy: str
    precision_class: str
    cast: str | None = None
    autocast: str | None = None
    tf32: bool | None = None


FORMATS = (
    Format("fp32", "fp32", "fp32", tf32=False),
    Format("tf32", "tf32", "tf32_fp16", tf32=True),
    Format("fp16_autocast", "half", "tf32_fp16", autocast="fp16"),
    Format("fp16_cast", "half", "tf32_fp16", cast="fp16"),
    Format("bf16_autocast", "half", "bf16", autocast="bf16"),
    Format("bf16_cast", "half", "bf16", cast="bf16"),
)


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one precision policy."""

    factor: float
    """c: errors may be this many times the worst format's."""
    floor: float
    """What e may be at least."""
    relative: float
    """r: part of the elementwise bound that grows with the value."""
    fraction: float
    """f: part of the elementwise bound that grows with D."""


MOST_TIES = 0.005
"""Share of integers that a format may get otherwise than fp64; one that differs in more is left out."""
HEADROOM = 1.5
"""How many times the largest error of the reference's own runs one element of an answer may have."""

POLICIES: Mapping[str, Policy] = {
    "fp32": Policy(8, 1e-5, 1e-4, 1e-4),
    "tf32": Policy(3, 5e-4, 1e-3, 1e-3),
    "half": Policy(1.5, 5e-4, 1e-2, 1e-2),
}


@dataclass(frozen=True, slots=True)
class FormatRun:
    """Errors of the reference in one format, one number per output."""

    errors: list[float]
    """e: RMS error over D."""
    margins: dict[str, list[float]]
    """By policy, w over D: the largest of 1.5·|error| − r·|oracle|."""
    mismatches: list[float]
    """Share of differing elements, for integer and boolean outputs."""
    outliers: list[float]
    """Share of elements far beyond the median error."""

    @property
    def worst(self) -> float:
        """The largest e of any output."""
        return max(self.errors, default=0.0)

    @property
    def ties(self) -> float:
        """The largest share of differing integers of any output."""
        return max(self.mismatches, default=0.0)


@dataclass(frozen=True, slots=True)
class Bound:
    """What one output must keep to."""

    scale: float
    """D."""
    budget: float
    """B: largest e."""
    absolute: float
    """A."""
    relative: float
    """r."""
    mismatch: float = 0.0
    """Share of integers that may differ (ties)."""
    outliers: float = 1e-3
    """Share of elements that may lie far beyond the median error."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The policy in force, and the cap that structural mutants set on it."""

    policy: str
    formats: list[str]
    """Names of the formats within the cap."""
    cap: float
    runs: dict[str, FormatRun] = field(default_factory=dict[str, FormatRun])

    def bounds(self, scales: list[float]) -> list[Bound]:
        """Return the bound of each output, given D of each."""
        return [self._bound(place, scale) for place, scale in enumerate(scales)]

    def _bound(self, place: int, scale: float) -> Bound:
        rules = POLICIES[self.policy]
        runs = [self.runs[name] for name in self.formats]
        error = max((run.errors[place] for run in runs), default=0.0)
        margin = max((run.margins[self.policy][place] for run in runs), default=0.0)
        mismatch = max((run.mismatches[place] for run in runs), default=0.0)
        outliers = max((run.outliers[place] for run in runs), default=0.0)
        return Bound(
            scale=scale,
            budget=min(self.cap, max(rules.floor, rules.factor * error)),
            absolute=max(rules.fraction * min(scale, 1.0), margin * scale),
            relative=rules.relative,
            mismatch=2 * mismatch,
            outliers=max(1e-3, 2 * outliers),
        )


PAPER_TOLERANCE = 1e-2
"""atol and rtol of the paper's comparison."""


def paper_bounds(outputs: int) -> list[Bound]:
    """Return the paper's bounds: elementwise 1e-2, no budget."""
    tolerance = PAPER_TOLERANCE
    bound = Bound(1.0, math.inf, tolerance, tolerance, mismatch=0.0, outliers=1.0)
    return [bound] * outputs


def policy_formats(policy: str) -> list[Format]:
    """Return the formats of a policy, those of finer policies included."""
    allowed = PRECISIONS[: PRECISIONS.index(policy) + 1]
    return [form for form in FORMATS if form.policy in allowed]


def settle(
    policy: str,
    runs: dict[str, FormatRun],
    structural: Mapping[str, float],
    never_blind: frozenset[str] = frozenset(),
) -> tuple[Budget, list[str]]:
    """Return the budget under that policy or the next finer one, and the mutants it is blind to.

    `structural`: e of each mutant, worst output. A mutant within 3 × the policy's own e cannot be told from it, and
    the task is blind to it; but none of `never_blind`, for which a finer policy is taken. The cap is half the e of
    the mildest of the others. Formats beyond the cap are left out. What is within fp32's own rounding is no mutant:
    the part it leaves out does nothing.
    """
    alive = {name: error for name, error in structural.items() if error > _idle(runs)}
    for name in reversed(PRECISIONS[: PRECISIONS.index(policy) + 1]):
        found = _settle_at(name, runs, alive, never_blind)
        if found is not None:
            return found
    return Budget("fp32", [], _cap(list(alive.values())), runs), []


def _cap(seen: list[float]) -> float:
    """Return half the e of the mildest wrong answer, or of one that knows nothing of the input."""
    return 0.5 * min([*seen, 1.0]) if seen else 0.1


def _idle(runs: dict[str, FormatRun]) -> float:
    """Return the e below which a change is one that fp32 itself makes."""
    rules = POLICIES["fp32"]
    return max(rules.floor, rules.factor * (runs["fp32"].worst if "fp32" in runs else 0.0))


def _settle_at(
    name: str, runs: dict[str, FormatRun], alive: Mapping[str, float], never_blind: frozenset[str]
) -> tuple[Budget, list[str]] | None:
    mine = [f.name for f in FORMATS if f.policy == name and f.name in runs]
    if not mine:
        return None
    own = min(runs[form].worst for form in mine)
    blind = [
        mutant for mutant, error in alive.items() if error < 3 * own and mutant not in never_blind
    ]
    seen = [error for mutant, error in alive.items() if mutant not in blind]
    cap = _cap(seen)
    within = [form for form in mine if runs[form].worst <= cap and runs[form].ties <= MOST_TIES]
    if not within:
        return None
    return Budget(name, within, cap, runs), blind


def class_of(error: float, runs: dict[str, FormatRun]) -> str:
    """Return the precision class of the format whose measured e is nearest on a log scale."""
    anchors = _anchors(runs)
    position = math.log(max(error, 1e-12))
    return min(anchors, key=lambda anchor: abs(math.log(anchor[1]) - position))[0]


def _anchors(runs: dict[str, FormatRun]) -> list[tuple[str, float]]:
    """Return classes with their errors: measured ones, and guesses where a class has none.

    A format in which the model runs as accurately as in a finer one (autocast leaves some alone) is no anchor.
    """
    fine = max(runs["fp32"].worst if "fp32" in runs else 0.0, 1e-9)
    anchors = [("fp32", fine)]
    for form in FORMATS[1:]:
        finer = form.name.replace("bf16", "fp16") if form.precision_class == "bf16" else "fp32"
        least = max(2 * fine, 2 * runs[finer].worst if finer in runs else 0.0)
        if form.name in runs and runs[form.name].worst > least:
            anchors.append((form.precision_class, runs[form.name].worst))
    coarse = [error for name, error in anchors if name == "bf16"]
    half = [error for name, error in anchors if name == "tf32_fp16"]
    if not half:
        half = [min(coarse) / 8 if coarse else fine * 4096]
        anchors.append(("tf32_fp16", half[0]))
    if not coarse:
        coarse = [max(half) * 8]
        anchors.append(("bf16", coarse[0]))
    return [*anchors, ("coarser", max(coarse) * 8)]
