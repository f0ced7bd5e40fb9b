"""The whole environment of a judge or worker: built from nothing, since a server may hold its starter's keys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server import machine

if TYPE_CHECKING:
    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device

BUILD = "build"
"""The folder inside scratch that later workers of the same candidate get a copy of."""


def environment(
    interpreter: Interpreter, device: Device, scratch: str, *, touches_gpu: bool
) -> dict[str, str]:
    """Return every variable a child gets.

    Args:
        interpreter: the user's.
        device: where it runs.
        scratch: its private folder, as it sees it.
        touches_gpu: whether it may see the GPU.
    """
    build = f"{scratch}/{BUILD}"
    toolkit = machine.cuda_home()
    values = {
        "PATH": _path(interpreter, toolkit),
        "LANG": "C.UTF-8",
        "USER": "candidate",
        "HOME": scratch,
        "TMPDIR": f"{scratch}/tmp",  # noqa: S108 -- its own
        "TORCH_EXTENSIONS_DIR": f"{build}/extensions",
        "TRITON_CACHE_DIR": f"{build}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{build}/inductor",
        "MAX_JOBS": str(build_jobs()),
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "TORCH_NO_COMPILER_WRAPPER": "1",
        "KINETO_LOG_LEVEL": "99",  # a profiler tells of itself on stderr, which is the candidate's
        "CUDA_VISIBLE_DEVICES": device.uuid if device.is_gpu and touches_gpu else "",
        # A pool of threads that spins for milliseconds after its work takes the machine from whoever is asked next.
        "GOMP_SPINCOUNT": "10000",
        "KMP_BLOCKTIME": "0",
    }
    if toolkit:
        values["CUDA_HOME"] = toolkit
    if device.is_gpu:
        values["TORCH_CUDA_ARCH_LIST"] = _architecture(device)
        values["OMP_NUM_THREADS"] = str(
            max(2, machine.cores() // 4)
        )  # several judges share the cores
    else:
        values["OMP_NUM_THREADS"] = str(machine.threads())
    return values


def build_jobs() -> int:
    """Return how many compilers may run at once: build cores, and 3 GB of memory for each."""
    cores = max(1, machine.cores() - 2)
    return max(1, min(cores, machine.memory_bytes() // 3_000_000_000))


def _path(interpreter: Interpreter, toolkit: str | None) -> str:
    folders = [str(Path(interpreter.executable).parent)]
    folders += [f"{toolkit}/bin"] if toolkit else []
    folders += ["/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(folders))


_ARCHITECTURES = (
    (("H100", "H200", "H800", "GH200"), "9.0a"),
    (("B200", "B100", "GB200"), "10.0a"),
    (("L4", "L40", "RTX 40"), "8.9"),
    (("A100", "A800", "A30"), "8.0"),
    (("A10", "A40", "A6000", "RTX 30"), "8.6"),
    (("V100",), "7.0"),
    (("T4",), "7.5"),
)


def _architecture(device: Device) -> str:
    """Return the compute capability by the model's name; Hopper where it is unknown."""
    for names, capability in _ARCHITECTURES:
        if any(name in device.title for name in names):
            return capability
    return "9.0a"
