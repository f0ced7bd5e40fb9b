"""Agents that call tools within a step: whole searches, with every round a query and every call a fact."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.commands import send
from sessions.fold import fold
from sessions.journal import Reader
from sessions.models.port import Finish
from sessions.models.replay import ReplayModel
from sessions.states import SessionState
from sessions.talk_pages import pages
from sessions.tool_rounds import LAST_WORDS
from tests.fakes import FatedEvaluator, FatedModel, source_of, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.model import QueryRecord, State
    from sessions.models.port import Request

EVEN = ("ok",)


def talking(under: Path, rounds: Callable[[Request], int] = lambda _: 2, **changes: Any) -> Search:
    """Return a search whose model calls tools so often before each answer."""
    settings = {"queries": 40, "width": 2, "places": 2, "ideas": 2, "agent_tools": True}
    model = replace(changes.pop("model", FatedModel()), rounds=rounds)
    settings |= changes.pop("settings", {})
    return search(under, settings=settings, model=model, **changes)


def steps_of(state: State) -> dict[tuple[str, int], list[QueryRecord]]:
    """Return the rounds of each step of COA and EFA."""
    found: dict[tuple[str, int], list[QueryRecord]] = {}
    for query in state.queries.values():
        if query.role != "ideas":
            found.setdefault((query.proposal, query.step), []).append(query)
    return found


async def test_every_round_is_a_query_and_every_call_a_fact(tmp_path: Path) -> None:
    found = talking(tmp_path)
    assert await found.run() is SessionState.FINISHED
    state = found.state
    assert state.spending.queries == len(state.queries) <= 40
    asking = [query for query in state.queries.values() if query.calls]
    assert len(found.of("tool_answered")) == 2 * len(asking) > 0
    whole = [rounds for rounds in steps_of(state).values() if rounds[-1].round == 3]
    assert whole
    for rounds in whole:
        assert [query.round for query in rounds] == [1, 2, 3]
        assert len({query.model for query in rounds}) == 1
    for attempt in state.attempts.values():
        assert attempt.proposal in state.trajectories
    assert not [name for name in found.evaluator.judged if name in state.attempts and "-" in name]


async def test_what_is_timed_within_a_step_is_no_attempt(tmp_path: Path) -> None:
    found = talking(tmp_path, model=FatedModel(fates=EVEN))
    await found.run()
    state = found.state
    tools = [name for name in found.evaluator.judged if name.startswith("q")]
    assert tools
    assert set(state.attempts) == {name for name in found.evaluator.judged if name[0] == "c"} - {
        "c0"
    }
    assert all(attempt.correct for attempt in state.attempts.values())


async def test_results_go_back_with_what_the_model_said_and_its_mistakes_are_told(
    tmp_path: Path,
) -> None:
    found = talking(tmp_path)
    await found.run()
    asked = next(request for request in found.model.talks if request.round == 3)
    first, second = asked.rounds
    assert first.turn.said == [{"said": first.turn.text, "signature": "c2ln"}]
    good, unknown = second.results
    assert "as check_kernel found" in good.text
    assert good.text.splitlines()[1].startswith("candidate_id: q")
    assert not unknown.ok
    assert unknown.text.startswith("There is no tool 'guess_kernel': there are compile_kernel, ")
    opening = next(r for r in found.model.talks if r.proposal == asked.proposal and r.round == 1)
    assert asked.prompt.text == opening.prompt.text
    assert "You have 6 replies in all" in asked.prompt.text


async def test_the_last_round_must_answer_and_a_model_that_does_not_loses_nothing(
    tmp_path: Path,
) -> None:
    found = talking(tmp_path, lambda _: 99, settings={"tool_rounds": 3, "queries": 60})
    assert await found.run() is SessionState.FINISHED
    state = found.state
    last = [request for request in found.model.talks if request.last_round]
    assert last
    assert all(request.rounds[-1].words.endswith(LAST_WORDS) for request in last)
    for (proposal, step), rounds in steps_of(state).items():
        assert len(rounds) <= 3
        made = [a for a in state.attempts.values() if (a.proposal, a.step) == (proposal, step)]
        if len(rounds) == 3:
            source = _source(found, made[0].source_key)
            assert source == source_of(0, proposal, step)


def _committed(found: Search, commit: str) -> list[str]:
    words = ["git", "-C", str(found.folder.lineage), "ls-tree", "--name-only", commit]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


def _source(found: Search, key: str) -> str:
    with Reader(found.folder.journal) as reader:
        return reader.text(key)


@pytest.mark.parametrize("queries", range(5, 12))
async def test_a_budget_that_ends_between_rounds_leaves_the_last_file_as_the_attempt(
    tmp_path: Path, queries: int
) -> None:
    found = talking(
        tmp_path, lambda _: 5, settings={"queries": queries}, model=FatedModel(fates=EVEN)
    )
    assert await found.run() is SessionState.FINISHED
    state = found.state
    assert state.spending.queries <= queries
    assert state.spending.queries_reserved == 0
    assert not state.open
    began = [t for t in state.trajectories.values() if t.queries and t.lineage]
    assert began
    assert all(trajectory.attempts for trajectory in began)


async def test_dollars_that_end_between_rounds_are_not_overspent(tmp_path: Path) -> None:
    model = FatedModel(fates=EVEN, price_usd=0.4, estimate=0.5)
    limits = {"queries": 40, "cost_usd": 3.0, "hours": None}
    found = talking(tmp_path, lambda _: 5, limits=limits, model=model)
    assert await found.run() is SessionState.FINISHED
    state = found.state
    assert state.code == "cost"
    assert state.spending.cost_usd <= 3.0
    assert any(query.cut_short for query in state.queries.values())


async def test_a_round_that_gets_no_answer_leaves_the_file_that_was_shown(tmp_path: Path) -> None:
    def fail(request: Request) -> Exception | None:
        return unanswered() if request.round == 2 and request.proposal == "p2" else None

    found = talking(tmp_path, model=FatedModel(fates=EVEN, fail=fail))
    await found.run()
    state = found.state
    (failed,) = [q for q in state.queries.values() if q.end == "failed"]
    (attempt,) = [a for a in state.attempts.values() if a.proposal == "p2"]
    assert attempt.query == failed.id
    assert _source(found, attempt.source_key) == source_of(0, "p2", 0, EVEN)
    assert _committed(found, attempt.commit) == [
        "candidate.py",
        "prompt.md",
        "rounds.md",
        "verdict.json",
    ]


async def test_a_guide_reaches_the_next_round_once(tmp_path: Path) -> None:
    found = talking(tmp_path, lambda _: 3, settings={"width": 1, "places": 1})

    def say(request: Request) -> Exception | None:
        if (request.proposal, request.round) == ("p2", 1):
            send(found.folder.journal, "guide", {"text": "no atomics"}, author="t", seen_seq=10**6)
        return None

    found.model = replace(found.model, fail=say)
    await found.run()
    asked = [r for r in found.model.talks if r.proposal == "p2" and r.step == 0]
    told = ["no atomics" in one.words for one in asked[-1].rounds]
    assert told.count(True) == 1
    assert "no atomics" not in asked[0].prompt.text
    state = found.state
    (steer,) = state.steers.values()
    assert (
        steer.id in state.queries[state.attempts[state.trajectories["p2"].attempts[0]].query].steers
    )


async def test_a_pause_between_rounds_keeps_them_and_now_cancels_the_tool(tmp_path: Path) -> None:
    evaluator = FatedEvaluator(hold=asyncio.Event())
    found = talking(tmp_path, evaluator=evaluator, settings={"width": 1, "places": 1, "queries": 9})
    engine = await found.engine()
    running = asyncio.create_task(engine.run())
    async with asyncio.timeout(60):
        while not evaluator.running or engine.state.baseline is None:  # noqa: ASYNC110 - a fake tells nobody
            await asyncio.sleep(0)
        send(found.folder.journal, "pause", {"now": True}, author="t", seen_seq=10**6)
        while not evaluator.cancelled:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        assert not found.of("tool_answered")
        assert evaluator.hold is not None
        evaluator.hold.set()
        send(found.folder.journal, "resume", {}, author="t", seen_seq=10**6)
        assert await running is SessionState.FINISHED
    assert [(r.proposal, r.step, r.round) for r in found.model.talks].count(("p2", 0, 1)) == 1


async def test_a_finished_session_replays_for_nothing_though_the_tools_say_something_else(
    tmp_path: Path,
) -> None:
    first = talking(tmp_path, settings={"places": 1})
    await first.run()
    past = ReplayModel("first", first.folder.journal)
    models = dict.fromkeys(("ideas", "improve", "fix"), past.name)
    again = talking(tmp_path, models=models, settings={"places": 1}, evaluator=_Other())
    assert await again.run(models={past.name: past}) is SessionState.FINISHED
    assert again.state.spending.cost_usd == 0
    for state in (first.state, again.state):
        assert not any(query.end != "done" for query in state.queries.values())
    sources = [[a.source_key for a in s.attempts.values()] for s in (first.state, again.state)]
    assert sources[0] == sources[1]


class _Other(FatedEvaluator):
    """Its tools use other words."""

    async def wait(self, job: str, on_stage: Any) -> dict[str, Any]:
        found = await super().wait(job, on_stage)
        return found | {"shown": f"{found['shown']}\ntoday"} if "shown" in found else found


async def test_the_fold_is_the_same_from_any_start(tmp_path: Path) -> None:
    found = talking(tmp_path)
    await found.run()
    facts = found.facts
    whole = fold(facts)
    assert fold(facts[40:], fold(facts[:40])) == whole
    attempt = next(a for a in whole.attempts.values() if whole.queries[a.query].round == 3)
    with Reader(found.folder.journal) as reader:
        said = [page.title for page in pages(whole, whole.queries[attempt.query], reader.text)]
    assert said[0] == "Prompt"
    assert said[-1] == "Reply"
    assert "Round 1: benchmark_kernel asked for" in said
    assert any(title.startswith("Round 2: guess_kernel said (not ok, ") for title in said)


async def test_models_that_call_no_tools_are_offered_none(tmp_path: Path) -> None:
    found = talking(tmp_path, model=FatedModel(calls_tools=False))
    await found.run()
    assert {request.round for request in found.model.talks} == {0}
    assert not any(request.tools for request in found.model.talks)
    assert not any("Tools, before you answer" in r.prompt.text for r in found.model.talks)
    assert {query.finish for query in found.state.queries.values()} == {Finish.STOP}
