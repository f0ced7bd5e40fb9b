"""Layers around untrusted code: the command line that puts a program inside them.

| level | what holds |
| --- | --- |
| `bwrap` | own namespaces, no network, no home, nothing writable but scratch; limits |
| `landlock` | the same without bubblewrap, but for sockets by path and, where /proc is masked, the sight of others |
| `process` | limits, a clean environment and an own process group only |

Whether a level works here is found out by effect, in probes.py.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mcp_server import machine, watch

if TYPE_CHECKING:
    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device

Level = Literal["bwrap", "landlock", "process"]
Wanted = Literal["strict", "best-effort", "bwrap", "landlock", "process"]

PACKAGE = Path(__file__).parent
ENTER = PACKAGE / "enter.py"
FENCE = PACKAGE / "fence.py"
SCRATCH = "/scratch"
"""Where a process under `bwrap` finds its scratch; equal for all, so that copied builds stay valid."""
MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE
_TMP_BYTES = 1 * GIBIBYTE
_SHM_BYTES = 4 * GIBIBYTE
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/sys")
_PLAIN_NODES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may use."""

    memory_bytes: int = field(
        default_factory=lambda: min(32 * GIBIBYTE, machine.memory_bytes() * 6 // 10)
    )
    """Of its tree of processes, and of one process's data."""
    address_bytes: int = 64 * GIBIBYTE
    """0 for no limit."""
    filtered: bool = True
    """Whether system calls are refused that pry open other processes or the kernel; not at the level `process`."""
    file_bytes: int = 2 * GIBIBYTE
    scratch_bytes: int = 4 * GIBIBYTE
    """Of all files in scratch together."""
    open_files: int = 1024
    processes: int = 512
    output_bytes: int = 16 * MEBIBYTE
    """Printed; past it the child is killed."""
    kept_bytes: int = 256 * 1024
    """Of each stream, the last."""


def of_judge(limits: Limits) -> Limits:
    """Return what a judge may use: it is ours, and keeps inputs and right answers of whatever size a task has."""
    most = machine.memory_bytes() * 6 // 10
    address = max(limits.address_bytes, 2 * most) if limits.address_bytes else 0
    return replace(limits, memory_bytes=max(limits.memory_bytes, most), address_bytes=address)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A level that passed its probes, with what is known to be missing in it."""

    level: Level
    interpreter: Interpreter
    device: Device
    missing: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def scratch_seen(self, scratch: Path) -> str:
        """Return the path by which the child knows its scratch."""
        return SCRATCH if self.level == "bwrap" else str(scratch)

    def command(
        self, program: list[str], scratch: Path, environment: dict[str, str], reads: tuple[str, ...]
    ) -> tuple[list[str], dict[str, str]]:
        """Return what to execute, and with which environment, to run a program inside.

        Args:
            program: what to run, by paths as the host sees them.
            scratch: the only folder it may write; on the host.
            environment: all of its environment.
            reads: files and folders of ours that it needs, beside the interpreter's.
        """
        if self.level == "process":
            inner = self._entered(program, os.getpid())
            return inner, environment
        seen = tuple(dict.fromkeys((*self.interpreter.reads, *reads, str(ENTER), *_tools())))
        if self.level == "landlock":
            return self._fenced(program, scratch, seen), environment
        arguments = [
            *_namespaces(),
            *(part for k, v in environment.items() for part in ("--setenv", k, v)),
            *_system(),
            *_devices(self.device),
            *_readable(seen),
            *("--bind", str(scratch), SCRATCH, "--chdir", SCRATCH),
            *("--remount-ro", "/"),
        ]
        return ["bwrap", *arguments, "--", *self._entered(program, 0)], {"PATH": os.defpath}

    def _fenced(self, program: list[str], scratch: Path, seen: tuple[str, ...]) -> list[str]:
        system = [path for path in _SYSTEM if Path(path).exists()]
        fence = {
            "read": [
                *system,
                *(f"/etc/{name}" for name in _ETC),
                *seen,
                str(PACKAGE / "__init__.py"),
            ],
            # Names alone: an import looks for a package in the folder that holds it.
            "list": [str(PACKAGE.parent)],
            "write": [str(scratch)],
            "nodes": [*_PLAIN_NODES, *self.device.nodes],
        }
        python = [self.interpreter.executable, "-I", "-S", "-B", str(FENCE)]
        return [*python, str(os.getpid()), json.dumps(fence), *self._entered(program, 0)]

    def _entered(self, program: list[str], parent: int) -> list[str]:
        limits = json.dumps(self._resource_limits())
        filtered = "1" if self.limits.filtered and self.level != "process" else "0"
        python = self.interpreter.executable
        return [python, "-I", "-S", "-B", str(ENTER), str(parent), limits, filtered, *program]

    def _resource_limits(self) -> dict[str, int]:
        limits = self.limits
        others = watch.threads_of_user(os.getuid()) if self.level == "process" else 0
        bounded = {"AS": limits.address_bytes} if limits.address_bytes else {}
        return bounded | {
            "DATA": limits.memory_bytes,
            "FSIZE": limits.file_bytes,
            "NOFILE": limits.open_files,
            "CORE": 0,
            "NPROC": limits.processes + others,
        }


@lru_cache(maxsize=1)
def bwrap_can_size() -> bool:
    """Return whether this bubblewrap can bound a tmpfs (from 0.7)."""
    import subprocess  # one question, rarely asked

    done = subprocess.run(["bwrap", "--help"], capture_output=True, check=False, timeout=10)
    return b"--size" in done.stdout + done.stderr


def _namespaces() -> list[str]:
    unshared = [f"--unshare-{name}" for name in ("user-try", "pid", "net", "ipc", "uts")]
    rest = ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [*unshared, *rest, "--clearenv"]


def _system() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    arguments += ["--perms", "0755", "--dir", "/etc"]
    for name in _ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys"]
    for folder, size in (("/tmp", _TMP_BYTES), ("/dev/shm", _SHM_BYTES)):  # noqa: S108 -- inside
        arguments += (["--size", str(size)] if bwrap_can_size() else []) + ["--tmpfs", folder]
    return arguments


def _devices(device: Device) -> list[str]:
    return [part for node in device.nodes for part in ("--dev-bind-try", node, node)]


def _readable(paths: tuple[str, ...]) -> list[str]:
    arguments: list[str] = []
    made: set[str] = {"/", "/usr", "/etc", "/tmp", "/dev", "/dev/shm", "/proc", "/sys"}  # noqa: S108
    for path in sorted(paths):
        others = tuple(p for p in paths if p != path)
        if path.startswith("/usr/") or _inside(path, others):
            continue
        for parent in reversed(Path(path).parents):
            if str(parent) not in made and not _inside(str(parent), paths):
                arguments += ["--perms", "0755", "--dir", str(parent)]
                made.add(str(parent))
        arguments += ["--ro-bind", path, path]
    return arguments


def _inside(path: str, bound: tuple[str, ...]) -> bool:
    return any(path == b or path.startswith(b + "/") for b in bound)


@lru_cache(maxsize=1)
def _tools() -> tuple[str, ...]:
    """Return the toolkits and compilers that lie outside /usr."""
    found: list[str] = []
    home = machine.cuda_home()
    if home and not home.startswith("/usr/"):
        found += [home, os.path.realpath(home)]
    for name in ("c++", "g++", "gcc", "ninja", "nvcc"):
        path = shutil.which(name)
        real = os.path.realpath(path) if path else ""
        if path and not real.startswith("/usr/") and not real.startswith(sys.prefix):
            found += [real]
    return tuple(found)
