# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The reference with calibrated weights, in any format.

Plain initial weights hide wrong answers: a fresh normalisation multiplies by one and adds nothing. So
one-dimensional parameters are shaken, constant matrices redrawn, and statistics taken from two varied draws.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from mcp_server.worker.program import (
    NoisyConstruction,
    cast_attributes,
    flat,
    in_format,
    pack,
    seed_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_server.judge.inputs import Draw
    from mcp_server.judge.task import Task


@dataclass(frozen=True, slots=True)
class Answer:
    """What one forward pass returned: its structure, and contiguous tensors on the model's device."""

    tree: dict[str, Any]
    leaves: list[Tensor]
    shares: list[str | None] = field(default_factory=list[str | None])
    """For each leaf `input N` or `parameter` where the reference returns that memory."""


def forward(model: nn.Module, arguments: Any, seed: int) -> Answer:
    """Run the model once, generators seeded, without gradients."""
    seed_all(seed)
    given: list[Tensor] = []
    pack(arguments, given)
    with torch.inference_mode():
        made: Any = model(**arguments) if isinstance(arguments, dict) else model(*arguments)
    leaves: list[Tensor] = []
    tree = pack(made, leaves)
    owners = {_storage(x): f"input {i}" for i, x in enumerate(given)}
    owners |= {_storage(x): "parameter" for x in (*model.parameters(), *model.buffers())}
    shares = [owners.get(_storage(x)) if x.numel() else None for x in leaves]
    if leaves and leaves[0].is_cuda:
        torch.cuda.synchronize()
    return Answer(tree, [x.detach().contiguous() for x in leaves], shares)


def _storage(value: Tensor) -> int:
    return value.untyped_storage().data_ptr()


class Reference:
    """The task's model with one set of secret weights."""

    def __init__(self, task: Task, seed: int, noise: int | None = None) -> None:
        self.task = task
        self.seed = seed
        self.noise = noise
        self.weights: dict[str, Tensor] = {}
        """Parameters and normalisation statistics by name; empty until calibrated."""
        self.calibrated = False

    def fresh(self, dtype: torch.dtype | None = None) -> nn.Module:
        """Return a new copy with these weights, in that dtype."""
        model = self._constructed()
        load(model, self.weights)
        if dtype is not None:
            model.to(dtype)
            cast_attributes(model, dtype)
        return model

    def _constructed(self) -> nn.Module:
        if self.noise is None:
            return self.task.construct(self.seed)
        with NoisyConstruction(self.noise).installed():
            return self.task.construct(self.seed)

    def in_format(self, cast: str | None, autocast: str | None) -> nn.Module:
        """Return a copy that runs in a lower precision, inputs and outputs as before."""
        return in_format(self.fresh(), cast, autocast, self.task.device)

    def keep_plain(self) -> None:
        """Take the weights as constructed."""
        self.weights = state_of(self._constructed())

    def defaults(self) -> dict[str, Tensor]:
        """Return by name the parameters and statistics that begin with one value throughout, as they begin.

        A candidate knows them without being told: where they still stand, leaving them out changes nothing.
        """
        plain = state_of(self.task.construct(self.seed))
        return {
            name: value
            for name, value in plain.items()
            if name in self.weights and value.numel() and bool((value == value.flatten()[0]).all())
        }

    def calibrate(self, draws: list[Draw], secret: int, strength: float = 1.0) -> None:
        """Shake the weights and take statistics from these draws; less where the strength is below one."""
        model = self._constructed()
        generator = torch.Generator().manual_seed(secret)
        with torch.no_grad():
            for parameter in model.parameters():
                _shake(parameter, generator, strength)
            for buffer in _statistics(model).values():
                buffer.copy_(_shaken_statistic(buffer, generator))
        with contextlib.suppress(Exception):
            self._take_statistics(model, draws)
        self.weights = state_of(model)
        self.calibrated = True

    def _take_statistics(self, model: nn.Module, draws: list[Draw]) -> None:
        kept = {name: value.clone() for name, value in _statistics(model).items()}
        if not kept:
            return
        norms: list[Any] = [
            module
            for module in model.modules()
            if isinstance(getattr(module, "running_mean", None), Tensor)
        ]
        momenta = [getattr(m, "momentum", None) for m in norms]
        try:
            for norm in norms:
                norm.train()
                norm.reset_running_stats()
                norm.momentum = None
            for draw in draws:
                seed_all(draw.seed)
                with torch.no_grad():
                    arguments = draw.arguments(self.task.device)
                    _ = model(**arguments) if isinstance(arguments, dict) else model(*arguments)
        except Exception:
            load(model, kept)
            raise
        finally:
            for norm, momentum in zip(norms, momenta, strict=True):
                norm.momentum = momentum
            model.eval()


def _shake(parameter: Tensor, generator: torch.Generator, strength: float) -> None:
    if not parameter.is_floating_point() or parameter.numel() == 0:
        return
    shape = tuple(parameter.shape)
    if parameter.ndim < 2:
        gain = 1 + strength * (torch.rand(shape, generator=generator) - 0.5)
        offset = torch.randn(shape, generator=generator) * 0.1 * strength
        parameter.copy_(parameter.cpu() * gain + offset)
    elif bool((parameter == parameter.flatten()[0]).all()):
        drawn = torch.randn(shape, generator=generator) / max(1, parameter[0].numel()) ** 0.5
        parameter.copy_(parameter.cpu() * (1 - strength) + drawn * strength)


def _shaken_statistic(buffer: Tensor, generator: torch.Generator) -> Tensor:
    """Return a plausible statistic, for where a training pass is impossible."""
    gain = torch.rand(tuple(buffer.shape), generator=generator) + 0.5
    offset = torch.randn(tuple(buffer.shape), generator=generator) * 0.1
    return (buffer.cpu() * gain + offset * (1 - buffer.cpu().clamp(0, 1))).to(buffer.device)


def _statistics(model: nn.Module) -> dict[str, Tensor]:
    ends = ("running_mean", "running_var")
    return {
        name: buffer
        for name, buffer in model.named_buffers()
        if name.rsplit(".", 1)[-1] in ends and buffer.is_floating_point()
    }


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """Return CPU copies of parameters and normalisation statistics by name."""
    named = dict(model.named_parameters()) | _statistics(model)
    return {name: flat_copy(value) for name, value in named.items()}


def flat_copy(value: Tensor) -> Tensor:
    """Return a contiguous copy on the CPU."""
    return flat(value.detach().cpu().contiguous()).clone().view(value.shape)


def load(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy weights into a model by name, in place."""
    targets = dict(model.named_parameters()) | dict(model.named_buffers())
    with torch.no_grad():
        for name, value in weights.items():
            targets[name].copy_(value)


def hooked(model: nn.Module, change: Callable[[nn.Module], None]) -> nn.Module:
    """Return the model after a change made to each of its modules."""
    for module in list(model.modules()):
        change(module)
    return model
