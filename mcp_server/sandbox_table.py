"""What each sandbox level keeps back on this machine, as a page of Markdown: by device, level and user."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server import container, escapes, escapes_as_user, machine, provenance
from mcp_server.clean import printable
from mcp_server.escapes import THINGS
from mcp_server.escapes_as_user import Refused
from mcp_server.markdown import table
from mcp_server.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.escapes import Examined
    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device
    from mcp_server.sandbox import Level

LEVELS: tuple[Level, ...] = ("bwrap", "landlock", "process")
COMMAND = "python -m mcp_server doctor --output FILE.md"
_LEGEND = """Each cell was found by effect: a program inside tried, and it was looked at from outside, or it had to
tell a secret. *kept*: it did not happen. *ended*: it began, and all that the candidate had started was killed for
it. **open**: it happened. `--sandbox strict` takes `bwrap` alone, `best-effort` the first level from the left that
works; `process` is no fence. What is open stands in every verdict as `sandbox_missing`, as far as a level is chosen
by it."""
_SHOWN = {"kept": "kept", "ended": "ended", "open": "**open**", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Column:
    """One level as one user starts it."""

    user: str
    found: Examined


async def write(path: Path, python: Interpreter) -> None:
    """Examine every level, on the processor and on the first GPU, and write the page; takes a minute.

    Raises:
        OSError: the file cannot be written.
    """
    parts: list[str] = []
    for device in (machine.cpu(), *machine.gpus()[:1]):
        columns, notes = await _columns(python, device)
        parts.append(section(device, python, columns, notes))
    write_whole(path, page(parts))


async def _columns(python: Interpreter, device: Device) -> tuple[list[Column], list[str]]:
    user = _user()
    own = [await escapes.examine(level, python, device) for level in LEVELS]
    columns = [Column(user, found) for found in own]
    if os.getuid() != 0:
        return columns, []
    others = escapes_as_user.examine(LEVELS, python, device)
    if isinstance(others, Refused):
        return columns, [f"By an ordinary user it was not tried: {others.reason}."]
    return [*columns, *(Column("nobody", found) for found in others)], []


def _user() -> str:
    with suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return f"user {os.getuid()}"


def page(sections: Sequence[str]) -> str:
    """Return the whole page."""
    return "\n\n".join(["# What the sandbox keeps back", _LEGEND, *sections]) + "\n"


def section(
    device: Device, python: Interpreter, columns: Sequence[Column], notes: Sequence[str]
) -> str:
    """Return what was found on a device."""
    heads = [f"{one.found.level}, {one.user}" for one in columns]
    runs = "runs a CUDA kernel" if device.is_gpu else "works"
    body = [[runs, *("yes" if one.found.works else "no" for one in columns)]]
    body += [[told, *(_cell(one.found, name) for one in columns)] for name, told in THINGS.items()]
    why = [
        f"{one.found.level} by {one.user}: {one.found.reason}"
        for one in columns
        if not one.found.works
    ]
    versions = f"{provenance.line(device, python, COMMAND)} {_layers()}"
    listed = [f"* {printable(note)}" for note in (*why, *notes)]
    told = [f"## {printable(device.title)}", printable(versions), table(["", *heads], body)]
    return "\n\n".join([*told, *(["\n".join(listed)] if listed else [])])


def _cell(found: Examined, name: str) -> str:
    return _SHOWN[found.outcomes.get(name, "unknown")] if found.works else "–"


def _layers() -> str:
    """Return the versions of what the levels are made of."""
    kind = container.kind()
    parts = [_bubblewrap(), *([f"in a container ({kind})"] if kind else [])]
    return f"{', '.join(parts)}."


def _bubblewrap() -> str:
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(["bwrap", "--version"], capture_output=True, timeout=10, check=False)
        found = re.search(r"[\d.]+", done.stdout.decode("utf-8", "replace"))
        if found:
            return f"bubblewrap {found[0]}"
    return "no bubblewrap"
