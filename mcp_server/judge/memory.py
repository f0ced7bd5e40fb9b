# pyright: reportUnknownMemberType=false
"""Whose fault it is that memory was short: where others hold it, neither a task's nor a candidate's."""

from __future__ import annotations

from pathlib import Path

import torch

from mcp_server.judge.faults import Fault

_GIB = 2**30
OTHERS_SHARE = 0.1
"""Of a GPU's memory: what others hold beyond it is missed by whoever ran out."""
FREE_SHARE = 0.1
"""Of a host's memory: with less available it is the host that is short."""
_SAID = ("out of memory", "can't allocate memory", "Cannot allocate memory")


def ran_out(error: BaseException) -> bool:
    """Return whether an error says that there was no memory left."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return any(words in str(error) for words in _SAID)


def crowded(error: BaseException, device: str) -> Fault | None:
    """Return the fault of memory that ran out because others hold it; None where nobody else is to blame.

    Asked once what was ours is given back: what this process holds counts as ours, all else as others'.
    """
    if not ran_out(error):
        return None
    if device != "cpu" and (words := _of_gpu(device)):
        return Fault("infra_error", "neighbour_on_gpu", words)
    words = _of_host()
    return Fault("infra_error", "worker_lost", words) if words else None


def refuse_crowded(error: BaseException, device: str) -> None:
    """Raise if memory ran out because others hold it.

    Raises:
        Fault: `neighbour_on_gpu`, or `worker_lost` for the host's memory.
    """
    fault = crowded(error, device)
    if fault is not None:
        raise fault


def _of_gpu(device: str) -> str:
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(device)
    others = total - free - torch.cuda.memory_reserved(device)
    if others <= OTHERS_SHARE * total:
        return ""
    return (
        f"Memory ran out while other processes held {others / _GIB:.1f} of the GPU's "
        f"{total / _GIB:.1f} GiB: it is tried again; let fewer searches share the GPU."
    )


def _of_host() -> str:
    known = _host()
    total, available = known.get("MemTotal", 0), known.get("MemAvailable", 0)
    if not total or available >= FREE_SHARE * total:
        return ""
    return (
        f"Memory ran out with {available / _GIB:.1f} of the machine's {total / _GIB:.1f} GiB left: "
        "it is tried again; let fewer searches share the machine."
    )


def _host() -> dict[str, int]:
    """Return the bytes of each line of /proc/meminfo; empty where there is none."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        rows = (line.split(":", 1) for line in lines)
        return {name: int(value.split()[0]) * 1024 for name, value in rows}
    except (OSError, ValueError, IndexError):
        return {}
