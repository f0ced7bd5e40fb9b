# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false
"""What a device can do at most, measured once: bandwidths, dense matrix rates, what a launch costs.

The floors of every verdict come from here. The best of several repeats counts: a floor is what nothing goes below.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge import hardware
from mcp_server.judge.station import cache_bytes
from mcp_server.judge.worker_link import worker_threads
from mcp_server.worker.program import set_tf32

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
"""Of the measurement: kept facts of another one are measured again."""
REPEATS_S = 0.12
"""How long one thing is repeated, at least three times."""
CLASS_RATES = {
    "fp32": ("fp32",),
    "tf32_fp16": ("fp32", "tf32", "fp16"),
    "bf16": ("fp32", "tf32", "fp16", "bf16"),
    "coarser": ("fp32", "tf32", "fp16", "bf16", "fp8"),
}
"""Matrix rates that an answer of a precision class may use."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured of one device; rates in bytes or operations per second."""

    device: str
    copy_bytes_per_s: float
    """Bytes read and written by a plain copy."""
    read_bytes_per_s: float
    write_bytes_per_s: float
    matrix_flops_per_s: dict[str, float] = field(default_factory=dict[str, float])
    """Of a large dense product, by dtype: fp32, tf32, fp16, bf16, fp8 where they run; a multiply-add counts two."""
    launch_us: float = 0.0
    """What queueing one more small operation costs the host."""
    launch_sync_us: float = 0.0
    """One small operation, waited for."""
    graph_node_us: float | None = None
    """One small kernel in a replayed CUDA graph; None on a CPU."""
    cache_bytes: int = 0
    """Last cache: L2 on a GPU."""
    shared_bytes: int | None = None
    """Shared memory that one block may have; None on a CPU."""
    multiprocessors: int | None = None
    capability: str | None = None
    memory_bytes: int | None = None
    threads: int | None = None
    """Threads each side of a measurement has; None on a GPU."""
    version: int = VERSION

    @property
    def bandwidth(self) -> float:
        """Bytes per second that nothing exceeds."""
        return max(self.copy_bytes_per_s, self.read_bytes_per_s, self.write_bytes_per_s)

    def matrix_rate(self, precision_class: str) -> float | None:
        """Return the fastest matrix rate that answers of a precision class may use; None if none was measured."""
        names = CLASS_RATES.get(precision_class, CLASS_RATES["coarser"])
        return max((self.matrix_flops_per_s.get(n, 0.0) for n in names), default=0.0) or None

    def to_json(self) -> dict[str, Any]:
        """Return the record to keep."""
        return asdict(self)


def from_json(record: object) -> Facts | None:
    """Return kept facts; None where they are of another version or damaged."""
    try:
        found = Facts(**record)  # pyright: ignore[reportCallIssue] -- JSON
    except TypeError:
        return None
    return found if found.version == VERSION and found.copy_bytes_per_s > 0 else None


def measure(device: str) -> Facts:
    """Measure a device; about a second on a CPU, two or three on a GPU."""
    threads = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(worker_threads())
    try:
        return _cpu() if device == "cpu" else _gpu(device)
    finally:
        torch.set_num_threads(threads)
        set_tf32(False)
        if device != "cpu":
            torch.cuda.empty_cache()


def _cpu() -> Facts:
    copy, read, write = _bandwidths("cpu", max(64 * 1024**2, 4 * cache_bytes("cpu")))
    small = torch.ones(8)
    cost_us = _best(lambda: small.add_(1.0), "cpu", inner=200) * 1e6
    return Facts(
        device=hardware.cpu_name(),
        copy_bytes_per_s=copy,
        read_bytes_per_s=read,
        write_bytes_per_s=write,
        matrix_flops_per_s=_matrix_rates("cpu", 768),
        launch_us=cost_us,
        launch_sync_us=cost_us,
        cache_bytes=cache_bytes("cpu"),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        threads=worker_threads(),
    )


