"""Steers: taken once, applied or refused with a reason, seen by the prompts and the commits."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.commands import send
from sessions.errors import CommandRefused
from sessions.journal import Reader
from sessions.states import SessionState
from sessions.steering import status
from tests.fakes import FatedModel
from tests.sessions.searches import Search, search
from tests.sessions.test_control import engine, until

if TYPE_CHECKING:
    from pathlib import Path


LATE = 10**6
"""A viewer that has seen everything."""


async def beside(running: Search, act: str, **args: Any) -> None:
    """Send a command while an engine runs in this process: its transactions must be able to end."""
    await asyncio.to_thread(send, running.folder.journal, act, args, author="ada", seen_seq=LATE)


async def ended(running: Search, *commands: tuple[str, dict[str, Any]]) -> list[f.Steered]:
    """Let a search end, send commands, let it take them; return their facts."""
    if running.state.seq == 1:
        await running.run()
    before = len(running.of("steer"))
    for act, args in commands:
        send(running.folder.journal, act, args, author="ada", seen_seq=LATE)
    await running.run()
    return running.of("steer")[before:]


def guide_trailers(running: Search) -> str:
    """Return what the commits say of guides."""
    words = ["log", "--all", "--format=%(trailers:key=Pike-Guide)"]
    command = ["git", "-C", str(running.folder.lineage), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def test_a_guide_is_in_the_prompts_and_in_the_commits_of_as_many_proposals_as_asked(
    tmp_path: Path,
) -> None:
    running = search(tmp_path)
    guide = {"text": "keep the softmax in fp32", "last": 2, "scope": "session"}
    send(running.folder.journal, "guide", guide, author="ada", seen_seq=1)
    await running.run()
    state = running.state
    used = {q.proposal for q in state.queries.values() if "s1" in q.steers}
    assert used == {"p1", "p2"}
    with Reader(running.folder.journal) as reader:
        texts = {q.id: reader.text(q.prompt_key) for q in state.queries.values()}
    for query in state.queries.values():
        assert ("keep the softmax in fp32" in texts[query.id]) is ("s1" in query.steers)
    assert status(state, state.steers["s1"]) == "spent"
    log = await asyncio.to_thread(guide_trailers, running)
    assert "Pike-Guide: s1 keep the softmax in fp32" in log


async def test_a_withdrawn_guide_reaches_no_prompt(tmp_path: Path) -> None:
    running = search(tmp_path)
    send(running.folder.journal, "guide", {"text": "no atomics"}, author="ada", seen_seq=1)
    send(running.folder.journal, "withdraw", {"steer": "s1"}, author="bob", seen_seq=1)
    await running.run()
    assert not [q for q in running.state.queries.values() if q.steers]
    assert status(running.state, running.state.steers["s1"]) == "withdrawn"


async def test_a_guide_for_a_lineage_reaches_that_lineage_only(tmp_path: Path) -> None:
    hold = asyncio.Event()
    running = search(tmp_path, model=FatedModel(hold=hold, fates=("ok",)))
    async with engine(running) as task:
        hold.set()
        await until(running, lambda s: "001" in s.lineages)
        await beside(running, "guide", text="only here", scope="lineage:001")
        assert await task is SessionState.FINISHED
    state = running.state
    with_guide = {
        state.trajectories[q.proposal].lineage for q in state.queries.values() if q.steers
    }
    assert with_guide <= {"001"}
    assert state.steers["s1"].applied


async def test_a_ban_cancels_open_proposals_below_and_is_never_a_parent_again(
    tmp_path: Path,
) -> None:
    hold = asyncio.Event()
    running = search(tmp_path, model=FatedModel(fates=("ok",), hold=hold), settings={"ideas": 0})
    async with engine(running) as task:
        hold.set()
        await until(running, lambda s: s.phase == 1 and s.open)
        hold.clear()
        parent = running.state.open[0].proposal.parent
        await beside(running, "ban", candidate=parent)
        await until(running, lambda s: parent in s.banned)
        seq = running.state.seq
        hold.set()
        assert await task is SessionState.FINISHED
    later = [p for body in running.after(seq, f.Proposed) for p in body.proposals]
    assert later
    assert parent not in {p["parent"] for p in later}
    for sent in running.after(seq, f.QuerySent):
        assert running.state.trajectories[sent.proposal].proposal.parent != parent


@pytest.mark.parametrize(
    ("act", "args", "why"),
    [
        ("ban", {"candidate": "c0"}, "the original cannot be banned"),
        ("ban", {"candidate": "c999"}, "no candidate"),
        ("guide", {"text": "x" * 2001}, "2,001 characters"),
        ("guide", {"text": "  "}, "no text"),
        ("guide", {"text": "x", "scope": "lineage:999"}, "no lineage"),
        ("guide", {"text": "x", "scope": "world"}, "is for session"),
        ("guide", {"off": True}, "no guide for session"),
        ("budget", {"queries": 1}, "below the 12"),
        ("budget", {"queries": "many"}, "number above 0"),
        ("budget", {}, "name a limit"),
        ("withdraw", {"steer": "s999"}, "no steer"),
    ],
)
async def test_a_steer_that_cannot_apply_is_refused_with_the_reason(
    tmp_path: Path, act: str, args: dict[str, Any], why: str
) -> None:
    running = search(tmp_path)
    send(running.folder.journal, "pause", author="ada", seen_seq=1)
    [fact] = await refused_after(running, (act, args))
    assert not fact.applied
    assert why in fact.why


async def refused_after(running: Search, command: tuple[str, dict[str, Any]]) -> list[f.Steered]:
    """Let the search end, then ask; every engine takes its waiting commands."""
    send(running.folder.journal, "resume", author="ada", seen_seq=1)
    return await ended(running, command)


async def test_a_ban_and_its_undo_apply_once_each_and_change_the_best(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(fates=("ok",)))
    await running.run()
    name = next(iter(running.state.attempts))
    first, again, undo = await ended(
        running,
        ("ban", {"candidate": name, "subtree": True}),
        ("ban", {"candidate": name}),
        ("ban", {"candidate": name, "off": True, "subtree": True}),
    )
    assert first.applied
    assert name in first.args["candidates"]
    assert (again.applied, again.why) == (False, f"{name} is banned already")
    assert undo.applied
    assert running.state.banned == set()


async def test_a_command_on_what_has_changed_since_is_refused(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(fates=("ok",)))
    await running.run()
    name, seen = next(iter(running.state.attempts)), running.state.seq
    for off in (False, True):
        args = {"candidate": name, "off": off}
        send(running.folder.journal, "ban", args, author="ada", seen_seq=LATE)
    send(running.folder.journal, "ban", {"candidate": name}, author="bob", seen_seq=seen)
    await running.run()
    assert running.of("steer")[-1].why == f"{name} was allowed again by s2 since"


def test_an_unknown_act_never_reaches_the_journal(tmp_path: Path) -> None:
    running = search(tmp_path)
    with pytest.raises(CommandRefused, match="no act is called 'dance'"):
        send(running.folder.journal, "dance", seen_seq=1)
    with Reader(running.folder.journal) as reader:
        assert reader.waiting_commands() == []


async def test_commands_survive_until_an_engine_takes_them_and_are_taken_once(
    tmp_path: Path,
) -> None:
    running = search(tmp_path)
    send(running.folder.journal, "guide", {"text": "first"}, author="ada", seen_seq=1)
    with Reader(running.folder.journal) as reader:
        assert [c.act for c in reader.waiting_commands()] == ["guide"]
    await running.run()
    await running.run()
    assert len(running.of("steer")) == 1
