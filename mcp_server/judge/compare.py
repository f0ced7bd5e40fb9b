# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Whether an answer is right: structure first, then every element of every output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge.faults import Fault, rejected, wrong
from mcp_server.worker.program import META_BYTES, aligned

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.budget import Bound
    from mcp_server.judge.reference import Answer
    from mcp_server.judge.worker_link import Fetched

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


# --- structure ------------------------------------------------------------------------------------------------------


def decode(fetched: Fetched, like: Answer, device: str) -> list[Tensor]:
    """Return the answer's tensors on the CPU, once structure, dtypes and shapes are those of the reference.

    Raises:
        Fault: they are not, or the answer is no ordinary tensor.
    """
    for leaf in fetched.leaves:
        if leaf.get("plain") is not True:
            raise rejected(
                "deferred_tensor", "The answer holds a tensor subclass, not a plain tensor."
            )
    if not _same(fetched.tree, like.tree):
        raise wrong("structure", f"The answer's structure differs: {_difference(fetched, like)}.")
    if len(fetched.leaves) != len(like.leaves):
        raise wrong("structure", "The answer has another number of tensors.")
    paths = paths_of(like.tree)
    for path, leaf, want in zip(paths, fetched.leaves, like.leaves, strict=True):
        _check_leaf(path, leaf, want, device)
    return _tensors(fetched, like)


def _check_leaf(path: str, leaf: dict[str, Any], want: Tensor, device: str) -> None:
    dtype, shape = str(want.dtype).removeprefix("torch."), list(want.shape)
    where = path or "the output"
    if leaf.get("shape") != shape:
        raise wrong("shape", f"{where} has shape {leaf.get('shape')}, not {shape}.")
    if leaf.get("dtype") != dtype:
        raise wrong("dtype", f"{where} has dtype {leaf.get('dtype')}, not {dtype}.")
    if leaf.get("device") != device.split(":")[0]:
        raise wrong("device", f"{where} is on {leaf.get('device')}, not on {device}.")


def _tensors(fetched: Fetched, like: Answer) -> list[Tensor]:
    found: list[Tensor] = []
    at = 0
    for want in like.leaves:
        size = want.numel() * want.element_size()
        piece = fetched.data[at : at + size]
        if piece.numel() != size:
            raise rejected("protocol", "The worker delivered fewer bytes than its answer has.")
        found.append(piece.view(want.dtype).view(want.shape))
        at += aligned(size)
    return found


def answer_bytes(like: Answer) -> int:
    """Return what such an answer takes in an arena, its description apart."""
    return sum(aligned(x.numel() * x.element_size()) for x in like.leaves)


def description_bytes() -> int:
    """Return the room of a description in the arena."""
    return META_BYTES


def _same(got: object, want: object) -> bool:
    """Return whether two trees are equal; numbers in place of tensors within fp32's rounding."""
    if not isinstance(got, dict) or not isinstance(want, dict) or got.get("k") != want.get("k"):
        return False
    if want["k"] in ("tensor", "other", "dtype"):
        return True
    mine, theirs = got.get("v"), want["v"]
    if want["k"] in ("list", "tuple"):
        return _same_rows(mine, theirs)
    if want["k"] == "dict":
        keys = isinstance(mine, list) and [row[0] for row in mine] == [row[0] for row in theirs]
        return keys and _same_rows([row[1] for row in mine or []], [row[1] for row in theirs])
    if isinstance(theirs, float) and isinstance(mine, int | float):
        return abs(mine - theirs) <= 1e-4 * abs(theirs) + 1e-6 or (
            mine != mine and theirs != theirs
        )
    return mine == theirs and type(mine) is type(theirs)


def _same_rows(mine: object, theirs: list[Any]) -> bool:
    if not isinstance(mine, list) or len(mine) != len(theirs):
        return False
    return all(_same(a, b) for a, b in zip(mine, theirs, strict=True))


def _difference(fetched: Fetched, like: Answer) -> str:
    return f"{outline(fetched.tree)} in place of {outline(like.tree)}"


def outline(tree: object, depth: int = 0) -> str:
    """Return a structure in a few words, for a sentence."""
    if not isinstance(tree, dict) or depth > 3:
        return "…"
    items = tree.get("v")
    match tree.get("k"):
        case "tensor":
            return "tensor"
        case "list" | "tuple" if isinstance(items, list):
            inner = ", ".join(outline(item, depth + 1) for item in items[:6])
            return f"{tree['k']}({inner})"
        case "dict" if isinstance(items, list):
            return "dict(" + ", ".join(str(row[0])[:20] for row in items[:6]) + ")"
        case "value":
            return "None" if items is None else type(items).__name__
        case _:
            return "another object"


def paths_of(tree: dict[str, Any], prefix: str = "") -> list[str]:
    """Return the path of each tensor in the structure, in order; the empty path for a lone tensor."""
    match tree["k"]:
        case "tensor":
            return [prefix]
        case "list" | "tuple":
            rows = [(f"[{i}]", item) for i, item in enumerate(tree["v"])]
        case "dict":
            rows = [(f"[{key!r}]", item) for key, item in tree["v"]]
        case _:
            return []
    return [path for key, item in rows for path in paths_of(item, prefix + key)]


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