def _gpu(device: str) -> Facts:
    properties = torch.cuda.get_device_properties(device)
    copy, read, write = _bandwidths(device, 1024**3)
    launch_us, sync_us, node_us = _launches(device)
    return Facts(
        device=properties.name,
        copy_bytes_per_s=copy,
        read_bytes_per_s=read,
        write_bytes_per_s=write,
        matrix_flops_per_s=_matrix_rates(device, 8192),
        launch_us=launch_us,
        launch_sync_us=sync_us,
        graph_node_us=node_us,
        cache_bytes=cache_bytes(device),
        shared_bytes=getattr(properties, "shared_memory_per_block_optin", None),
        multiprocessors=properties.multi_processor_count,
        capability=f"{properties.major}.{properties.minor}",
        memory_bytes=properties.total_memory,
    )


def _best(act: Callable[[], object], device: str, inner: int = 1) -> float:
    """Return the least seconds that one act took, `inner` of them at a time between synchronisations."""
    act()
    _wait(device)
    took: list[float] = []
    began = monotonic()
    while len(took) < 3 or (monotonic() - began < REPEATS_S and len(took) < 200):
        at = perf_counter()
        for _ in range(inner):
            act()
        _wait(device)
        took.append((perf_counter() - at) / inner)
    return min(took)


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize(device)


def _bandwidths(device: str, size: int) -> tuple[float, float, float]:
    """Return bytes per second of copying, reading and writing `size` bytes."""
    source = torch.ones(size // 4, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    inner = 1 if device == "cpu" else 4
    copy_s = _best(lambda: target.copy_(source), device, inner)
    read_s = _best(source.sum, device, inner)
    write_s = _best(lambda: target.fill_(1.0), device, inner)
    return 2 * size / copy_s, size / read_s, size / write_s


def _matrix_rates(device: str, size: int) -> dict[str, float]:
    """Return operations per second of a square product, by dtype; dtypes that do not run here are left out."""
    found: dict[str, float] = {}
    for name, make in _PRODUCTS.items():
        if device == "cpu" and name in ("tf32", "fp8"):
            continue
        side = size // 2 if name in _SMALLER[device == "cpu"] else size
        try:
            found[name] = 2 * side**3 / _best(make(device, side), device, 1 + 3 * (device != "cpu"))
        except (RuntimeError, AttributeError, TypeError):
            continue  # this torch or this device has no such product
        finally:
            set_tf32(False)
    return found


_SMALLER = {True: ("fp16",), False: ("fp32",)}
"""Products that are slow on a CPU (True) or a GPU (False): half the side says as much."""


def _product(dtype: torch.dtype, *, tf32: bool = False) -> Callable[[str, int], Callable[[], Any]]:
    def make(device: str, size: int) -> Callable[[], Any]:
        set_tf32(tf32)
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)

    return make


def _fp8(device: str, size: int) -> Callable[[], Any]:
    a = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
    b = torch.randn(size, size, device=device).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


_PRODUCTS: dict[str, Callable[[str, int], Callable[[], Any]]] = {
    "fp32": _product(torch.float32),
    "tf32": _product(torch.float32, tf32=True),
    "fp16": _product(torch.float16),
    "bf16": _product(torch.bfloat16),
    "fp8": _fp8,
}


def _launches(device: str) -> tuple[float, float, float | None]:
    """Return microseconds of queueing a small kernel, of launching one and waiting, of one in a graph."""
    small = torch.ones(256, device=device)
    queued: list[float] = []
    for _ in range(20):
        _wait(device)
        at = perf_counter()
        for _ in range(200):
            small.add_(1.0)
        queued.append((perf_counter() - at) / 200)
        _wait(device)
    waited_s = _best(lambda: small.add_(1.0), device)
    return min(queued) * 1e6, waited_s * 1e6, _graph_node_us(small, device)


def _graph_node_us(small: torch.Tensor, device: str, nodes: int = 500) -> float | None:
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(nodes):
                small.add_(1.0)
        return _best(graph.replay, device) / nodes * 1e6
    except RuntimeError:
        return None
