"""Sessions driven from outside: what an agent does over MCP, what a person does meanwhile, and kills."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from sessions.commands import send
from sessions.folder import SessionFolder
from sessions.gateway import OPEN_AT_ONCE, Gateway, SessionCaller, SessionsRefused, SessionWish
from sessions.start import create_session
from sessions.states import SessionState
from tests.sessions.agents import (
    Engines,
    agent,
    candidate,
    end_engines,
    kill,
    state_of,
    until,
    world,
)
from tests.sessions.searches import request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


TASK = "local/twice"
LATE = 10**6


@pytest.fixture
def under(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = world(tmp_path, monkeypatch)
    yield found
    end_engines(found)


def message_of(folder: SessionFolder, commit: str) -> str:
    words = ["git", "-C", str(folder.lineage), "show", "-s", "--format=%B", commit]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.mark.timeout(600)
async def test_an_attempt_is_a_fact_and_a_commit_of_the_sessions_own_engine(under: Path) -> None:
    async with agent(under) as one:
        opened = await one.call("open_session", task_id=TASK, title="by hand\x1b[2J", attempts=3)
        name = opened["session_id"]
        assert opened["watch"] == f"pike attach {name}"
        folder = SessionFolder(under / name)
        found = await one.call(
            "submit_attempt",
            session_id=name,
            source=candidate(1.5),
            idea="fuse the two loops",
            model="opus-of-mine",
        )
        assert (found["state"], found["ok"], found["is_best"]) == ("done", True, True)
        assert (found["speedup_ratio"], found["attempts_left"]) == (1.5, 2)
        told = message_of(folder, found["commit"])
        assert told.startswith(f"{found['attempt_id']}: fuse the two loops\n")
        for trailer in (
            "Pike-Claimed-Model: opus-of-mine",
            "Pike-Caller: local",
            "Pike-Client: mcp",
        ):
            assert trailer in told
        again = await one.call(
            "submit_attempt", session_id=name, source=candidate(1.5), idea="once more"
        )
        assert (again["attempt_id"], again["attempts_left"]) == (found["attempt_id"], 2)
        wrong = await one.call(
            "submit_attempt",
            session_id=name,
            source=candidate(1.0, "wrong_result"),
            idea="too eager",
        )
        assert (wrong["ok"], wrong["status"]) == (False, "wrong_result")
        shown = await one.call("get_session", session_id=name)
        assert shown["best_attempt_id"] == found["attempt_id"]
        assert len(shown["attempts"]) == shown["attempts_total"] == 2
        assert "\x1b" not in shown["title"]
        whole = await one.call("get_session", session_id=name, attempt_id=wrong["attempt_id"])
        assert whole["parent_id"] == found["attempt_id"], "the caller's last attempt"
        assert "status: wrong_result" in whole["verdict"]
        source = await one.call("get_artifact", artifact_id=whole["source_id"])
        assert source["text"].startswith("# change: mine")
        rows = (await one.call("list_sessions", task_id=TASK))["sessions"]
        assert [(r["session_id"], r["accepts_attempts"]) for r in rows] == [(name, True)]
        last = await one.call(
            "submit_attempt", session_id=name, source=candidate(1.2), idea="back", parent_id="c0"
        )
        assert last["attempts_left"] == 0
        over = await until(folder, lambda s: s.state is SessionState.FINISHED)
        assert over.code == "attempts"
        said = await one.refused(
            "submit_attempt", session_id=name, source=candidate(1.9), idea="one more"
        )
        assert "is finished: all attempts are used" in said
        assert {a.author for a in over.attempts.values()} == {"mcp 0.1.0"}


@pytest.mark.timeout(600)
async def test_an_engine_killed_at_any_step_is_revived_and_nothing_is_lost_or_doubled(
    under: Path,
) -> None:
    async with agent(under) as one:
        name = (await one.call("open_session", task_id=TASK))["session_id"]
        folder = SessionFolder(under / name)
        job = ""
        for number in range(3):
            pending = await one.call(
                "submit_attempt",
                session_id=name,
                source=candidate(1.1 + number),
                idea=f"step {number}",
                parent_id="c0",
                wait_s=0,
            )
            assert kill(folder) or number
            job = pending.get("job_id") or job
    async with agent(under) as other:
        assert (await other.call("wait_job", job_id=job))["state"] == "done"
        done = await until(folder, lambda s: sum(bool(a.commit) for a in s.attempts.values()) == 3)
        assert len(done.attempts) == 3
        for number in range(3):
            again = await other.call(
                "submit_attempt",
                session_id=name,
                source=candidate(1.1 + number),
                idea="a retry after a timeout",
                parent_id="c0",
            )
            assert again["state"] == "done"
        assert len(state_of(folder).attempts) == 3
        said = await other.refused("cancel_job", job_id=job)
        assert "An attempt is a fact" in said


@pytest.mark.timeout(600)
async def test_a_persons_guide_pin_and_ban_come_back_as_guidance_and_a_pause_refuses_politely(
    under: Path,
) -> None:
    async with agent(under) as one:
        name = (await one.call("open_session", task_id=TASK))["session_id"]
        folder = SessionFolder(under / name)

        async def hand_in(speed: float, **more: str) -> dict[str, object]:
            return await one.call(
                "submit_attempt", session_id=name, source=candidate(speed), idea="next", **more
            )

        first, second = await hand_in(1.5), await hand_in(1.6)
        send(folder.journal, "guide", {"text": "no atomics\x1b[2J"}, author="nora", seen_seq=LATE)
        send(folder.journal, "pin", {"candidate": second["attempt_id"]}, seen_seq=LATE)
        send(folder.journal, "ban", {"candidate": first["attempt_id"]}, seen_seq=LATE)
        await until(folder, lambda s: len([x for x in s.steers.values() if x.applied]) == 5)
        guided = str((await hand_in(1.7))["guidance"])
        assert guided.startswith("From the person who watches")
        for said in (
            "no atomics",
            f"build on {second['attempt_id']}",
            f"on {first['attempt_id']}: banned",
        ):
            assert said in guided
        assert "\x1b" not in guided
        refusal = await one.refused(
            "submit_attempt",
            session_id=name,
            source=candidate(1.8),
            idea="below a ban",
            parent_id=first["attempt_id"],
        )
        assert f"{first['attempt_id']} is banned by" in refusal
        send(folder.journal, "pause", author="nora", seen_seq=LATE)
        await until(folder, lambda s: s.state is SessionState.PAUSED)
        refusal = await one.refused(
            "submit_attempt", session_id=name, source=candidate(2.0), idea="too soon"
        )
        assert "is paused (nora: paused by nora)" in refusal
        assert "until it runs again" in refusal
        assert (await one.call("get_session", session_id=name))["state"] == "paused"
        send(folder.journal, "resume", author="nora", seen_seq=LATE)
        await until(folder, lambda s: s.state is SessionState.RUNNING)
        assert (await hand_in(2.0))["is_best"]
        said = await one.refused(
            "submit_attempt", session_id=name, source="x = 1\n", idea="no ModelNew"
        )
        assert "the file defines no ModelNew" in said


async def test_callers_over_http_see_what_they_opened_and_four_are_the_most(under: Path) -> None:
    gateway = Gateway(under, Engines(under))
    mine, yours = SessionCaller("mine", everything=False), SessionCaller("yours", everything=False)
    all_of_them = SessionCaller("boss", everything=True)
    async with agent(under) as one:
        name = (await one.call("open_session", task_id=TASK))["session_id"]
    assert await gateway.sessions(mine) == []
    for _ in range(OPEN_AT_ONCE):
        create_session(request(strategy="external", models={}, opened_by="mine"), under)
    with pytest.raises(SessionsRefused, match=r"You have 4 sessions open .* is the most"):
        await gateway.open(mine, SessionWish(TASK))
    assert len(await gateway.sessions(mine)) == OPEN_AT_ONCE
    assert len(await gateway.sessions(all_of_them)) == 1 + OPEN_AT_ONCE
    for asked in (gateway.session(yours, name), gateway.attempt(yours, name, "c1")):
        with pytest.raises(SessionsRefused, match=f"There is no session '{name}'"):
            await asked
    for odd in ("../sessions", f"../{name}", ".", "", "a/b", "\x00"):
        with pytest.raises(SessionsRefused, match="There is no session"):
            await gateway.session(all_of_them, odd)
    assert (await gateway.session(all_of_them, name))["state"] in ("running", "waiting")
