"""What a level keeps back, thing by thing, found by effect: the long list, for people and for tests.

probes.py has the short list by which a level is chosen; this one adds what takes longer, and the limits. An outcome is
`kept` (it did not happen), `ended` (it began, and the program was ended for it), `open` (it happened) or `unknown`: the
program inside did not say that it tried.
"""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_server import inside, probes
from mcp_server.sandbox import MEBIBYTE, PACKAGE, Limits, Sandbox

if TYPE_CHECKING:
    from mcp_server.child import Ending
    from mcp_server.interpreter import Interpreter
    from mcp_server.link import Message
    from mcp_server.machine import Device
    from mcp_server.sandbox import Level

Outcome = Literal["kept", "ended", "open", "unknown"]

THINGS = {
    "files": "a file in the home folder is read",
    "writes": "a file is written outside scratch",
    "network": "a TCP listener of this machine is reached",
    "datagrams": "a UDP socket of this machine is reached",
    "unix_sockets": "a socket file of another program is reached",
    "abstract_sockets": "an abstract socket of another program is reached",
    "environment": "another process's environment is read",
    "memory_of_others": "another process's memory is read",
    "ptrace": "another process is stopped and read as by a debugger",
    "sight": "another process's command line is seen",
    "signals": "another process is killed",
    "devices": "a device node is made",
    "namespaces": "a further user namespace is entered",
    "processes": "more processes than the limit are started",
    "memory": "processes together take more memory than the limit",
    "scratch": "files in scratch take more room than the limit",
    "output": "more is printed than the limit",
    "lingering": "a process in a session of its own outlives its candidate",
}
"""What must not happen, by name."""
PROGRAM = str(PACKAGE / "escape_program.py")
_LIMITED = ("processes", "memory", "scratch", "output")
_GONE_S = 3.0
_TARGET = (
    "import ctypes, sys, time; held = ctypes.create_string_buffer(sys.argv[1].encode()); "
    "print(ctypes.addressof(held), flush=True); time.sleep(300)"
)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a level keeps back when this user starts it."""

    level: Level
    works: bool
    reason: str = ""
    """Why it does not work; empty if it does."""
    suffices: bool = False
    """Whether candidates may be held in it without being told to."""
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """By name of a thing."""


async def examine(level: Level, interpreter: Interpreter, device: Device) -> Examined:
    """Let programs inside a level try all they can; takes some ten seconds."""
    finding, limits = await probes.probed(level, interpreter, device)
    if not finding.works:
        return Examined(level, works=False, reason=finding.reason)
    sandbox = Sandbox(level, interpreter, device, limits=_small(limits))
    outcomes: dict[str, Outcome] = {
        name: "open" if name in finding.missing else "kept" for name in probes.ESCAPES
    }
    outcomes |= await _looked(sandbox)
    for name in _LIMITED:
        outcomes[name] = _passed(await _try(sandbox, name, watched=True))
    outcomes["lingering"] = await _lingering(sandbox)
    suffices = probes.suffices(finding)
    return Examined(level, works=True, suffices=suffices, outcomes=outcomes)


def _small(limits: Limits) -> Limits:
    """Return limits that a small program passes at once."""
    return replace(
        limits,
        processes=64,
        memory_bytes=256 * MEBIBYTE,
        scratch_bytes=64 * MEBIBYTE,
        output_bytes=8 * MEBIBYTE,
    )


async def _try(sandbox: Sandbox, *words: str, watched: bool = False) -> Ending:
    return await inside.run(sandbox, [PROGRAM, *words], reads=(PROGRAM,), watched=watched)


def _passed(ending: Ending) -> Outcome:
    if ending.cause is not None:
        return "ended"
    words = ending.stdout.split()
    if words[-1:] == ["all"]:
        return "open"
    return "kept" if "began" in words else "unknown"


async def _lingering(sandbox: Sandbox) -> Outcome:
    word = f"pike-{secrets.token_hex(8)}"
    ending = await _try(sandbox, "lingering", word)
    if "left" not in ending.stdout.split():
        return "unknown"
    with anyio.move_on_after(_GONE_S):
        while _running(word):  # noqa: ASYNC110 -- another process ends
            await anyio.sleep(0.05)
        return "kept"
    return "open"


def _running(word: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_text("latin-1").split("\0"):
                return True
        except OSError:
            continue
    return False


async def _looked(sandbox: Sandbox) -> dict[str, Outcome]:
    with ExitStack() as stack:
        targets = _Targets(stack)
        ending = await _try(sandbox, "look", targets.as_json())
        return targets.outcomes(inside.said(ending.stdout))


class _Targets:
    """What the long list aims at, beside the targets of the short one: two sockets and a process with a secret."""

    def __init__(self, stack: ExitStack) -> None:
        self._secret = secrets.token_hex(16)
        self._datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self._datagrams.bind(("127.0.0.1", 0))
        self._name = f"pike-{secrets.token_hex(8)}"
        self._abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        self._abstract.bind(f"\0{self._name}")
        self._abstract.listen()
        argv = [sys.executable, "-I", "-S", "-B", "-c", _TARGET, self._secret]
        self._process = subprocess.Popen(argv, stdout=subprocess.PIPE)
        stack.callback(self._end)
        assert self._process.stdout is not None
        self._address = int(self._process.stdout.readline())

    def as_json(self) -> str:
        """Return what the program inside is told."""
        return json.dumps(
            {
                "port": self._datagrams.getsockname()[1],
                "name": self._name,
                "pid": self._process.pid,
                "address": self._address,
            }
        )

    def outcomes(self, said: Message) -> dict[str, Outcome]:
        """Return what it managed: seen from outside, or proven by what it knows."""
        managed = {
            "datagrams": _has_come(self._datagrams),
            "abstract_sockets": _has_come(self._abstract),
            "sight": self._secret in str(said.get("sight")),
            "memory_of_others": self._secret in str(said.get("memory_of_others")),
            "ptrace": self._secret in str(said.get("ptrace")),
            "devices": said.get("devices") == "made",
            "namespaces": said.get("namespaces") == "entered",
        }
        return {
            name: "open" if happened else "kept" if name in said else "unknown"
            for name, happened in managed.items()
        }

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


def _has_come(ours: socket.socket) -> bool:
    ours.setblocking(False)
    try:
        if ours.type == socket.SOCK_DGRAM:
            return bool(ours.recv(1))
        ours.accept()[0].close()
    except BlockingIOError:
        return False
    return True
