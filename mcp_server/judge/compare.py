# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Whether the values of an answer are right: every element of every output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from mcp_server.judge.faults import Fault, wrong
from mcp_server.judge.structure import paths_of

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.budget import Bound
    from mcp_server.judge.reference import Answer

CHUNK = 4 * 1024 * 1024
"""Elements compared at once, so that a comparison needs little memory."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How one output differs from the oracle's."""

    path: str
    code: str | None
    """What rule it breaks, or None."""
    error_ratio: float
    """e: RMS error over D."""
    budget_ratio: float
    """B."""
    max_abs: float
    wrong_share: float
    """Share of elements outside the elementwise bound."""
    got: float | None
    want: float | None

    @property
    def over_budget(self) -> float:
        """Return e over B."""
        return self.error_ratio / self.budget_ratio if self.budget_ratio > 0 else 0.0


# --- values ---------------------------------------------------------------------------------------------------------


def differences(got: list[Tensor], want: Answer, bounds: list[Bound]) -> list[Difference]:
    """Return how each output differs from the oracle's answer."""
    paths = paths_of(want.tree)
    return [
        compare(path, mine, theirs, bound)
        for path, mine, theirs, bound in zip(paths, got, want.leaves, bounds, strict=True)
    ]


def compare(path: str, got: Tensor, want: Tensor, bound: Bound) -> Difference:
    """Return how one output differs; `want` in the oracle's precision, any device."""
    if not want.is_floating_point() and not want.is_complex():
        return _compare_exactly(path, got, want, bound)
    if want.is_complex():
        got, want = torch.view_as_real(got), torch.view_as_real(want)
    return _Sum(path, bound).over(got.reshape(-1), want.reshape(-1))


def _compare_exactly(path: str, got: Tensor, want: Tensor, bound: Bound) -> Difference:
    differs = got.cpu() != want.cpu()
    share = float(differs.double().mean()) if differs.numel() else 0.0
    code = "integers" if share > bound.mismatch else None
    largest = float((got.cpu().double() - want.cpu().double()).abs().max()) if share else 0.0
    return Difference(path, code, 0.0, bound.budget, largest, share, None, None)


class _Sum:
    """Running sums of one comparison, chunk by chunk."""

    def __init__(self, path: str, bound: Bound) -> None:
        self.path = path
        self.bound = bound
        self.squares = self.max_abs = 0.0
        self.finite = self.outside = 0
        self.classes_differ = False
        self.got: float | None = None
        self.want: float | None = None
        self.excess = float("-inf")

    def over(self, got: Tensor, want: Tensor) -> Difference:
        """Compare all elements."""
        total = want.numel()
        for start in range(0, total, CHUNK):
            piece = want[start : start + CHUNK].double()
            self._add(got[start : start + CHUNK].to(piece.device).double(), piece)
        e = (self.squares / self.finite) ** 0.5 / self.bound.scale if self.finite else 0.0
        outliers = outlier_share(got, want, self.bound.scale) if self.squares > 0 else 0.0
        share = self.outside / total if total else 0.0
        code = self._code(e, share, outliers)
        return Difference(
            self.path, code, e, self.bound.budget, self.max_abs, share, self.got, self.want
        )

    def _add(self, got: Tensor, want: Tensor) -> None:
        if not bool(torch.isfinite(want.sum() + got.sum())):
            strange = ~(torch.isfinite(want) & torch.isfinite(got))
            same = (got == want) | (torch.isnan(got) & torch.isnan(want))
            if not bool((same | ~strange).all()):
                self.classes_differ = True
            got, want = got[~strange], want[~strange]
        if want.numel() == 0:
            return
        error = (got - want).abs()
        self.squares += float(error.square().sum())
        self.finite += want.numel()
        self.max_abs = max(self.max_abs, float(error.max()))
        excess = error - self.bound.relative * want.abs()
        self.outside += int((~(excess <= self.bound.absolute)).sum())
        worst = int(excess.argmax())
        if float(excess[worst]) > self.excess:
            self.excess = float(excess[worst])
            self.got, self.want = float(got[worst]), float(want[worst])

    def _code(self, error: float, outside: float, outliers: float) -> str | None:
        if self.classes_differ:
            return "nonfinite"
        if outside > 0 and outside < 0.05 and outliers > self.bound.outliers:
            return "outliers"
        if error > self.bound.budget or outside > 0:
            return "values"
        return "outliers" if outliers > self.bound.outliers else None


def outlier_share(got: Tensor, want: Tensor, scale: float) -> float:
    """Return the share of elements beyond 20 × 1.4826 × the median non-zero error.

    Errors are taken relative to D + |oracle|, so that honest rounding of large values is none; of at most 2^16
    elements, evenly spaced. Outputs of fewer than 1,000 elements have no outliers: the elementwise bound serves.
    """
    total = want.numel()
    if total < 1000:
        return 0.0
    step = max(1, total >> 16)
    theirs = want[::step].double()
    mine = got[::step].to(theirs.device).double()
    error = (mine - theirs).abs() / (scale + theirs.abs())
    error = error[torch.isfinite(error)]
    nonzero = error[error > 0]
    if nonzero.numel() == 0:
        return 0.0
    limit = 20 * 1.4826 * float(nonzero.median())
    floor = 16 * torch.finfo(got.dtype).eps
    return float((error > max(limit, floor)).double().mean())


def worst_of(found: list[Difference]) -> Difference | None:
    """Return the output that breaks a rule, or that with the largest e over B."""
    broken = [one for one in found if one.code is not None]
    return max(broken or found, key=lambda one: one.over_budget, default=None)


_SENTENCES = {
    "values": "The values are wrong.",
    "precision": "The values are less precise than the policy allows.",
    "outliers": "A few elements are far off.",
    "nonfinite": "NaN or infinity stand where the original has none, or the other way round.",
    "integers": "Integers or booleans differ.",
}


def fault_of(one: Difference) -> Fault:
    """Return the fault of a difference that breaks a rule."""
    assert one.code is not None
    fault = wrong(one.code, _SENTENCES[one.code])
    fault.details = {
        "worst_output": one.path,
        "wrong_share_ratio": one.wrong_share,
        "error_ratio": one.error_ratio,
        "budget_ratio": one.budget_ratio,
    }
    return fault
