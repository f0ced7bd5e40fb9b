"""Compiling: what later workers of the same candidate inherit, what the compiler said, and a cheaper way.

A candidate's import compiles it inside its own sandbox. Its build folder is a plain folder, copied with its times to
later workers of that candidate only: an equal copy is not built again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.to_thread

from mcp_server import folders
from mcp_server.environment import BUILD

if TYPE_CHECKING:
    from pathlib import Path

_ERROR = re.compile(r"(?:^|[\s:)])(?:fatal )?error\b", re.IGNORECASE)
_NOISE = re.compile(r"^(?:ninja: build stopped|FAILED:|\[\d+/\d+\]|Traceback|\s*File \"ENV)")
_REGISTERS = re.compile(r"Used (\d+) registers|\bREG:(\d+)")
_SPILLS = re.compile(r"(\d+) bytes spill stores|\bSTACK:(\d+)")
_ERRORS_SHOWN = 6
_LINES_PER_ERROR = 3
_ADVICE_FROM_S = 10.0


class Builds:
    """The kept build folders of one server, and those of baselines, which outlive it."""

    def __init__(self, workspace: Path, home: Path) -> None:
        self._workspace = workspace / "builds"
        self._home = home / "cache" / "baselines"

    async def restore(self, role: str, key: str, scratch: Path) -> bool:
        """Give a fresh worker what an earlier one of its key built; true if there was anything."""
        kept = self._folder(role, key)
        if not kept.is_dir():
            return False
        return await anyio.to_thread.run_sync(folders.copy, kept, scratch / BUILD) > 0

    async def keep(self, role: str, key: str, scratch: Path) -> None:
        """Keep what a worker built; call it once the worker is gone."""
        await anyio.to_thread.run_sync(folders.copy, scratch / BUILD, self._folder(role, key))

    def artifact_sha256(self, key: str) -> str | None:
        """Return the digest of a candidate's compiled objects, or None if it has none."""
        objects = sorted(_objects(self._folder("candidate", key)))
        if not objects:
            return None
        digest = hashlib.sha256()
        for path in objects:
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()

    def objects(self, key: str) -> list[Path]:
        """Return a candidate's compiled objects."""
        return sorted(_objects(self._folder("candidate", key)))

    def forget(self, key: str) -> None:
        """Remove a candidate's folder."""
        folders.remove(self._folder("candidate", key))

    def _folder(self, role: str, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()[:32]
        return (self._home if role == "baseline" else self._workspace) / name


def _objects(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    kinds = {".so", ".cubin", ".hsaco"}
    return [
        p for p in folder.rglob("*") if p.suffix in kinds and p.is_file() and not p.is_symlink()
    ]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a GPU program needs per thread."""

    registers_max: int | None
    spill_bytes: int | None


def usage(text: str) -> Usage:
    """Return the most registers and spilled bytes that ptxas or cuobjdump told of."""
    registers = [int(a or b) for a, b in _REGISTERS.findall(text)]
    spills = [int(a or b) for a, b in _SPILLS.findall(text)]
    return Usage(max(registers, default=None), max(spills, default=None))


def compiler_errors(log: str) -> str | None:
    """Return the first errors of a build's output, each with the author's lines that follow it."""
    lines = [line for line in log.splitlines() if not _NOISE.match(line)]
    shown: list[str] = []
    seen: set[str] = set()
    for number, line in enumerate(lines):
        if _ERROR.search(line) and line not in seen and len(seen) < _ERRORS_SHOWN:
            seen.add(line)
            shown += [x for x in lines[number : number + _LINES_PER_ERROR] if x not in shown]
    return "\n".join(shown) or None


def advice(source: str, build_s: float | None) -> str | None:
    """Return a cheaper way to build what took long, or None."""
    if build_s is None or build_s < _ADVICE_FROM_S:
        return None
    took = f"The build took {build_s:.0f} s. "
    if "torch/extension.h" in source:
        return took + (
            'Leave torch/extension.h out of the .cu; cheaper still: extern "C" functions over raw pointers, '
            "load_inline(..., no_implicit_headers=True, is_python_module=False) and ctypes: about 2 s."
        )
    if "load_inline" in source and "no_implicit_headers" not in source:
        return took + (
            "load_inline's implicit headers cost most of it: pass no_implicit_headers=True with "
            'extern "C" functions and ctypes, or include torch/library.h and single ATen/ops headers only.'
        )
    if "torch.compile" in source:
        return (
            took + "torch.compile's first call is part of it; a hand-written kernel builds faster."
        )
    return took + "Fewer templates and fewer headers build faster."
