# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The least a task can take on a device: every byte moved once, its products at the fastest measured rate.

An honest candidate may go below it where algebra saves work; then a reader should look.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from mcp_server.worker.program import seed_all

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.facts import Facts
    from mcp_server.judge.state import TaskState

NEAR = 0.4
"""From this part of the floor's speed on, the larger of the two times is what holds a candidate back."""
PACKED = {"fp32": 1.0, "tf32_fp16": 0.5, "bf16": 0.5, "coarser": 0.25}
"""What weights shrink to where they are packed once for a precision class; inputs and outputs keep their dtype."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a task asks of a device."""

    flops: float
    """Of products and convolutions; a multiply-add counts two, elementwise work nothing."""
    io_bytes: int
    """Inputs and outputs, each once."""
    weight_bytes: int

    def bytes_moved(self, precision_class: str) -> float:
        """Return the bytes that must move, weights packed as the class allows."""
        return self.io_bytes + PACKED.get(precision_class, 1.0) * self.weight_bytes


@dataclass(frozen=True, slots=True)
class Floor:
    """The two times of a task on a device, in milliseconds."""

    memory_ms: float
    compute_ms: float

    @property
    def ms(self) -> float:
        """The larger: nothing takes less."""
        return max(self.memory_ms, self.compute_ms)

    @property
    def side(self) -> str:
        """Which of the two it is."""
        return "memory" if self.memory_ms >= self.compute_ms else "compute"


def cost_of(state: TaskState) -> Cost:
    """Return what the task asks of a device, from one counted forward pass."""
    first = next(iter(state.entries.kept)).draw
    given = sum(_size(x) for x in first.leaves) + sum(_size(x) for x in state.like.leaves)
    weights = sum(_size(x) for x in state.reference.weights.values())
    return Cost(_flops(state), given, weights)


def floor_of(cost: Cost, facts: Facts, precision_class: str) -> Floor:
    """Return the least time of a task in a precision class."""
    rate = facts.matrix_rate(precision_class)
    compute_s = cost.flops / rate if rate else 0.0
    return Floor(cost.bytes_moved(precision_class) / facts.bandwidth * 1e3, compute_s * 1e3)


def floors_of(cost: Cost, facts: Facts) -> dict[str, dict[str, float]]:
    """Return the two times of every precision class, as plain data."""
    return {name: asdict(floor_of(cost, facts, name)) for name in PACKED}


def fields(floor: Floor, runtime_ms: float, *, launch_bound: bool | None) -> dict[str, Any]:
    """Return the verdict's fields: the floor, how near the candidate is to it, what holds it back."""
    ratio = floor.ms / runtime_ms
    near = floor.side if ratio > NEAR else "unknown"
    return {
        "floor_ms": floor.ms,
        "roofline_ratio": ratio,
        "bound": "launch" if launch_bound else near,
    }


def _flops(state: TaskState) -> float:
    draw = next(iter(state.entries.kept)).draw
    try:
        model = state.reference.fresh()
        arguments = draw.arguments(state.task.device)
        seed_all(draw.seed)
        with torch.no_grad(), FlopCounterMode(display=False) as counted:
            _ = model(**arguments) if isinstance(arguments, dict) else model(*arguments)
        return float(counted.get_total_flops())
    except Exception:  # noqa: BLE001  the task's own code under a counter it does not expect; then only bytes count
        return 0.0


def _size(value: Tensor) -> int:
    return value.numel() * value.element_size()
