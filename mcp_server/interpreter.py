"""The interpreter that judge and workers run under: found, asked, and what it needs to read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mcp_server.errors import NoInterpreter, NoSuchInterpreter

_QUESTION = """
import importlib.util, json, sys, sysconfig
spec = importlib.util.find_spec("torch")
triton = importlib.util.find_spec("triton")
print(json.dumps({"executable": sys.executable, "version": list(sys.version_info[:3]), "prefix": sys.prefix,
    "base_prefix": sys.base_prefix, "path": sys.path, "stdlib": sysconfig.get_paths()["stdlib"],
    "torch": spec.origin if spec else None, "triton": triton.origin if triton else None}))
"""
_ANSWER_LIMIT_S = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What is known of an interpreter without importing torch in it."""

    executable: str
    version: tuple[int, int, int]
    torch: str
    """Version of its torch, as written in its files."""
    cuda: str | None
    """CUDA version of that torch; None for a CPU build."""
    has_triton: bool
    reads: tuple[str, ...]
    """Folders and files a process of this interpreter must be able to read."""


def find(env: str | None) -> Interpreter:
    """Return the interpreter of an environment's folder, of a path, or our own.

    Raises:
        NoInterpreter: nothing there runs, it is too old, or it has no torch.
    """
    return _ask(_executable(env))


def check_name(env: str | None) -> None:
    """Refuse what names no interpreter; nothing is run.

    Raises:
        NoSuchInterpreter: it is neither an environment's folder nor a program.
    """
    _executable(env)


def _executable(env: str | None) -> str:
    if env is None:
        return sys.executable
    path = Path(env).expanduser()
    for candidate in (path / "bin" / "python", path):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
    found = shutil.which(env)
    if found:
        return found
    raise NoSuchInterpreter(
        f"{env!r} is neither an environment's folder nor an interpreter: give the folder that holds bin/python."
    )


@lru_cache(maxsize=8)
def _ask(executable: str) -> Interpreter:
    try:
        done = subprocess.run(
            [executable, "-I", "-B", "-c", _QUESTION],
            capture_output=True,
            timeout=_ANSWER_LIMIT_S,
            check=True,
        )
        facts = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise NoInterpreter(
            f"{executable} does not answer as a Python interpreter: check --python."
        ) from error
    return _described(executable, facts)


def _described(executable: str, facts: dict[str, object]) -> Interpreter:
    version = facts["version"]
    assert isinstance(version, list)
    numbers = tuple(int(str(n)) for n in version)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- JSON
    if numbers < (3, 10):
        raise NoInterpreter(
            f"{executable} is Python {numbers[0]}.{numbers[1]}: judge and workers need 3.10 or newer."
        )
    if not isinstance(facts["torch"], str):
        raise NoInterpreter(
            f"{executable} has no torch: install torch there, or give --python an environment that has it."
        )
    torch, cuda = _torch_version(Path(facts["torch"]).parent)
    return Interpreter(
        executable=executable,
        version=(numbers[0], numbers[1], numbers[2]),
        torch=torch,
        cuda=cuda,
        has_triton=facts["triton"] is not None,
        reads=_reads(executable, facts),
    )


def _torch_version(package: Path) -> tuple[str, str | None]:
    try:
        text = (package / "version.py").read_text(encoding="utf-8")
    except OSError:
        return "unknown", None
    version = re.search(r"^__version__[^=\n]*= *['\"]([^'\"]+)", text, re.M)
    cuda = re.search(r"^cuda[^=\n]*= *['\"]([^'\"]+)", text, re.M)
    return (version[1] if version else "unknown"), (cuda[1] if cuda else None)


def _reads(executable: str, facts: dict[str, object]) -> tuple[str, ...]:
    paths = [str(facts["prefix"]), str(facts["base_prefix"]), str(facts["stdlib"])]
    search = facts["path"]
    assert isinstance(search, list)
    paths += [str(p) for p in search if Path(str(p)).name.endswith("-packages")]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- JSON
    paths += _links(executable)
    refused = {"/", str(Path.home()), "/home", "/root", "/tmp"}  # noqa: S108 -- named to be refused
    kept = dict.fromkeys(p for p in paths if p not in refused and Path(p).exists())
    return tuple(kept)


def _links(executable: str) -> list[str]:
    """Every hop from a link to the program: each must exist inside the sandbox too."""
    hops: list[str] = []
    path = Path(executable)
    while path.is_symlink() and len(hops) < 16:
        target = path.readlink()
        path = target if target.is_absolute() else path.parent / target
        hops.append(os.path.normpath(path))
    return hops
