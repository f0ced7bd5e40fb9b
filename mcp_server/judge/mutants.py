# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Answers known to be wrong, which a task must reject before it may judge a candidate.

| mutant | whose answer it is |
| --- | --- |
| zeros, another input's, the mean of others', first row repeated | nobody's: a constant, or one remembered |
| normalisations dropped, all and one; biases zeroed; an input returned | a model with a part left out |
| constant parameters at their defaults | a model that knows how its weights begin |
"""

from __future__ import annotations

import contextlib
from time import monotonic
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812  as everyone names it
from torch import Tensor, nn

from mcp_server.judge import memory
from mcp_server.judge.faults import unfit
from mcp_server.judge.reference import Answer, Reference, forward, hooked, load
from mcp_server.worker.program import pack

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mcp_server.judge.oracle import Entry

NOISE_SHARE = 0.02
SOME_NORMS = 4
"""Of many normalisations, how many are left out, each alone."""
SOME_NORMS_S = 5.0

NORMS = "normalisations dropped"
ONE_NORM = "one normalisation dropped"
BIASES = "biases zeroed"
DEFAULTS = "constant parameters at their defaults"
INPUT = "an input returned"

NEVER_BLIND = frozenset({NORMS, DEFAULTS, INPUT})
"""What no policy may overlook: a task whose half precision is coarser than these is judged more finely."""

_NAMES = {
    "zeros": "all zeros",
    "another input's output": "the output for another input",
    "mean of other outputs": "the mean of outputs for other inputs",
    "first row repeated": "its first row repeated",
}
_FUNCTIONS = ("layer_norm", "group_norm", "batch_norm", "instance_norm", "rms_norm", "normalize")


def answers(entry: Entry, others: list[Entry]) -> dict[str, list[Tensor]]:
    """Return mutants made from the oracle's answers alone: those that must fail."""
    mine = entry.answer.leaves
    made: dict[str, list[Tensor]] = {
        "zeros": [torch.zeros_like(x) for x in mine],
        "another input's output": list(others[0].answer.leaves),
    }
    if len(others) > 1:
        places = range(len(mine))
        made["mean of other outputs"] = [
            _mean([one.answer.leaves[place] for one in others]) for place in places
        ]
    if any(_rows_differ(x) for x in mine):
        made["first row repeated"] = [_first_row(x) for x in mine]
    return made


def remembered(entry: Entry, other: Entry) -> dict[str, list[Tensor]]:
    """Return, of an answer with several tensors, those with one of them for another input."""
    mine, theirs = entry.answer.leaves, other.answer.leaves
    if len(mine) < 2:
        return {}
    return {
        f"output {place} for another input": [*mine[:place], theirs[place], *mine[place + 1 :]]
        for place in range(len(mine))
        if mine[place].is_floating_point()
    }


def _mean(values: list[Tensor]) -> Tensor:
    first = values[0]
    if not first.is_floating_point() or any(x.shape != first.shape for x in values):
        return first
    total = torch.zeros_like(first)
    for value in values:
        total += value / len(values)
    return total


def refuse_accepted(accepted: list[str]) -> None:
    """Raise if a mutant that must fail passes."""
    if accepted:
        name = _NAMES[accepted[0]]
        raise unfit("mutant_accepted", f"The task cannot tell the original from {name}.")


def noisy(answer: Answer, generator: torch.Generator) -> list[Tensor]:
    """Return the answer with 2 % of its elements, at least one, replaced by noise of its own spread."""
    return [_noisy(leaf, generator) for leaf in answer.leaves]


def structural(
    reference: Reference, entries: list[Entry], generator: torch.Generator
) -> Generator[tuple[str, list[Answer]]]:
    """Yield names and answers, one for each entry, of models with a part left out; several of one name are alike.

    A model that fails without the part has no such mutant.
    """
    found = False
    for name, change in _changes(reference):
        answers = _changed(reference, entries, change)
        found |= name == NORMS and bool(answers)
        yield name, answers
    began = monotonic()
    for place in _some_norms(reference, generator):
        yield ONE_NORM, _changed(reference, entries, _DropOne(place))
        if monotonic() - began > SOME_NORMS_S:
            break
    if not found and any(f".{name}(" in reference.task.source for name in _FUNCTIONS):
        with _without_functions():
            made = _changed(reference, entries, _leave)
        yield NORMS, made
    returned = [_input_returned(reference, entry) for entry in entries]
    yield INPUT, [answer for answer in returned if answer is not None]


