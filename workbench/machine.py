"""What the evaluator finds on this machine, and what follows for a session: its device, its languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.protocol import Language
from workbench import evaluator
from workbench.errors import CannotGoOn, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

NVRTC_SINCE = (2, 9)
"""The first torch with a compiler of kernels in its own process."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at."""

    name: str
    state: str
    """`ok`, `warning` or `missing`."""
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """All that was looked at."""

    rows: tuple[Row, ...]

    @property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that a session may run on: `cuda:0` ..; none where torch has no CUDA."""
        if not self.has_cuda_torch:
            return ()
        return tuple(row.name for row in self.rows if re.fullmatch(r"cuda:\d+", row.name))

    @property
    def has_cuda_torch(self) -> bool:
        """Whether the interpreter's torch was built for CUDA."""
        return "CUDA" in self.row("torch").found

    def row(self, name: str) -> Row:
        """Return a row; one that says `missing` where nothing was looked at."""
        return next((row for row in self.rows if row.name == name), Row(name, "missing", ""))

    def has(self, name: str) -> bool:
        """Return whether a thing is there."""
        return self.row(name).state == "ok"


ELSEWHERE = Machine(())
"""Nothing is known of a machine that is reached only over MCP."""
ON_ANY_GPU = (Language("triton", 1.2), Language("pytorch", None))
"""What torch for CUDA brings along."""


def look(python: str = "") -> Machine:
    """Ask the evaluator what this machine has.

    Raises:
        CannotGoOn: it does not answer.
    """
    rows = evaluator.machine(python)
    return Machine(
        tuple(Row(r["name"], r["state"], r["found"], r.get("remedy") or "") for r in rows)
    )


def check(found: Machine) -> None:
    """Refuse a machine that cannot evaluate anything.

    Raises:
        CannotGoOn: something without which nothing works is missing.
    """
    for row in found.rows:
        if row.state == "missing":
            told = [part.strip(". ") for part in (row.found, row.remedy) if part]
            raise CannotGoOn(f"{row.name}: {'; '.join(told)}.")


def check_sandbox(found: Machine, wanted: str) -> str:
    """Return what a person should know of the fence around candidates; empty where it is the strongest.

    Raises:
        CannotGoOn: it must be strict, and cannot be.
    """
    wall = found.row("sandbox bwrap")
    if wall.state == "ok":
        return ""
    why = f"{wall.found or 'bubblewrap was not found'}; {wall.remedy}".rstrip("; ")
    if wanted == "strict":
        raise CannotGoOn(
            f"--sandbox strict cannot hold here: {why}. Or give --sandbox best-effort."
        )
    level = "landlock" if found.row("sandbox landlock").state == "ok" else "process"
    return f"candidates run in the weaker sandbox `{level}`: {why}."


def device(found: Machine, wanted: str) -> str:
    """Return the device a session will run on, by its name: `auto` is the first GPU, else the CPU.

    Raises:
        WrongUsage: this machine has no such device.
    """
    if wanted == "auto":
        return found.gpus[0] if found.gpus else "cpu"
    name = "cuda:0" if wanted == "cuda" else wanted
    if name == "cpu" or name in found.gpus:
        return name
    there = ", ".join((*found.gpus, "cpu"))
    gpu = found.row("gpu")
    why = f" ({gpu.found}: {gpu.remedy})" if gpu.found else ""
    raise WrongUsage(f"there is no device {wanted!r} here{why}; --device may be: {there}.")


def languages(found: Machine, on: str) -> tuple[Language, ...]:
    """Return the ways to write a kernel that this machine can build for a device, cheapest first."""
    if found is ELSEWHERE and on != "cpu":
        return ON_ANY_GPU
    cuda = on != "cpu"
    ways: Sequence[tuple[bool, Language]] = (
        (cuda and _torch(found) >= NVRTC_SINCE, Language("nvrtc", 0.6)),
        (cuda and found.has("triton"), Language("triton", 1.2)),
        (_builds(found, cuda=cuda), Language("extern-c", 1.8 if cuda else 0.6)),
        (
            _builds(found, cuda=cuda) and _torch(found) >= (2, 11),
            Language("stable-abi", 5.7 if cuda else 1.7),
        ),
        (_builds(found, cuda=cuda), Language("torch-library", 19.0 if cuda else 8.5)),
        (_builds(found, cuda=cuda), Language("load-inline", 27.0)),
        (True, Language("pytorch", None)),
    )
    return tuple(language for there, language in ways if there)


def lacking(found: Machine, on: str) -> str:
    """Return what a person should know of kernels that cannot be built for a device here; empty if all can."""
    wanted = ("c++",) if on == "cpu" else ("c++", "nvcc")
    rows = [found.row(name) for name in wanted if not found.has(name)]
    told = [f"{row.found}; {row.remedy}".strip("; ") for row in rows if row.found or row.remedy]
    return f"some candidates cannot be built here: {'; '.join(told)}." if told else ""


def _builds(found: Machine, *, cuda: bool) -> bool:
    return found.has("c++") and (not cuda or found.has("nvcc"))


def _torch(found: Machine) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", found.row("torch").found)
    return (int(match[1]), int(match[2])) if match else (0, 0)
