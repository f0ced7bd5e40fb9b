"""What this machine has: processors, memory, GPUs, toolkits; read from files, nothing imported or started."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.errors import NoSuchDevice

if TYPE_CHECKING:
    from mcp_server.interpreter import Interpreter

NAMES = r"auto|cpu|cuda|cuda:\d{1,2}"
"""What a device may be called."""
_GPUS = Path("/proc/driver/nvidia/gpus")
_DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True, slots=True)
class Device:
    """One place to run on."""

    name: str
    """`cpu` or `cuda:N`, as the user counts."""
    uuid: str
    """Of the GPU; `cpu` for the processor."""
    title: str
    """The model, for people."""
    nodes: tuple[str, ...] = ()
    """Device nodes its processes need."""

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.name != "cpu"


def cpu() -> Device:
    """Return the processor as a device."""
    return Device("cpu", "cpu", _cpu_title())


def gpus() -> list[Device]:
    """Return the NVIDIA GPUs whose nodes exist, in the order of their nodes; empty without a driver."""
    found: list[tuple[int, Device]] = []
    if _GPUS.is_dir():
        for folder in sorted(_GPUS.iterdir()):
            facts = _information(folder / "information")
            minor = facts.get("Device Minor", "")
            if minor.isdigit() and Path(f"/dev/nvidia{minor}").exists():
                found.append((int(minor), _gpu(int(minor), facts)))
    found.sort(key=lambda pair: pair[0])
    return [Device(f"cuda:{n}", gpu.uuid, gpu.title, gpu.nodes) for n, (_, gpu) in enumerate(found)]


def _gpu(minor: int, facts: dict[str, str]) -> Device:
    shared = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-caps"]
    nodes = (f"/dev/nvidia{minor}", *(n for n in shared if Path(n).exists()))
    return Device("", facts.get("GPU UUID", f"nvidia{minor}"), facts.get("Model", "GPU"), nodes)


def _information(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def driver() -> str | None:
    """Return the NVIDIA driver's version, or None without one."""
    try:
        words = _DRIVER.read_text(encoding="utf-8").split()
    except OSError:
        return None
    return next((w for w in words if w[:1].isdigit() and w.count(".") >= 1), None)


def check_name(device: str) -> None:
    """Refuse what names no device anywhere; whether it is here is seen when it is first used.

    Raises:
        NoSuchDevice: it is no such name.
    """
    if not re.fullmatch(NAMES, device):
        raise NoSuchDevice(f"{device!r} is no device: it may be auto, cpu, cuda or cuda:N.")


def resolve(device: str, interpreter: Interpreter) -> Device:
    """Return the device of a name: `auto`, `cpu`, `cuda`, `cuda:N`.

    Raises:
        NoSuchDevice: it is not here, or the interpreter's torch was built without CUDA.
    """
    if device == "cpu":
        return cpu()
    usable = gpus() if interpreter.cuda else []
    if device == "auto":
        return usable[0] if usable else cpu()
    wanted = "cuda:0" if device == "cuda" else device
    for gpu in usable:
        if gpu.name == wanted:
            return gpu
    raise NoSuchDevice(f"There is no device {device!r} here: {_why_not(interpreter, usable)}.")


def _why_not(interpreter: Interpreter, usable: list[Device]) -> str:
    if usable:
        return "use one of " + ", ".join(d.name for d in [*usable, cpu()])
    if gpus():
        return f"torch {interpreter.torch} was built without CUDA, use --python ENV or device cpu"
    return "no NVIDIA GPU was found, use device cpu"


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def threads() -> int:
    """Return the threads of each side of a measurement on the processor: cores - 2, at least 1."""
    return max(1, cores() - 2)


def memory_bytes() -> int:
    """Return the machine's memory, or the container's share where it is smaller."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(name).read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if text.isdigit():
            physical = min(physical, int(text))
    return physical


def cuda_home() -> str | None:
    """Return the CUDA toolkit's folder, or None."""
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if named and Path(named, "bin", "nvcc").exists():
        return named
    if Path("/usr/local/cuda/bin/nvcc").exists():
        return "/usr/local/cuda"
    compiler = shutil.which("nvcc")
    return str(Path(compiler).resolve().parents[1]) if compiler else None


def cpp_compiler() -> str | None:
    """Return the C++ compiler that builds would use, or None."""
    return shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++")


def _cpu_title() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return sys.platform
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, "CPU")
