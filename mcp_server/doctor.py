"""What this machine has for evaluating candidates, and what to do about what is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_server import container, interpreter, machine, probes
from mcp_server.errors import EvaluatorError, NoInterpreter, StateUnusable
from mcp_server.lease import Lease, shared_folder

if TYPE_CHECKING:
    from mcp_server.interpreter import Interpreter
    from mcp_server.probes import Finding
    from mcp_server.sandbox import Level
    from mcp_server.setting import Setting

State = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    remedy: str = ""


def main(setting: Setting, *, as_json: bool, output: Path | None = None) -> int:
    """Print what was found, and write the sandbox's table; 1 if something needed is missing.

    Raises:
        EvaluatorError: the table's file cannot be written, or there is no interpreter to try it with.
    """
    if output is not None:
        _write_table(output, setting)
    rows = examine(setting)
    if as_json:
        sys.stdout.write(json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    else:
        sys.stdout.writelines(_line(r) for r in rows)
    return 1 if any(r.state == "missing" for r in rows) else 0


def _write_table(path: Path, setting: Setting) -> None:
    from mcp_server import sandbox_table  # rarely asked for

    python = interpreter.find(setting.python)
    try:
        anyio.run(sandbox_table.write, path.expanduser(), python)
    except OSError as error:
        raise StateUnusable(
            f"{path} cannot be written ({error.strerror}): name another file."
        ) from error


def examine(setting: Setting) -> list[Row]:
    """Look at interpreter, devices, compilers, sandbox, leases and state folder."""
    rows: list[Row] = []
    python: Interpreter | None = None
    try:
        python = interpreter.find(setting.python)
        rows += _python_rows(python)
    except NoInterpreter as error:
        rows.append(
            Row("interpreter", "missing", str(error), "install torch, or give --python ENV")
        )
    rows += _device_rows(python)
    rows += _compiler_rows()
    if python is not None:
        rows += anyio.run(_sandbox_rows, python)
    return [*rows, _lease_row(), _home_row(setting.home)]


def _python_rows(python: Interpreter) -> list[Row]:
    version = ".".join(map(str, python.version))
    cuda = f"CUDA {python.cuda}" if python.cuda else "CPU only"
    rows = [
        Row("interpreter", "ok", f"{python.executable}, Python {version}"),
        Row("torch", "ok", f"{python.torch}, {cuda}"),
    ]
    if python.has_triton:
        rows.append(Row("triton", "ok", "found beside torch"))
    else:
        rows.append(Row("triton", "warning", "not found", "install triton for Triton kernels"))
    if not _has_byte_code(python):
        remedy = f"{python.executable} -m compileall -q the environment's packages: starts are twice as fast"
        rows.append(Row("byte code", "warning", "torch is not compiled to byte code", remedy))
    return rows


def _has_byte_code(python: Interpreter) -> bool:
    for folder in python.reads:
        for name in (
            Path(folder),
            Path(folder) / f"lib/python{python.version[0]}.{python.version[1]}/site-packages",
        ):
            if (name / "torch").is_dir():
                return (name / "torch" / "__pycache__").is_dir()
    return True


def _device_rows(python: Interpreter | None) -> list[Row]:
    processor = machine.cpu()
    rows = [Row("cpu", "ok", f"{processor.title}, {machine.cores()} cores")]
    gpus = machine.gpus()
    driver = machine.driver() or "unknown"
    rows += [Row(gpu.name, "ok", f"{gpu.title}, driver {driver}") for gpu in gpus]
    if not gpus:
        rows.append(Row("gpu", "warning", "no NVIDIA GPU", "candidates run on the CPU"))
    elif python is not None and python.cuda is None:
        rows.append(
            Row("gpu", "warning", "torch has no CUDA", "give --python ENV with a CUDA torch")
        )
    return rows


def _compiler_rows() -> list[Row]:
    compiler = machine.cpp_compiler()
    rows = [
        Row("c++", "ok", _version([compiler, "--version"]))
        if compiler
        else Row(
            "c++",
            "warning",
            "no C++ compiler",
            "install g++: load_inline and torch.compile need it",
        )
    ]
    home = machine.cuda_home()
    if home:
        rows.append(Row("nvcc", "ok", _version([f"{home}/bin/nvcc", "--version"])))
    elif machine.gpus():
        rows.append(Row("nvcc", "warning", "no CUDA toolkit", "install it, or set CUDA_HOME"))
    return rows


def _version(argv: list[str]) -> str:
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(argv, capture_output=True, timeout=20, check=False)
        text = done.stdout.decode("utf-8", "replace")
        release = re.search(r"release ([\d.]+)", text)
        return f"{argv[0]} {release[1]}" if release else text.splitlines()[0]
    return argv[0]


async def _sandbox_rows(python: Interpreter) -> list[Row]:
    levels: tuple[Level, ...] = ("bwrap", "landlock", "process")
    found = [await probes.probe(level, python, machine.cpu()) for level in levels]
    inside = container.kind()
    rows = [_sandbox_row(one, found, inside) for one in found]
    if not inside:
        return rows
    told = f"{inside}; its device leases hold inside it alone, unless /run/lock is shared"
    return [Row("container", "ok", told), *rows]


def _sandbox_row(one: Finding, all_levels: list[Finding], inside: str) -> Row:
    name = f"sandbox {one.level}"
    if one.works:
        missing = ", ".join(one.missing)
        told = f"works; not held back: {missing}" if missing else "works, all probes pass"
        return Row(name, "ok", told)
    used = next((other.level for other in all_levels if other.works), "process")
    until = "candidates are not fenced in" if used == "process" else f"{used} is used"
    lets = container.remedy(inside) if inside else "install bubblewrap and allow user namespaces"
    return Row(name, "warning", one.reason, f"{lets}; until then {until}")


def _lease_row() -> Row:
    try:
        lease = Lease("doctor", shared_folder())
        lease.close()
    except (EvaluatorError, OSError) as error:
        return Row("lease", "missing", str(error), "make /run/lock or /tmp writable")
    return Row("lease", "ok", str(lease.path.parent))


def _home_row(home: Path) -> Row:
    parent = home
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if os.access(parent, os.W_OK):
        return Row("state folder", "ok", str(home))
    return Row("state folder", "missing", f"{home} cannot be written", "set PIKE_HOME")


def _line(row: Row) -> str:
    remedy = f" -- {row.remedy}" if row.remedy else ""
    return f"{row.state:<8} {row.name:<16} {row.found}{remedy}\n"
