"""`pike mcp` as a client starts it: a session opened and driven over stdio, and a server killed in between."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from sessions.folder import SessionFolder
from sessions.lock import holder
from tests.fakes import SOURCE
from tests.sessions.agents import LIMIT_S, candidate, end_engines, kill, state_of, world

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from tests.workbench.commanding import Pike


@pytest.fixture
def under(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = world(tmp_path, monkeypatch)
    yield found
    end_engines(found)


@asynccontextmanager
async def pike_mcp() -> AsyncGenerator[Client]:
    """A client on a `pike mcp` of its own, which ends with it."""
    words = ["-P", "-m", "workbench", "mcp"]
    target = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    async with asyncio.timeout(LIMIT_S), Client(stdio_client(target)) as client:
        yield client


def ancestors(pid: int) -> list[int]:
    """Return the processes from which one descends."""
    found: list[int] = []
    while pid > 1:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        pid = int(stat.rpartition(")")[2].split()[1])
        found.append(pid)
    return found


@pytest.mark.timeout(600)
async def test_a_session_is_opened_and_driven_over_stdio_and_outlives_its_server(
    under: Path, pike: Pike
) -> None:
    async with pike_mcp() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert {"open_session", "submit_attempt", "next_prompt", "submit_reply"} <= listed
        own = {"name": "twice", "source": SOURCE}
        added = (await client.call_tool("add_task", own)).structured_content
        assert added is not None
        wish = {"task_id": added["task_id"], "attempts": 2, "device": "cpu"}
        opened = (await client.call_tool("open_session", wish)).structured_content
        assert opened is not None
        name = opened["session_id"]
        handed = {"session_id": name, "source": candidate(1.5), "idea": "halve it", "wait_s": 0}
        pending = (await client.call_tool("submit_attempt", handed)).structured_content
        assert pending is not None
        refused = await client.call_tool("open_session", {"task_id": "/etc/passwd"})
        assert refused.is_error
        folder = SessionFolder(under / name)
        engine = holder(folder)
        assert engine is not None
        assert os.getpid() not in ancestors(engine.pid), "a client that kills all its own spares it"
    kill(folder)
    async with pike_mcp() as client:
        again = {**handed, "wait_s": 40}
        found = (await client.call_tool("submit_attempt", again)).structured_content
    assert found is not None
    assert (found["state"], found["speedup_ratio"], found["attempts_left"]) == ("done", 1.5, 1)
    state = state_of(folder)
    assert len(state.attempts) == 1
    assert state.limits["queries"] is None
    shown = pike("show", name)
    assert "halve it" in shown.out
    assert f"session {name}: external on local/twice" in shown.out
    assert "submit, spent" not in shown.out, (
        "what agents hand in are attempts, no steers of a person"
    )


def test_flags_that_mean_nothing_for_an_external_search_are_refused(
    under: Path, pike: Pike
) -> None:
    del under
    for flag, value, says in (
        ("--queries", "9", "say --set attempts=N"),
        ("--model", "offline", "leave --model out"),
        ("--cost", "3", "say --time HOURS"),
    ):
        words = ("run", "starter/softmax", "--strategy", "external", "--device", "cpu")
        told = pike(*words, flag, value, "--dry-run")
        assert (told.code, says in told.err) == (2, True)
