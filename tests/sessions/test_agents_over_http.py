"""Session tools over HTTP: each token's client sees what it opened, in both protocol eras, and no token is kept."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from mcp_server.callers import ALL_SESSIONS
from mcp_server.setting import Setting
from sessions.folder import SessionFolder
from sessions.gateway import Gateway
from tests.mcp_server.web import BOTH_ERAS, Mode, served
from tests.sessions.agents import Agent, Engines, candidate, end_engines, state_of, world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TASK = "local/twice"


@pytest.fixture
def under(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = world(tmp_path, monkeypatch)
    yield found
    end_engines(found)


def log_of(folder: SessionFolder) -> str:
    words = ["git", "-C", str(folder.lineage), "log", "--all", "--format=%B%an"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("mode", [BOTH_ERAS[0], pytest.param(BOTH_ERAS[1], marks=pytest.mark.slow)])
async def test_a_caller_sees_its_own_sessions_and_no_token_is_kept(under: Path, mode: Mode) -> None:
    gateway = Gateway(under, Engines(under))
    setting = Setting(home=under.parent, python=None, sandbox="best-effort", device="cpu")
    scopes: dict[str, tuple[str, ...]] = {"alice": (), "bob": (), "boss": (ALL_SESSIONS,)}
    async with served(setting, scopes, sessions=gateway) as server:
        async with server.client("alice", mode) as client:
            alice = Agent(client, gateway)
            name = (await alice.call("open_session", task_id=TASK))["session_id"]
            handed: dict[str, Any] = {"session_id": name, "source": candidate(1.4), "idea": "mine"}
            found = await alice.call("submit_attempt", **handed)
            assert found["speedup_ratio"] == 1.4
            late = await alice.call(
                "submit_attempt", **{**handed, "source": candidate(1.5), "wait_s": 0}
            )
        async with server.client("bob", mode) as client:
            bob = Agent(client, gateway)
            assert (await bob.call("list_sessions"))["sessions"] == []
            for tool, arguments in (
                ("get_session", {"session_id": name}),
                ("submit_attempt", handed),
                ("next_prompt", {"session_id": name}),
            ):
                assert f"There is no session '{name}'" in await bob.refused(tool, **arguments)
            if "job_id" in late:
                assert "There is no job" in await bob.refused("wait_job", job_id=late["job_id"])
        async with server.client("boss", mode) as client:
            boss = Agent(client, gateway)
            rows = (await boss.call("list_sessions"))["sessions"]
            assert [row["session_id"] for row in rows] == [name]
        secrets = server.tokens.values()
    folder = SessionFolder(under / name)
    assert state_of(folder).opened is not None
    told = log_of(folder)
    assert "Pike-Caller: alice" in told
    kept = [p.read_bytes() for p in folder.path.rglob("*") if p.is_file()]
    assert not any(secret.encode() in data for secret in secrets for data in [*kept, told.encode()])
