"""An external agent at the session tools, with real engine processes whose evaluator is scripted.

`world(tmp_path)` writes the settings that name the scripted evaluator; `Agent` is a client in memory on a server of its
own, so a second one stands for another process. `Engines` starts engines as `pike mcp` does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcp import Client

from mcp_server.app import build
from mcp_server.setting import Setting
from sessions.errors import SessionBusy
from sessions.fold import fold
from sessions.folder import all_in
from sessions.gateway import Gateway
from sessions.journal import Reader
from sessions.start import create_session
from tests.fakes import SOURCE
from tests.sessions.searches import request
from workbench import launch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    import pytest

    from sessions.folder import SessionFolder
    from sessions.gateway import SessionWish
    from sessions.model import State

LIMIT_S = 150.0
"""For a story with several engine processes, on a machine under load."""


def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a state folder whose engines evaluate with the scripted server; return the folder of its sessions."""
    config = tmp_path / "config" / "pike" / "config.toml"
    config.parent.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.sessions.scripted_server"]
    config.write_text(f"[evaluators.scripted]\ncommand = {words}\n", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIKE_HOME", str(tmp_path / "home"))
    here = os.getcwd()  # noqa: PTH109 - the repository, where engines find `tests`
    monkeypatch.setenv("PYTHONPATH", here)
    return tmp_path / "home" / "sessions"


def end_engines(under: Path) -> None:
    """Kill the engines that a test left."""
    for folder in all_in(under) if under.is_dir() else ():
        kill(folder)


def kill(folder: SessionFolder) -> bool:
    """Kill the engine of a session as a power cut would; return whether there was one."""
    if not launch.kill(folder):
        return False
    while launch.is_alive(folder):
        time.sleep(0.01)
    return True


@dataclass
class Engines:
    """Sessions on the test's task; their engines are processes of their own."""

    under: Path

    def open(self, wish: SessionWish, opened_by: str) -> SessionFolder:
        settings = {"attempts": wish.attempts, "idle_hours": 1.0, "places": 2}
        limits = {"queries": None, "cost_usd": None, "hours": wish.hours}
        limits |= {"attempts": wish.attempts, "idle_hours": 1.0}
        asked = request(strategy="external", models={}, limits=limits, device="cpu")
        made = replace(asked, settings=settings, places=2, opened_by=opened_by, title=wish.title)
        folder = create_session(made, self.under)
        launch.start(folder)
        return folder

    def revive(self, folder: SessionFolder) -> None:
        with suppress(SessionBusy):  # another server was quicker
            launch.start(folder)


@dataclass
class Agent:
    """A client, its server, its gateway."""

    client: Client
    gateway: Gateway

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must not refuse."""
        found = await self.client.call_tool(tool, arguments, read_timeout_seconds=LIMIT_S)
        assert not found.is_error, found.content
        assert found.structured_content is not None
        return found.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must refuse; return its sentence."""
        found = await self.client.call_tool(tool, arguments, read_timeout_seconds=LIMIT_S)
        assert found.is_error, found.structured_content
        return " ".join(getattr(part, "text", "") for part in found.content)


@asynccontextmanager
async def agent(under: Path) -> AsyncGenerator[Agent]:
    """A new agent with a server process of its own, so to speak."""
    gateway = Gateway(under, Engines(under))
    setting = Setting(home=under.parent, python=None, sandbox="best-effort", device="cpu")
    async with Client(build(setting, sessions=gateway)) as client:
        yield Agent(client, gateway)


def state_of(folder: SessionFolder) -> State:
    """Return a session as it is now."""
    with Reader(folder.journal) as reader:
        return fold(reader.facts())


async def until(folder: SessionFolder, true: Callable[[State], object]) -> State:
    """Wait until a session's state is as it should be, and return it."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            state = state_of(folder)
            if true(state):
                return state
            await asyncio.sleep(0.1)


def candidate(speed: float, fate: str = "ok", change: str = "mine") -> str:
    """Return a candidate with that fate."""
    return f"# change: {change}\n# fate: {fate} {speed}\n{SOURCE.replace('class Model(', 'class ModelNew(')}"
