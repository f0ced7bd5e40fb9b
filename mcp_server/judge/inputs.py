# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Inputs of a task: draws, varied draws, staged sets and the secret changes that reveal them.

A staged set holds a mixture of draws. Each reveal changes one element in 256 to the values of another draw, so that no
two calls see the same data and nothing can be computed before the clock runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.worker.program import aligned, describe, flat, pack, patch_count, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor


def stored_bytes(leaves: Iterable[Tensor]) -> int:
    """Return what these tensors take in an arena."""
    return sum(aligned(leaf.numel() * leaf.element_size()) for leaf in leaves)


@dataclass(frozen=True, slots=True)
class Draw:
    """One set of inputs, on the CPU."""

    tree: dict[str, Any]
    metas: list[dict[str, Any]]
    leaves: list[Tensor]
    """Each in the order of its memory, shape (numel,)."""
    seed: int
    varied: bool

    @property
    def bytes(self) -> int:
        """Bytes that the tensors take in an arena."""
        return stored_bytes(self.leaves)

    def arguments(self, device: str, dtype: torch.dtype | None = None) -> Any:
        """Return private copies as the model takes them, floating tensors in that dtype."""
        return arguments_of(self, self.leaves, device, dtype)


def arguments_of(
    like: Draw, leaves: list[Tensor], device: str, dtype: torch.dtype | None = None
) -> Any:
    """Return copies of these leaves, shaped and nested as that draw's."""
    views: list[Tensor] = []
    for leaf, meta in zip(leaves, like.metas, strict=True):
        view = leaf.as_strided(meta["shape"], meta["stride"])
        wanted = dtype if dtype is not None and leaf.is_floating_point() else leaf.dtype
        views.append(view.to(device=device, dtype=wanted, copy=True))
    return unpack(like.tree, views)


def to_draw(value: Any, seed: int, *, varied: bool) -> Draw:
    """Return what `get_inputs` made as a draw.

    Raises:
        TypeError: it holds something other than tensors, numbers, text and their nests.
    """
    leaves: list[Tensor] = []
    tree = pack(value, leaves)
    refuse_other(tree)
    leaves = [x.detach().cpu() for x in leaves]
    return Draw(
        tree, [describe(x) for x in leaves], [flat(x).clone() for x in leaves], seed, varied
    )


def refuse_other(tree: dict[str, Any]) -> None:
    """Raise if the tree holds a value that cannot be passed to another process."""
    if tree["k"] == "other":
        raise TypeError(f"it returns a {tree['v']}, which cannot be passed to another process")
    if tree["k"] in ("list", "tuple"):
        for item in tree["v"]:
            refuse_other(item)
    if tree["k"] == "dict":
        for _, item in tree["v"]:
            refuse_other(item)


def vary(draw: Draw, generator: torch.Generator) -> Draw:
    """Return the draw with a gain U(0.5, 2) and an offset N(0, std) per sample and channel on floating inputs."""
    leaves: list[Tensor] = []
    for leaf, meta in zip(draw.leaves, draw.metas, strict=True):
        if not leaf.is_floating_point() or leaf.numel() < 2:
            leaves.append(leaf)
            continue
        view = leaf.as_strided(meta["shape"], meta["stride"])
        shape = _per_sample(list(view.shape))
        gain = torch.rand(shape, generator=generator) * 1.5 + 0.5
        sigma = float(view.double().std())
        offset = torch.randn(shape, generator=generator) * sigma
        changed = torch.empty_like(leaf)
        changed.as_strided(meta["shape"], meta["stride"]).copy_(view * gain + offset)
        leaves.append(changed)
    return Draw(draw.tree, draw.metas, leaves, draw.seed, varied=True)


def _per_sample(shape: list[int]) -> list[int]:
    """Return the shape of one gain per sample, and per channel where there is more than a feature axis."""
    kept = 2 if len(shape) > 2 else 1
    return shape[:kept] + [1] * (len(shape) - kept)


@dataclass(frozen=True, slots=True)
class Patch:
    """A secret change: for each tensor positions and values; or whole tensors."""

    kind: str
    parts: list[tuple[Tensor, Tensor]]
    before: list[Tensor]
    """The values there beforehand."""
    wholes: list[Tensor] = field(default_factory=list[torch.Tensor])
    """What replaces everything, where a mixture of draws makes no sense."""

    def inverse(self) -> Patch:
        """Return the change that takes this one back."""
        if self.kind == "whole":
            return Patch("whole", [], self.wholes, self.before)
        parts = [(at, old) for (at, _), old in zip(self.parts, self.before, strict=True)]
        return Patch(self.kind, parts, [values for _, values in self.parts])


class Staged:
    """The judge's own copy of a set of inputs that a worker holds."""

    def __init__(self, number: int, draw: Draw, most_changes: int = 0) -> None:
        self.number = number
        self.most_changes = most_changes
        """Elements of a tensor that one reveal may change; 0: no limit."""
        self.draw = draw
        self.leaves = [leaf.clone() for leaf in draw.leaves]

    def change(self, source: Draw, generator: torch.Generator, kind: str) -> Patch:
        """Return a change to that draw's values, of secret positions or whole; not yet applied here."""
        if kind == "whole":
            return Patch("whole", [], self.snapshot(), source.leaves)
        parts: list[tuple[Tensor, Tensor]] = []
        before: list[Tensor] = []
        for mine, other in zip(self.leaves, source.leaves, strict=True):
            count = patch_count(mine.numel(), self.most_changes)
            if count == 0:
                continue
            if count == mine.numel():
                positions = torch.arange(count)
            else:
                positions = torch.randint(mine.numel(), (count,), generator=generator)
            parts.append((positions, other[positions]))
            before.append(mine[positions])
        return Patch("patch", parts, before)

    def apply(self, patch: Patch) -> None:
        """Change this copy as the worker will change its own."""
        if patch.kind == "whole":
            self.leaves = [leaf.clone() for leaf in patch.wholes]
            return
        places = [leaf for leaf in self.leaves if leaf.numel() > 0]
        for leaf, (positions, values) in zip(places, patch.parts, strict=True):
            leaf[positions] = values

    def snapshot(self) -> list[Tensor]:
        """Return copies of the leaves as they are now."""
        return [leaf.clone() for leaf in self.leaves]


def patch_bytes(draw: Draw) -> int:
    """Return the bytes that one reveal of such a draw takes in an arena."""
    total = 0
    for leaf in draw.leaves:
        count = patch_count(leaf.numel())
        total += aligned(count * 8) + aligned(count * leaf.element_size())
    return total
