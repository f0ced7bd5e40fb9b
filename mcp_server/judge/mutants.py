# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Answers known to be wrong, which a task must reject before it may judge a candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mcp_server.judge.faults import unfit
from mcp_server.judge.oracle import secret
from mcp_server.judge.reference import Answer, Reference, forward, hooked

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_server.judge.oracle import Entry

NOISE_SHARE = 0.02

MUST_FAIL = ("zeros", "another input's output", "first row repeated")

_NAMES = {
    "zeros": "all zeros",
    "another input's output": "the output for another input",
    "first row repeated": "its first row repeated",
}


def answers(entry: Entry, other: Entry) -> dict[str, list[Tensor]]:
    """Return mutants made from the oracle's answers alone: those that must fail."""
    mine, theirs = entry.answer.leaves, other.answer.leaves
    made = {
        "zeros": [torch.zeros_like(x) for x in mine],
        "another input's output": list(theirs),
    }
    if any(_rows_differ(x) for x in mine):
        made["first row repeated"] = [_first_row(x) for x in mine]
    return made


def refuse_accepted(accepted: list[str]) -> None:
    """Raise if a mutant that must fail passes."""
    if accepted:
        name = _NAMES[accepted[0]]
        raise unfit("mutant_accepted", f"The task cannot tell the original from {name}.")


def noisy(answer: Answer, generator: torch.Generator) -> list[Tensor]:
    """Return the answer with 2 % of its elements, at least one, replaced by noise of its own spread."""
    return [_noisy(leaf, generator) for leaf in answer.leaves]


def structural(reference: Reference, entry: Entry, generator: torch.Generator) -> dict[str, Answer]:
    """Return the answers of models with a part left out: normalisations, one of them, biases.

    A model that fails without the part has no such mutant.
    """
    device = reference.task.device
    changes = _changes(reference, generator)
    made: dict[str, Answer] = {}
    for name, change in changes.items():
        model = hooked(reference.fresh(), change)
        try:
            found = forward(model, entry.draw.arguments(device), entry.draw.seed)
        except Exception:  # noqa: BLE001, S112  the task's own code without a part
            continue
        if [x.shape for x in found.leaves] == [x.shape for x in entry.answer.leaves]:
            made[name] = found
    return made


def _changes(
    reference: Reference, generator: torch.Generator
) -> dict[str, Callable[[nn.Module], None]]:
    model = reference.fresh()
    norms = [name for name, module in model.named_modules() if is_norm(module)]
    changes: dict[str, Callable[[nn.Module], None]] = {}
    if norms:
        changes["normalisations dropped"] = _drop_norms
    if len(norms) > 1:
        place = secret(generator) % len(norms)
        changes["one normalisation dropped"] = _DropOne(place)
    biases = [name for name in reference.weights if name.rsplit(".", 1)[-1] == "bias"]
    if biases:
        changes["biases zeroed"] = _zero_bias
    return changes


def is_norm(module: nn.Module) -> bool:
    """Return whether the module normalises, by its class's name."""
    return "norm" in type(module).__name__.lower() and not list(module.children())


def _same(value: Tensor, *_others: object) -> Tensor:
    return value


def _drop_norms(module: nn.Module) -> None:
    if is_norm(module):
        module.forward = _same


class _DropOne:
    def __init__(self, place: int) -> None:
        self.left = place

    def __call__(self, module: nn.Module) -> None:
        if is_norm(module):
            if self.left == 0:
                module.forward = _same
            self.left -= 1


def _zero_bias(module: nn.Module) -> None:
    bias = getattr(module, "bias", None)
    if isinstance(bias, Tensor):
        bias.data.zero_()


def _rows_differ(value: Tensor) -> bool:
    if value.ndim < 1 or value.shape[0] < 2 or value.numel() == 0:
        return False
    return not bool((value == value[:1]).all())


def _first_row(value: Tensor) -> Tensor:
    if value.ndim < 1 or value.shape[0] < 2:
        return value
    return value[:1].expand_as(value).contiguous()


def _noisy(leaf: Tensor, generator: torch.Generator) -> Tensor:
    if not leaf.is_floating_point() or leaf.numel() == 0:
        return leaf
    changed = leaf.clone().reshape(-1)
    count = max(1, int(NOISE_SHARE * leaf.numel()))
    places = torch.randint(leaf.numel(), (count,), generator=generator).to(leaf.device)
    kept = leaf[torch.isfinite(leaf)]
    spread = float(kept.std()) if kept.numel() > 1 else 1.0
    noise = torch.randn(count, generator=generator, dtype=torch.float64).to(leaf.device)
    changed[places] = float(kept.mean() if kept.numel() else 0.0) + noise * spread
    return changed.view_as(leaf)
