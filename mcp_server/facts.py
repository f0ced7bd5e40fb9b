"""What a device can do at most, as a judge measured it: kept once per device, driver, torch and number of threads."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcp_server import kept, machine

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.interpreter import Interpreter
    from mcp_server.link import Message
    from mcp_server.machine import Device


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """What the facts of a device depend on."""

    uuid: str
    driver: str
    torch: str
    threads: int

    @property
    def name(self) -> str:
        """Return the file's stem."""
        words = f"{self.uuid}\n{self.driver}\n{self.torch}\n{self.threads}"
        return hashlib.sha256(words.encode()).hexdigest()[:32]


def key_of(device: Device, python: Interpreter) -> DeviceKey:
    """Return the key of a device under an interpreter, without starting anything."""
    driver = (machine.driver() or "") if device.is_gpu else ""
    return DeviceKey(device.uuid, driver, python.torch, 0 if device.is_gpu else machine.threads())


class KnownFacts:
    """The kept facts of a state folder; unreadable files count as absent."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "cache" / "facts"

    def get(self, key: DeviceKey) -> Message | None:
        """Return what is known of a device, or None."""
        found = kept.read(self._path(key))
        if found is None:
            return None
        was_busy = _number(found, BUSY) > 0
        found.pop(BUSY, None)
        return None if was_busy and not _busy(found) else found

    def put(self, key: DeviceKey, facts: Message) -> None:
        """Keep facts; a folder that cannot be written costs a measurement later, nothing else."""
        kept.write(self._path(key), {**facts, BUSY: 1} if _busy(facts) else facts)

    def _path(self, key: DeviceKey) -> Path:
        return self.folder / f"{key.name}.json"


BUSY = "measured_busy"
"""Marks kept facts of a processor that others were using: on a quiet machine they are measured again."""


def _busy(facts: Message) -> bool:
    """Return whether the facts are of a processor that more programs want just now than it has cores."""
    return facts.get("threads") is not None and os.getloadavg()[0] > machine.cores()


_RATES = ("copy", "read", "write")


def lines(facts: Message) -> list[str]:
    """Return the facts for people and prompts, one thing a line."""
    numbers = {name: _number(facts, f"{name}_bytes_per_s") for name in _RATES}
    speeds = ", ".join(f"{name} {_gigabytes(value)}" for name, value in numbers.items() if value)
    found = [f"memory: {speeds}"]
    products = facts.get("matrix_flops_per_s")
    if isinstance(products, dict):
        rates = cast("dict[str, float]", products)
        told = ", ".join(f"{name} {_teraflops(rate)}" for name, rate in rates.items())
        found.append(f"dense matrix products: {told}")
    return [*found, _launches(facts), *_sizes(facts)]


def _launches(facts: Message) -> str:
    queued, waited = _number(facts, "launch_us"), _number(facts, "launch_sync_us")
    if facts.get("threads") is not None:
        threads = f"{facts['threads']} thread{'' if facts['threads'] == 1 else 's'}"
        return f"one small operation: {queued:.1f} µs; each side of a measurement has {threads}"
    node = _number(facts, "graph_node_us")
    graph = f", {node:.1f} µs in a replayed CUDA graph" if node else ""
    return f"one launch: {queued:.1f} µs, launched and waited for {waited:.1f} µs{graph}"


def _sizes(facts: Message) -> list[str]:
    told = [
        f"{facts['multiprocessors']} multiprocessors" if facts.get("multiprocessors") else "",
        f"compute capability {facts['capability']}" if facts.get("capability") else "",
        f"last cache {_number(facts, 'cache_bytes') / 2**20:.0f} MiB",
        f"{_number(facts, 'shared_bytes') / 1024:.0f} KiB shared memory a block"
        if facts.get("shared_bytes")
        else "",
        f"{_number(facts, 'memory_bytes') / 2**30:.0f} GiB memory"
        if facts.get("memory_bytes")
        else "",
    ]
    return [", ".join(part for part in told if part)]


def _number(facts: Message, name: str) -> float:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _gigabytes(rate: float) -> str:
    return f"{rate / 1e12:.2f} TB/s" if rate >= 1e12 else f"{rate / 1e9:.0f} GB/s"


def _teraflops(rate: float) -> str:
    return f"{rate / 1e12:.0f} TFLOP/s" if rate >= 1e13 else f"{rate / 1e9:.0f} GFLOP/s"