def _changed(
    reference: Reference, entries: list[Entry], change: Callable[[nn.Module], None]
) -> list[Answer]:
    """Return the answers of a model whose every module was changed; none if they are not like the original's."""
    device = reference.task.device
    try:
        model = hooked(reference.fresh(), change)
        made = [forward(model, one.draw.arguments(device), one.draw.seed) for one in entries]
    except Exception as error:  # noqa: BLE001  the task's own code without a part
        memory.refuse_crowded(error, device)
        return []
    shapes = [[x.shape for x in one.leaves] for one in made]
    return made if shapes == [[x.shape for x in one.answer.leaves] for one in entries] else []


def _changes(
    reference: Reference,
) -> Generator[tuple[str, Callable[[nn.Module], None]]]:
    if _norms(reference.fresh()):
        yield NORMS, _drop_norms
    if any(name.rsplit(".", 1)[-1] == "bias" for name in reference.weights):
        yield BIASES, _zero_bias
    defaults = reference.defaults()
    if defaults:
        yield DEFAULTS, _PutBack(defaults)


def _norms(model: nn.Module) -> list[nn.Module]:
    return [module for module in model.modules() if is_norm(module)]


def _some_norms(reference: Reference, generator: torch.Generator) -> list[int]:
    """Return secret places of normalisations; nothing where there is only one."""
    count = len(_norms(reference.fresh()))
    if count < 2:
        return []
    return torch.randperm(count, generator=generator)[:SOME_NORMS].tolist()


def _input_returned(reference: Reference, entry: Entry) -> Answer | None:
    """Return the answer in which outputs are inputs of the same shape; None where there are none."""
    leaves: list[Tensor] = []
    pack(entry.draw.arguments(reference.task.device), leaves)
    found = [_like(x, leaves) for x in entry.answer.leaves]
    if all(x is None for x in found):
        return None
    pairs = zip(found, entry.answer.leaves, strict=True)
    return Answer(entry.answer.tree, [theirs if mine is None else mine for mine, theirs in pairs])


def _like(output: Tensor, inputs: list[Tensor]) -> Tensor | None:
    """Return an input that could stand for an output: floating, of its shape."""
    if not output.is_floating_point():
        return None
    fitting = (x for x in inputs if x.is_floating_point() and x.shape == output.shape)
    return next(fitting, None)


def is_norm(module: nn.Module) -> bool:
    """Return whether the module normalises, by its class's name."""
    return "norm" in type(module).__name__.lower() and not list(module.children())


def _same(value: Tensor, *_others: object, **_options: object) -> Tensor:
    return value


def _leave(_module: nn.Module) -> None:
    return None


@contextlib.contextmanager
def _without_functions() -> Generator[None]:
    """Let torch's normalising functions return what they are given."""
    kept = {name: getattr(F, name) for name in _FUNCTIONS if hasattr(F, name)}
    try:
        for name in kept:
            setattr(F, name, _same)
        yield
    finally:
        for name, original in kept.items():
            setattr(F, name, original)


class _PutBack:
    """Gives a model's parameters the values they had before they were shaken, by name."""

    def __init__(self, values: dict[str, Tensor]) -> None:
        self.values = values

    def __call__(self, module: nn.Module) -> None:
        members = dict(module.named_parameters()) | dict(module.named_buffers())
        if self.values.keys() <= members.keys():
            load(module, self.values)


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
    if leaf.numel() == 0:
        return leaf
    changed = leaf.clone().reshape(-1)
    count = max(1, int(NOISE_SHARE * leaf.numel()))
    places = torch.randint(leaf.numel(), (count,), generator=generator).to(leaf.device)
    if not leaf.is_floating_point():
        taken = torch.randint(leaf.numel(), (count,), generator=generator).to(leaf.device)
        changed[places] = changed[taken]
        return changed.view_as(leaf)
    kept = leaf[torch.isfinite(leaf)]
    spread = float(kept.std()) if kept.numel() > 1 else 1.0
    noise = torch.randn(count, generator=generator, dtype=torch.float64).to(leaf.device)
    changed[places] = float(kept.mean() if kept.numel() else 0.0) + noise * spread
    return changed.view_as(leaf)
