"""The long list of escapes tried once more by a user without rights, from a server of root's: a child that drops them.

`python -m mcp_server.escapes_as_user QUESTION` is that child; it prints a row per level as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import escapes, folders, inside
from mcp_server.escapes import Examined
from mcp_server.interpreter import Interpreter
from mcp_server.machine import Device
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.sandbox import Level

NOBODY = 65534
"""The user that owns nothing."""
_PLAIN = ("/usr/bin/python3", "/usr/local/bin/python3")
"""Interpreters that any user may start."""
_LIMIT_S = 300


@dataclass(frozen=True, slots=True)
class Refused:
    """Why it could not be tried."""

    reason: str


def examine(
    levels: Sequence[Level], interpreter: Interpreter, device: Device
) -> list[Examined] | Refused:
    """Return what each level keeps back when a user without rights starts it; blocks for half a minute."""
    startable = _startable(interpreter)
    if startable is None:
        tried = ", ".join((interpreter.executable, *_PLAIN))
        return Refused(f"no interpreter that another user may start with this package: {tried}")
    home = Path(tempfile.mkdtemp(prefix="pike-nobody-"))
    try:
        os.chown(home, NOBODY, NOBODY)
        question = json.dumps([list(levels), asdict(startable), asdict(device)])
        argv = [startable.executable, "-B", "-m", __name__, question]
        done = _as_nobody(argv, home, str(home), _LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Refused(f"the child that gives its rights up failed: {error}")
    finally:
        folders.remove(home)
    rows = inside.said(done.stdout.decode("utf-8", "replace")).get("rows")
    if not isinstance(rows, list):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Refused(f"the child that gives its rights up failed: {lines[-1:]}")
    return [Examined(**row) for row in rows]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- our own JSON


def _as_nobody(
    argv: list[str], folder: Path, home: str, limit_s: float
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        argv,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd=folder,
        env=_environment(home),
        capture_output=True,
        timeout=limit_s,
        check=False,
    )


def _environment(home: str) -> dict[str, str]:
    roots = [str(PACKAGE.parent), *(path for path in sys.path if path.endswith("-packages"))]
    paths = os.pathsep.join(roots)
    return {"HOME": home, "TMPDIR": home, "PATH": os.environ["PATH"], "PYTHONPATH": paths}


def _startable(interpreter: Interpreter) -> Interpreter | None:
    """Return an interpreter that the other user may start and that finds this package; its torch is not asked for."""
    for executable in dict.fromkeys((interpreter.executable, *_PLAIN)):
        try:
            # Once more from within: whom root starts may start what root may, its children may not.
            done = _as_nobody([executable, "-B", "-c", _AGAIN], Path("/"), "/nonexistent", 60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            own = executable == interpreter.executable
            return interpreter if own else replace(interpreter, executable=executable, reads=())
    return None


_AGAIN = (
    f"import subprocess, sys; import {__name__}; "
    "sys.exit(subprocess.run([sys.executable, '-c', '']).returncode)"
)


async def _all(levels: list[Level], interpreter: Interpreter, device: Device) -> list[Examined]:
    return [await escapes.examine(level, interpreter, device) for level in levels]


def main() -> None:
    """Answer as the child."""
    levels, told, place = json.loads(sys.argv[1])
    python = Interpreter(**told)
    python = replace(python, version=tuple(python.version), reads=tuple(python.reads))
    device = Device(**place)
    device = replace(device, nodes=tuple(device.nodes))
    rows = anyio.run(partial(_all, levels, python, device))
    sys.stdout.write(json.dumps({"rows": [asdict(row) for row in rows]}))


if __name__ == "__main__":
    main()
