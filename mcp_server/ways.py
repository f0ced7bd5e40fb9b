"""The ways to write a kernel that this machine can build, cheapest first, with what each costs: for authors.

Seconds are of a small kernel built alone: docs/measurements/builds.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device


@dataclass(frozen=True, slots=True)
class _Way:
    text: str
    gpu_s: float | None
    """None where it is not for a GPU."""
    cpu_s: float | None
    compiler: bool = True
    since: tuple[int, int] = (0, 0)
    """The first torch that has it."""
    triton: bool = False


_WAYS = (
    _Way("CUDA C++ text compiled by torch.cuda._compile_kernel", 0.6, None, False, (2, 9)),
    _Way("Triton: @triton.jit", 1.2, None, compiler=False, triton=True),
    _Way(
        'extern "C" functions over raw pointers, load_inline(..., no_implicit_headers=True, '
        "is_python_module=False), called with ctypes", 1.8, 0.6,
    ),
    _Way("load_inline with torch's stable C headers (torch/csrc/stable)", 5.7, 1.7, since=(2, 11)),
    _Way("load_inline with torch/library.h and single ATen/ops headers", 19.0, 8.5),
    _Way("load_inline with torch/extension.h", 27.0, 27.0),
)  # fmt: skip


def lines(device: Device, python: Interpreter) -> list[str]:
    """Return the ways for a device under an interpreter, a sentence each; plain PyTorch is always one."""
    built = [f"{way.text}: about {seconds:g} s" for way, seconds in _here(device, python)]
    return [*built, "plain PyTorch, torch.compile among it: nothing to build"]


def _here(device: Device, python: Interpreter) -> Iterator[tuple[_Way, float]]:
    can_compile = machine.cpp_compiler() is not None
    if device.is_gpu:
        can_compile = can_compile and machine.cuda_home() is not None
    for way in _WAYS:
        seconds = way.gpu_s if device.is_gpu else way.cpu_s
        missing = (way.compiler and not can_compile) or (way.triton and not python.has_triton)
        if seconds is not None and not missing and _torch(python) >= way.since:
            yield way, seconds


def _torch(python: Interpreter) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", python.torch)
    return (int(match[1]), int(match[2])) if match else (0, 0)
