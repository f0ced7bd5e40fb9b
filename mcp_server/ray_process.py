"""The process of the bridge to Ray: started, spoken with, ended with everything it started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import crossing
from mcp_server.channel import ChannelClosed
from mcp_server.child import Kept
from mcp_server.clean import printable
from mcp_server.link import Link
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from anyio.abc import Process, TaskGroup

    from mcp_server.link import Message
    from mcp_server.setting import Setting

_CLOSE_LIMIT_S = 10.0
_KEPT_BYTES = 20_000


@dataclass(slots=True)
class RayProcess:
    """A running bridge."""

    process: Process
    link: Link
    closing: bool = False
    """Whether it was told to end."""
    _said: Kept = field(default_factory=lambda: Kept(_KEPT_BYTES))
    _closing: anyio.Lock = field(default_factory=anyio.Lock)

    async def receive(self) -> Message:
        """Return what it says next; that it failed, once it has ended."""
        try:
            return await self.link.receive()
        except ChannelClosed:
            return {"op": "failed", "cause": self._last_words()}

    async def send(self, message: Message) -> None:
        """Tell it something; one that has ended is told nothing, `receive` says so."""
        with suppress(ChannelClosed):
            await self.link.send(message)

    async def close(self) -> None:
        """Let it end its actors, and end it."""
        self.closing = True
        async with self._closing:
            with anyio.CancelScope(shield=True):
                await self.send({"op": "close"})
                with anyio.move_on_after(_CLOSE_LIMIT_S):
                    await self.process.wait()
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                await self.process.wait()
                self.link.close()

    async def keep_words(self) -> None:
        """Keep the last of what it and Ray print: nobody sees it unless it fails."""
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            if self.process.stderr is not None:
                async for part in self.process.stderr:
                    self._said.add(part)

    def _last_words(self) -> str:
        lines = [line for line in printable(self._said.text()).splitlines() if line.strip()]
        return lines[-1][:300] if lines else "the program that speaks with Ray ended"


async def start(group: TaskGroup, address: str, setting: Setting) -> RayProcess:
    """Start a bridge to the cluster of an address, in a task group that reads what it prints."""
    ours, theirs = socket.socketpair()
    words = ["--fd", str(theirs.fileno()), "--address", address]
    words += ["--setting", crossing.setting_bytes(setting).decode()]
    try:
        # Not to be cut short: a process half started would belong to nobody.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [sys.executable, "-P", "-m", "mcp_server.ray_bridge", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(setting),
                cwd="/",  # Ray lets hosts import from it
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
            made = RayProcess(process, Link(ours))
            group.start_soon(made.keep_words)
            return made
        raise AssertionError("a shield cannot be cut short")
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()


def _environment(setting: Setting) -> dict[str, str]:
    """Return ours, with Ray's defaults where nothing else was chosen; a cluster made of this machine inherits it."""
    # A cluster made by `ray start` where a token lies asks for it; whoever joins brings it only if told to.
    token = {"RAY_AUTH_MODE": "token"} if _has_token() else {}
    found = {**_RAYS_DEFAULTS, **token, **os.environ, "PIKE_HOME": str(setting.home.absolute())}
    path = [str(PACKAGE.parent), *filter(None, [found.get("PYTHONPATH")])]
    return {**found, "PYTHONPATH": os.pathsep.join(path)}


def _has_token() -> bool:
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    return bool(named) or Path("~/.ray/auth_token").expanduser().exists()


_RAYS_DEFAULTS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # our own limits hold, and name what passed them
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "5",
}
