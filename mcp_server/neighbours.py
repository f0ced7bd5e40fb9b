"""Who else computes on a GPU: processes that NVML lists and that are no judge or worker of any server of ours.

Inside some containers NVML names processes by numbers that mean nothing here: those are not counted, so silence proves
nothing.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIBRARY = "libnvidia-ml.so.1"
_MOST = 256
_OURS = ("mcp_server/judge/__main__.py", "mcp_server/worker/program.py", "mcp_server/cuda_probe.py")


class _Process(ctypes.Structure):
    """NVML's `nvmlProcessInfo_t`, as its third version of the call fills it."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used_bytes", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


def foreign(uuid: str) -> list[int]:
    """Return the processes of others that have a context on a GPU; empty where nobody can be asked."""
    return [pid for pid in _computing(uuid) if is_foreign(pid)]


def is_foreign(pid: int, proc: Path = Path("/proc")) -> bool:
    """Return whether a process is there and is none of ours."""
    try:
        words = (proc / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
    text = words.decode("utf-8", "replace").replace("\0", " ")
    return bool(text.strip()) and not any(ours in text for ours in _OURS)


def _computing(uuid: str) -> Iterable[int]:
    library = _nvml()
    if library is None:
        return []
    handle, count = ctypes.c_void_p(), ctypes.c_uint(_MOST)
    rows = (_Process * _MOST)()
    if library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)) != 0:
        return []
    asked = library.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), rows)
    return [rows[n].pid for n in range(min(count.value, _MOST))] if asked == 0 else []


@functools.lru_cache(maxsize=1)
def _nvml() -> Any:
    """Return NVML, ready to be asked; None without it."""
    try:
        library = ctypes.CDLL(_LIBRARY)
        ready = library.nvmlInit_v2() == 0 and library.nvmlDeviceGetComputeRunningProcesses_v3
    except (OSError, AttributeError):
        return None
    return library if ready else None
