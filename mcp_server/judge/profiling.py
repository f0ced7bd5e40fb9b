# pyright: reportUnknownVariableType=false
"""Where a model's time goes: the worker's table of kernels, sorted by whose they are. Never part of a verdict.

| kind | kernels |
| --- | --- |
| own | named in the candidate's source, or of no known origin |
| library | cuBLAS, cuDNN, CUTLASS and their kin; oneDNN and MKL products on a CPU |
| framework | PyTorch's own, and what torch.compile wrote |
| outside | on a CPU: time in no operation of PyTorch: Python, and code reached without it |
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_server.judge.station import Station

CALLS_S = 0.3
"""About how long the profiled calls take."""
MOST_CALLS = 20
_LIBRARY = re.compile(
    r"cublas|cudnn|cutlass|cute::|nvjet|xmma|gemm|gemv|flash_|fmha|pytorch_flash|cusparse|cufft|nccl"
    r"|^sm\d\d_|^ampere_|^volta_|^turing_|^hopper_|implicit_con|winograd|mkldnn|mkl_|onednn"
    r"|^aten::(addmm|mm|bmm|baddbmm|_?conv\w*|_?scaled_dot_product\w*)$",
    re.IGNORECASE,
)
_FRAMEWORK = re.compile(
    r"at::|^aten::|^triton_|^Mem(?:cpy|set)|^cuda[A-Z]|^inductor|^torch::|c10::"
)
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_OUTSIDE = "outside PyTorch's operations"


def examine(station: Station, slot: str, source: str, deadline_s: float) -> dict[str, Any]:
    """Return a call's kernels, costliest first, what the device waits, and whose the time is.

    Times are microseconds of one call, shares of the time spent in kernels; all of it is the worker's word.
    """
    calls = max(2, min(MOST_CALLS, int(CALLS_S / max(1e-4, station.state.forward_s))))
    table = station.profile(slot, calls, deadline_s)
    on_gpu = station.state.task.device != "cpu"
    return profile_of(table, source, on_gpu=on_gpu)


def profile_of(table: dict[str, Any], source: str, *, on_gpu: bool) -> dict[str, Any]:
    """Return the profile in a worker's table; what makes no sense in it is left out."""
    calls = max(1, int(_number(table.get("calls")) or 1))
    wall_us, span_us = _number(table.get("wall_us")), _number(table.get("span_us"))
    rows = [row for row in map(_row, _list(table.get("rows"))) if row is not None]
    busy_us = sum(took_us for _, _, took_us in rows) / calls
    if not on_gpu and span_us > busy_us:
        rows.append((_OUTSIDE, calls, (span_us - busy_us) * calls))
        busy_us = span_us
    kernels = sorted(
        (_kernel(row, calls, busy_us, source) for row in rows), key=lambda one: -one["us"]
    )
    seen = on_gpu and bool(rows)
    idle = max(0.0, 1 - busy_us / wall_us) if seen and wall_us > 0 else None
    return {
        "calls": calls,
        "wall_us": wall_us,
        "busy_us": busy_us,
        "idle_share_ratio": idle,
        "launches_per_call": sum(count for _, count, _ in rows) / calls if seen else None,
        "kernels": kernels,
        "do_bench_ms": _number(table.get("do_bench_ms")) or None,
        **shares(kernels),
    }


def shares(kernels: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Return which part of the time is the candidate's own, a library's, the framework's."""
    found: dict[str, float] = {"own": 0.0, "library": 0.0, "framework": 0.0}
    for one in kernels:
        found[str(one["kind"]) if one["kind"] in found else "own"] += float(one["share_ratio"])
    return {f"{kind}_share_ratio": min(1.0, share) for kind, share in found.items()}


def kind_of(name: str, source: str) -> str:
    """Return whose a kernel is."""
    if name == _OUTSIDE:
        return "outside"
    if not name.startswith(("triton_", "aten::")) and _is_named(name, source):
        return "own"
    if _FRAMEWORK.search(name) and not _LIBRARY.search(name):
        return "framework"
    return "library" if _LIBRARY.search(name) else "own"


def _is_named(name: str, source: str) -> bool:
    """Return whether the candidate's source defines the kernel: its last plain word is a name there."""
    words = _NAME.findall(name.split("(")[0].split("<")[0])
    if not words:
        return False
    word = re.escape(words[-1])
    return re.search(rf"(def|void|__global__[^;{{]*?)\s+{word}\s*\(", source) is not None


def _kernel(row: tuple[str, int, float], calls: int, busy_us: float, source: str) -> dict[str, Any]:
    name, count, took_us = row
    us = took_us / calls
    return {
        "name": name,
        "calls": count / calls,
        "us": us,
        "share_ratio": us / busy_us if busy_us > 0 else 0.0,
        "kind": kind_of(name, source),
    }


def _row(row: object) -> tuple[str, int, float] | None:
    match row:
        case [str(name), int(count), int(took_us) | float(took_us)] if math.isfinite(took_us):
            return name, max(1, count), max(0.0, float(took_us))
        case _:
            return None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return max(0.0, float(value))
