"""Which sandbox level works here, found out by effect: a program inside tries to get out, and we look outside.

| probe | what must not happen |
| --- | --- |
| `files` | a file planted in the home folder is read |
| `writes` | a file appears in a folder outside scratch |
| `network` | our TCP listener is reached |
| `unix_sockets` | our listener on a socket file is reached |
| `environment` | another process's environment is read |
| `signals` | another process of ours is killed |
| `pids` | a fork bomb is bounded by polling alone: `RLIMIT_NPROC` does not bind root |
| `system_calls` | nothing is refused to a program inside, since CUDA would not work here otherwise |

On a GPU one real CUDA kernel must run inside too, or the level does not work.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server import inside
from mcp_server.errors import SandboxUnavailable
from mcp_server.sandbox import PACKAGE, Level, Limits, Sandbox, Wanted

if TYPE_CHECKING:
    from mcp_server.child import Ending
    from mcp_server.interpreter import Interpreter
    from mcp_server.link import Message
    from mcp_server.machine import Device

log = logging.getLogger(__name__)

CUDA_PROBE = str(PACKAGE / "cuda_probe.py")
ESCAPES = ("files", "writes", "network", "unix_sockets", "environment", "signals")
_PROGRAM = """
import json, os, socket, sys
t = json.loads(sys.argv[1])
said = {"started": True}
def attempt(name, act):
    try: said[name] = act()
    except BaseException as error: said[name] = type(error).__name__
def connect(family, address):
    s = socket.socket(family); s.settimeout(2); s.connect(address); s.sendall(b"x"); return "sent"
