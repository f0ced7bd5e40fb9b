"""Whether a claim stands: a bundle's verdict beside one that was measured now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcp_server.contract import Status

if TYPE_CHECKING:
    from mcp_server.contract import Verdict

Claim = Literal["stands", "does not stand", "cannot be compared"]
LEAST_MARGIN = 0.02
"""What two honest measurements of one thing may differ by beyond their intervals."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a claim."""

    claim: Claim
    line: str
    """One sentence, with both intervals where there are two."""


@dataclass(frozen=True, slots=True)
class _Speedup:
    over: str
    ratio: float
    lo: float
    hi: float

    def __str__(self) -> str:
        return f"{self.ratio:.3g}× ({self.lo:.3g}–{self.hi:.3g}) over {self.over}"


def judged(claimed: Verdict, now: Verdict) -> Finding:
    """Return whether a claim stands beside a new measurement."""
    if claimed.speedup_ratio is None:
        return Finding(
            "cannot be compared", "the bundle's verdict holds no speedup to measure again."
        )
    if now.status in (Status.INFRA_ERROR, Status.TASK_UNFIT, None):
        return Finding("cannot be compared", f"it could not be measured here: {now.cause}")
    if now.status is not Status.OK:
        cause = f"{now.status}{f'/{now.code}' if now.code else ''}: {now.cause}"
        return Finding("does not stand", f"the candidate is not right here: {cause}")
    pair = _comparable(claimed, now)
    if pair is None:
        return Finding("cannot be compared", "neither measurement names a speedup the other has.")
    return _compared(claimed, now, *pair)


def _compared(claimed: Verdict, now: Verdict, then: _Speedup, here: _Speedup) -> Finding:
    both = f"{then} in the bundle, {here} measured now"
    if claimed.device_name != now.device_name:
        where = f"{claimed.device_name} then, {now.device_name} now"
        return Finding("cannot be compared", f"another machine ({where}): {both}.")
    margin = 1 + max(LEAST_MARGIN, claimed.noise_floor_ratio or 0, now.noise_floor_ratio or 0)
    lost = claimed.outcome == "faster" and then.lo > margin and here.hi < margin
    if here.hi * margin < then.lo or lost:
        return Finding("does not stand", f"the claim does not stand: {both}.")
    more = "; it is faster than claimed" if here.lo > then.hi * margin else ""
    return Finding("stands", f"the claim stands: {both}{more}.")


def _comparable(claimed: Verdict, now: Verdict) -> tuple[_Speedup, _Speedup] | None:
    """Return both over one baseline: the headline's if it is the same, else eager."""
    speedup = _headline if claimed.baseline == now.baseline else _eager
    then, here = speedup(claimed), speedup(now)
    return (then, here) if then is not None and here is not None else None


def _headline(verdict: Verdict) -> _Speedup | None:
    numbers = (verdict.speedup_ratio, verdict.speedup_lo_ratio, verdict.speedup_hi_ratio)
    return _of(str(verdict.baseline), numbers)


def _eager(verdict: Verdict) -> _Speedup | None:
    lo, hi = verdict.speedup_eager_lo_ratio, verdict.speedup_eager_hi_ratio
    return _of("eager", (verdict.speedup_eager_ratio, lo, hi))


def _of(over: str, numbers: tuple[float | None, float | None, float | None]) -> _Speedup | None:
    ratio, lo, hi = numbers
    if ratio is None or lo is None or hi is None:
        return None
    return _Speedup(over, ratio, lo, hi)
