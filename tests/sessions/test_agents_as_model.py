"""External agents as the language model of a PIKE-B search: prompts leased, replies taken once, kills survived."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from sessions.commands import send
from sessions.gateway import Gateway, SessionCaller, SessionsRefused
from sessions.journal import Reader
from sessions.leases import Leases, Taken
from sessions.start import create_session
from sessions.states import SessionState
from tests.fakes import answer_text
from tests.sessions.agents import (
    LIMIT_S,
    Agent,
    Engines,
    agent,
    end_engines,
    kill,
    state_of,
    until,
    world,
)
from tests.sessions.searches import request
from workbench import launch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.folder import SessionFolder

MODELS = {"ideas": "mcp", "improve": "mcp", "fix": "mcp"}
IDEAS = "1. fuse the loops\n2. use one pass\n"
LATE = 10**6


@pytest.fixture
def under(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = world(tmp_path, monkeypatch)
    yield found
    end_engines(found)


def begun(under: Path, queries: int = 5, instructions: str = "") -> SessionFolder:
    """Return a PIKE-B search that asks agents, its engine running."""
    settings = {"queries": queries, "width": 2, "places": 2, "fixes": 1, "ideas": 2}
    asked = request(models=MODELS, settings=settings, device="cpu", instructions=instructions)
    folder = create_session(asked, under)
    launch.start(folder)
    return folder


@dataclass
class CountedEngines(Engines):
    """Counts how often an engine is started anew."""

    revived: int = 0

    def revive(self, folder: SessionFolder) -> None:
        self.revived += 1
        super().revive(folder)


async def prompts(one: Agent, name: str, n: int = 1) -> list[dict[str, Any]]:
    """Take prompts, as soon as there are any."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            found = await one.call("next_prompt", session_id=name, n=n)
            if found["prompts"]:
                return found["prompts"]


async def answered(one: Agent, prompt: dict[str, Any]) -> str:
    """Answer a prompt as a model would; return what became of the answer."""
    if prompt["role"] == "ideas":
        text = IDEAS
    else:
        number = int(prompt["prompt_id"].rpartition("q")[2])
        text = answer_text(7, f"p{number}", 0, ("ok", "wrong_result"))
    reply = await one.call("submit_reply", prompt_id=prompt["prompt_id"], text=text, model="mine")
    return str(reply["state"])


@pytest.mark.timeout(600)
async def test_two_agents_carry_a_pike_b_search_and_money_is_unknown(under: Path) -> None:
    folder = begun(under)
    async with agent(under) as one, agent(under) as two:
        first = await prompts(one, folder.name)
        assert first[0]["role"] == "ideas"
        assert (await two.call("next_prompt", session_id=folder.name))["prompts"] == []
        assert await answered(one, first[0]) == "answered"
        assert await answered(one, first[0]) == "answered before"
        async with asyncio.timeout(LIMIT_S):
            for worker in (one, two, one, two):
                [mine] = await prompts(worker, folder.name)
                assert await answered(worker, mine) == "answered"
    state = await until(folder, lambda s: s.state is SessionState.FINISHED)
    assert (state.code, state.spending.queries, state.spending.unpriced) == ("queries", 5, 5)
    assert all(query.cost_usd is None for query in state.queries.values())
    assert {query.claimed for query in state.queries.values()} == {"mine"}
    assert all(attempt.commit for attempt in state.attempts.values())


@pytest.mark.timeout(600)
async def test_killing_the_engine_or_the_server_loses_no_reply_and_asks_nothing_twice(
    under: Path,
) -> None:
    folder = begun(under)
    async with agent(under) as one:
        [ideas] = await prompts(one, folder.name)
        assert kill(folder)
        assert await answered(one, ideas) == "answered"  # revives the engine
    seen = [ideas["prompt_id"]]
    async with agent(under) as other:
        async with asyncio.timeout(LIMIT_S):
            while len(seen) < 5:
                [mine] = await prompts(other, folder.name)
                seen.append(mine["prompt_id"])
                assert kill(folder)
                assert await answered(other, mine) == "answered"
    state = await until(folder, lambda s: s.state is SessionState.FINISHED)
    assert sorted(seen) == sorted(set(seen)), "no prompt is handed out twice"
    assert [query.end for query in state.queries.values()] == ["done"] * 5
    assert state.spending.queries == 5