attempt("files", lambda: open(t["home_file"]).read())
attempt("writes", lambda: open(t["outside"], "w").write("x"))
attempt("network", lambda: connect(socket.AF_INET, ("127.0.0.1", t["port"])))
attempt("unix_sockets", lambda: connect(socket.AF_UNIX, t["socket"]))
attempt("environment", lambda: open("/proc/%d/environ" % t["pid"]).read())
attempt("signals", lambda: os.kill(t["pid"], 9))
attempt("scratch", lambda: open(os.environ["HOME"] + "/x", "w").write("x"))
print(json.dumps(said))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the probes found of one level."""

    level: Level
    works: bool
    """A program starts inside, and can write its scratch."""
    missing: tuple[str, ...]
    """What it does not hold back."""
    reason: str
    """Why it does not work; empty if it does."""


async def choose(
    wanted: Wanted, interpreter: Interpreter, device: Device, limits: Limits | None = None
) -> Sandbox:
    """Return the strongest level whose probes pass.

    Raises:
        SandboxUnavailable: no level of the wanted strength passes.
    """
    found: list[Finding] = []
    levels = _LEVELS[wanted]
    for level in levels:
        finding, allowed = await probed(level, interpreter, device, limits)
        found.append(finding)
        if suffices(finding):
            if level == "process" and wanted != "process":
                log.warning("no sandbox: candidates are not fenced in; %s", found[0].reason)
            return Sandbox(level, interpreter, device, finding.missing, allowed)
    raise SandboxUnavailable(_refusal(found))


async def probed(
    level: Level, interpreter: Interpreter, device: Device, limits: Limits | None = None
) -> tuple[Finding, Limits]:
    """Return what the probes found of a level, and the limits under which it works."""
    allowed = limits or Limits()
    finding = await probe(level, interpreter, device, allowed)
    if finding.works or not device.is_gpu:
        return finding, allowed
    # Some drivers reserve more addresses than any limit that would bound a program; one may want a refused call.
    for lax in (
        replace(allowed, address_bytes=0),
        replace(allowed, address_bytes=0, filtered=False),
    ):
        found = await probe(level, interpreter, device, lax)
        if found.works:
            return found, lax
    return finding, allowed


def suffices(finding: Finding) -> bool:
    """Return whether a level may hold candidates, as far as its probes tell."""
    return finding.works and set(finding.missing) <= _MAY_LACK[finding.level]


_LEVELS: dict[Wanted, tuple[Level, ...]] = {
    "strict": ("bwrap",),
    "best-effort": ("bwrap", "landlock", "process"),
    "bwrap": ("bwrap",),
    "landlock": ("landlock",),
    "process": ("process",),
}
_MAY_LACK: dict[Level, frozenset[str]] = {
    "bwrap": frozenset({"pids", "system_calls"}),
    "landlock": frozenset({"pids", "system_calls", "unix_sockets"}),
    "process": frozenset({*ESCAPES, "pids"}),
}


def _refusal(found: list[Finding]) -> str:
    reasons = "; ".join(
        f"{f.level}: {f.reason or 'lets through ' + ', '.join(f.missing)}" for f in found
    )
    return (
        f"No sandbox works here ({reasons}): install bubblewrap and allow user namespaces, "
        "or accept less with --sandbox best-effort."
    )


async def probe(
    level: Level, interpreter: Interpreter, device: Device, limits: Limits | None = None
) -> Finding:
    """Let a program inside a level try to get out, and return what it managed."""
    if level == "bwrap" and shutil.which("bwrap") is None:
        return Finding(level, works=False, missing=(), reason="bubblewrap (bwrap) is not installed")
    sandbox = Sandbox(level, interpreter, device, limits=limits or Limits())
    with ExitStack() as stack:
        targets = _Targets(stack)
        ending = await inside.run(sandbox, ["-c", _PROGRAM, targets.as_json()])
        finding = _judged(level, ending, targets, filtered=sandbox.limits.filtered)
    if finding.works and device.is_gpu:
        kernel = await inside.run(sandbox, [CUDA_PROBE], reads=(CUDA_PROBE,))
        if kernel.exit != 0:
            reason = f"CUDA does not work inside: {kernel.stderr.strip()[-300:]}"
            return Finding(level, works=False, missing=(), reason=reason)
    return finding


def _judged(level: Level, ending: Ending, targets: _Targets, *, filtered: bool) -> Finding:
    said = inside.said(ending.stdout)
    if not said.get("started") or said.get("scratch") != 1:
        lines = ending.stderr.strip().splitlines()
        reason = lines[-1][:300] if lines else "a program inside did not start"
        return Finding(level, works=False, missing=(), reason=reason)
    escaped = targets.escaped(said)
    missing = [name for name in ESCAPES if escaped[name]]
    if os.getuid() == 0:
        missing.append("pids")
    if level != "process" and not filtered:
        missing.append("system_calls")
    return Finding(level, works=True, missing=tuple(missing), reason="")


class _Targets:
    """What a probe aims at: a file, a folder, two listeners and a process of ours."""

    def __init__(self, stack: ExitStack) -> None:
        self.token = secrets.token_hex(16)
        self.folder = Path(stack.enter_context(_folder(_home())))
        (self.folder / "secret").write_text(self.token, encoding="utf-8")
        self.tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        short = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pike-")))
        self.path = str(short / "s")
        self.unix.bind(self.path)
        self.unix.listen()
        self.process = subprocess.Popen(["sleep", "60"], env={"PIKE_PROBE": self.token})
        stack.callback(self._end)

    def as_json(self) -> str:
        """Return what the program inside is told."""
        return json.dumps(
            {
                "home_file": str(self.folder / "secret"),
                "outside": str(self.folder / "written"),
                "port": self.tcp.getsockname()[1],
                "socket": self.path,
                "pid": self.process.pid,
            }
        )

    def escaped(self, said: Message) -> dict[str, bool]:
        """Return what it managed, as seen from outside."""
        return {
            "files": self.token in str(said.get("files")),
            "writes": (self.folder / "written").exists(),
            "network": _reached(self.tcp),
            "unix_sockets": _reached(self.unix),
            "environment": self.token in str(said.get("environment")),
            "signals": self.process.poll() is not None,
        }

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()


def _folder(parent: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix=".pike-probe-", dir=parent)


def _home() -> Path:
    home = Path.home()
    return home if os.access(home, os.W_OK) else Path(tempfile.gettempdir())


def _reached(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