async def test_a_lease_that_is_over_is_given_out_again_and_a_late_reply_counts_if_it_is_first(
    under: Path,
) -> None:
    folder = begun(under)
    now = 1_000.0
    gateway = Gateway(under, Engines(under), clock=lambda: now)
    one, two = (SessionCaller(name, everything=True) for name in ("one", "two"))

    async def first(who: SessionCaller) -> str:
        async with asyncio.timeout(LIMIT_S):
            while True:
                found = await gateway.prompts(who, folder.name, 1, 60)
                if found:
                    return str(found[0]["prompt_id"])
                await asyncio.sleep(0.1)

    prompt = await first(one)
    assert await gateway.prompts(two, folder.name, 10, 60) == []
    with pytest.raises(SessionsRefused, match=r"There is no prompt .* of yours"):
        await gateway.reply(two, prompt, IDEAS, "")
    now += 61
    assert await first(two) == prompt
    taken = await gateway.reply(one, prompt, IDEAS, "")
    assert (taken["state"], taken["queries_left"], taken["prompts_waiting"]) == ("answered", 4, 0)
    with pytest.raises(SessionsRefused, match="answered by another agent"):
        await gateway.reply(two, prompt, "too late", "")
    again = await gateway.reply(one, prompt, "changes nothing", "")
    assert (again["state"], again["queries_left"]) == ("answered before", 4)
    for odd in (f"{folder.name}:q99", f"../{folder.name}:q1", "nothing:q1", ":"):
        with pytest.raises(SessionsRefused, match="There is no prompt"):
            await gateway.reply(one, odd, "x", "")
    await until(folder, lambda s: s.queries["q1"].end)
    with Reader(folder.journal) as reader:
        assert reader.text(state_of(folder).queries["q1"].reply_key) == IDEAS


@pytest.mark.timeout(600)
async def test_many_calls_at_once_revive_a_killed_engine_once_and_none_is_refused(
    under: Path,
) -> None:
    folder = begun(under)
    engines = CountedEngines(under)
    gateway = Gateway(under, engines)
    everyone = [SessionCaller(f"agent-{n}", everything=True) for n in range(20)]
    async with asyncio.timeout(LIMIT_S):
        await until(folder, lambda s: "q1" in s.queries)
        assert kill(folder)
        given = await asyncio.gather(*(gateway.prompts(a, folder.name, 1, 60) for a in everyone))
    assert engines.revived == 1
    assert sorted(len(prompts) for prompts in given) == [0] * 19 + [1]


@pytest.mark.slow
async def test_a_paused_search_hands_out_nothing_but_takes_what_was_asked(under: Path) -> None:
    folder = begun(under)
    async with agent(under) as one:
        [ideas] = await prompts(one, folder.name)
        send(folder.journal, "pause", author="nora", seen_seq=LATE)
        await until(folder, lambda s: s.state is SessionState.PAUSED)
        said = await one.refused("next_prompt", session_id=folder.name)
        assert "is paused: paused by nora" in said
        assert (await one.call("get_session", session_id=folder.name))["state"] == "paused"
        assert await answered(one, ideas) == "answered"
        await until(folder, lambda s: s.queries["q1"].end == "done")
        said = await one.refused(
            "submit_attempt", session_id=folder.name, source="class ModelNew: pass", idea="mine"
        )
        assert "is driven by pike-b" in said


@pytest.mark.slow
async def test_a_long_prompt_is_cut_and_readable_whole(under: Path) -> None:
    folder = begun(under, instructions="Say why, line by line.\n" * 500)
    async with agent(under) as one:
        [row] = await prompts(one, folder.name)
        with Reader(folder.journal) as reader:
            query = state_of(folder).queries[row["prompt_id"].partition(":")[2]]
            whole = reader.text(query.prompt_key)
        assert whole.startswith(row["text"])
        assert len(row["text"]) < len(whole)
        read, offset = "", 0
        while offset is not None:
            page = await one.call("get_artifact", artifact_id=row["text_id"], offset=offset)
            read, offset = read + page["text"], page.get("next_offset")
        assert read == whole


def test_of_many_servers_exactly_one_gets_a_prompt_and_one_answer_is_sent(tmp_path: Path) -> None:
    folder = create_session(request(models=MODELS), tmp_path)
    leases = [Leases(folder.journal) for _ in range(3)]
    given = [each.take(["q1", "q2"], 1, f"a{n}", 100.0, 1.0) for n, each in enumerate(leases)]
    assert given == [["q1"], ["q2"], []]
    assert leases[2].take(["q1", "q2"], 2, "a2", 300.0, 200.0) == ["q1", "q2"]
    command = {"query": "q1", "text": "x"}
    taken = [each.answer("q1", f"a{n}", command, 201.0, 1) for n, each in enumerate(leases)]
    assert taken == [Taken.NEW, Taken.UNKNOWN, Taken.BY_ANOTHER]
    assert leases[0].answer("q1", "a0", command, 202.0, 1) is Taken.AGAIN
    with Reader(folder.journal) as reader:
        assert [c.args["query"] for c in reader.waiting_commands()] == ["q1"]
