"""Pin, boost, fork, submit, model and edit on a running search: what each does, is refused for, leaves behind."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.commands import send
from sessions.journal import Reader
from sessions.models.port import ModelRefused
from sessions.start import create_session
from sessions.states import SessionState
from sessions.steering import status
from strategies import registry
from tests.fakes import SOURCE, FatedModel
from tests.sessions.searches import Search, request, search
from tests.sessions.test_control import engine, until
from tests.sessions.test_steering import beside, ended

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.models.port import LanguageModel

LATE = 10**6
MINE = f"# change: by hand\n# fate: ok 3.5\n{SOURCE.replace('class Model(', 'class ModelNew(')}"
BROKEN = MINE.replace("ok 3.5", "wrong_result 1.0")


def sent(running: Search, act: str, seen: int = LATE, **args: Any) -> None:
    send(running.folder.journal, act, args, author="ada", seen_seq=seen)


def trailers(running: Search, candidate: str) -> str:
    commit = running.state.attempts[candidate].commit
    words = ["log", "-1", "--format=%(trailers)", commit]
    command = ["git", "-C", str(running.folder.lineage), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stands(running: Search) -> dict[str, str]:
    state = running.state
    return {s.id: status(state, s) for s in state.steers.values()}


def slowest(running: Search) -> str:
    found = [a for a in running.state.attempts.values() if a.correct]
    return max(found, key=lambda a: a.runtime_ms or 0).id


async def paused_after(under: Path, attempts: int, **changes: Any) -> Search:
    """Return a search that was stopped after so many attempts, with more to do."""
    settings = {"ideas": 0, "fixes": 1, "width": 4, "places": 4, "queries": 20, "top": 2}
    settings |= changes.pop("settings", {})
    given = {"model": FatedModel(fates=("ok",)), "settings": settings} | changes
    running = search(under, **given)
    async with engine(running) as task:
        await until(running, lambda s: sum(bool(a.commit) for a in s.attempts.values()) >= attempts)
        await beside(running, "stop")
        assert await task is SessionState.STOPPED
    return running


async def gone_on(running: Search, **changes: Any) -> None:
    """Resume a stopped search, to its end."""
    sent(running, "resume")
    assert await running.run(**changes) is SessionState.FINISHED


async def test_a_pinned_candidate_is_a_seed_of_every_later_phase_until_it_is_unpinned(
    tmp_path: Path,
) -> None:
    running = await paused_after(tmp_path, 4)
    name = slowest(running)
    sent(running, "pin", candidate=name)
    seq = running.state.seq
    await gone_on(running)
    phases = [b for b in running.after(seq, f.Proposed) if b.proposals]
    assert phases
    assert all(name == phase.proposals[0]["parent"] for phase in phases)
    state = running.state
    steer = state.steers["s1"]
    shaped = [q for q in state.queries.values() if "s1" in q.steers]
    assert steer.uses == len(shaped) > 0
    assert {state.trajectories[q.proposal].proposal.parent for q in shaped} == {name}
    child = next(a for a in state.attempts.values() if a.query and a.query == shaped[0].id)
    assert f"Pike-Steer: s1 pin {name} by ada" in await asyncio.to_thread(
        trailers, running, child.id
    )
    assert stands(running) == {"s1": "in force"}
    await ended(running, ("pin", {"candidate": name, "off": True}))
    assert stands(running) == {"s1": "withdrawn", "s2": "spent"}
    assert running.state.pins == {}


async def test_a_boost_gives_a_seed_its_share_and_a_weight_of_one_undoes_it(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    heavy, light = list(running.state.attempts.values())[:2]
    for each in (heavy, light):
        sent(running, "pin", candidate=each.id)
    target = f"lineage:{heavy.lineage}"
    sent(running, "boost", target=target, weight=3)
    seq = running.state.seq
    await gone_on(running)
    parents = [p["parent"] for b in running.after(seq, f.Proposed) for p in b.proposals[:4]]
    assert (parents[:4].count(heavy.id), parents[:4].count(light.id)) == (3, 1)
    assert stands(running)["s3"] == "in force"
    again, undo, twice = await ended(
        running,
        ("boost", {"target": target, "weight": 0.5}),
        ("boost", {"target": target, "weight": 1}),
        ("boost", {"target": target, "weight": 1}),
    )
    assert again.applied
    assert undo.applied
    assert twice.why == f"{target} is not boosted"
    assert stands(running) == {
        "s1": "in force",
        "s2": "in force",
        "s3": "spent",
        "s4": "withdrawn",
        "s5": "spent",
        "s6": "refused",
    }


def of_strategy(under: Path, strategy: str) -> Search:
    """Return a search of nine queries."""
    known = {described.name for described in registry.describe(strategy)}
    asked = {"queries": 9, "places": 3, "width": 3, "fixes": 1, "ideas": 3}
    settings = {name: value for name, value in asked.items() if name in known}
    made = replace(request(strategy=strategy), settings={**settings, "fix_memory": 0})
    made = replace(made, limits={"queries": 9, "cost_usd": None, "hours": None})
    return Search(create_session(made, under), FatedModel(fates=("ok",)))


@pytest.mark.parametrize("strategy", registry.searching())
async def test_a_fork_opens_paid_proposals_that_start_first_on_lineages_of_their_own(
    tmp_path: Path, strategy: str
) -> None:
    running = of_strategy(tmp_path, strategy)
    sent(running, "fork", candidate="c0", count=2, text="two stages, please")
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert running.of("steer")[0].args["proposals"] == ["h1", "h2"]
    started = [b.proposal for b in running.of("started")]
    assert started[:2] == ["h1", "h2"]
    own = {state.trajectories[h].lineage for h in ("h1", "h2")}
    assert len(own) == 2
    with Reader(running.folder.journal) as reader:
        for query in state.queries.values():
            forked = query.proposal in ("h1", "h2")
            assert ("two stages, please" in reader.text(query.prompt_key)) is forked
            assert query.steers == (["s1"] if forked else [])
    made = state.trajectories["h1"].attempts[0]
    log = await asyncio.to_thread(trailers, running, made)
    assert "Pike-Steer: s1 fork c0 by ada two stages, please" in log
    assert state.spending.queries == state.limits["queries"]
    assert state.spending.queries_reserved == 0
    assert stands(running) == {"s1": "spent"}


async def test_a_fork_holds_no_barrier_and_its_child_joins_the_running_pool(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    parent = slowest(running)
    sent(running, "fork", candidate=parent, count=1)
    await gone_on(running)
    fork = running.state.trajectories["h1"]
    assert (fork.proposal.parent, fork.proposal.role) == (parent, "improve")
    assert fork.closed == "works"
    assert fork.lineage not in {
        t.lineage for n, t in running.state.trajectories.items() if n != "h1" and t.seq < fork.seq
    }


async def test_withdrawing_a_fork_cancels_what_is_unsent_and_frees_its_queries(
    tmp_path: Path,
) -> None:
    hold = asyncio.Event()
    model = FatedModel(fates=("ok",), hold=hold)
    settings = {"ideas": 0, "places": 2, "width": 2, "queries": 8}
    running = search(tmp_path, model=model, settings=settings)
    sent(running, "fork", candidate="c0", count=3)
    async with engine(running) as task:
        await until(running, lambda s: len(s.in_flight) == 2)
        assert status(running.state, running.state.steers["s1"]) == "in force"
        before = running.state.spending.queries_reserved
        await beside(running, "withdraw", steer="s1")
        state = await until(running, lambda s: s.steers["s1"].withdrawn)
        assert state.trajectories["h3"].closed == "cancelled"
        assert state.spending.queries_reserved == before - 1
        hold.set()
        assert await task is SessionState.FINISHED
    closed = {n: t.closed for n, t in running.state.trajectories.items() if n.startswith("h")}
    assert closed == {"h1": "works", "h2": "works", "h3": "cancelled"}


async def test_a_submission_costs_no_query_is_by_a_human_and_becomes_a_seed(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    parent = slowest(running)
    spent = running.state.spending.queries
    sent(running, "submit", source=MINE, name="mine.py", parent=parent)
    seq = running.state.seq
    await gone_on(running)
    state = running.state
    [name] = state.trajectories["h1"].attempts
    mine = state.attempts[name]
    assert (mine.author, mine.parent, mine.query, mine.kind) == ("human", parent, "", "correct")
    assert state.spending.queries == 20 > spent
    steer = running.of("steer")[0]
    assert "source" not in steer.args
    with Reader(running.folder.journal) as reader:
        assert reader.text(steer.args["source_key"]) == MINE
    parents = [p["parent"] for b in running.after(seq, f.Proposed) for p in b.proposals]
    assert name in parents
    log = await asyncio.to_thread(trailers, running, name)
    assert "Pike-Steer: s1 submit mine.py by ada" in log
    assert "Pike-Agent: human" in log


async def test_a_submission_equal_to_an_earlier_attempt_reuses_its_verdict(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    name = slowest(running)
    with Reader(running.folder.journal) as reader:
        source = reader.text(running.state.attempts[name].source_key)
    sent(running, "submit", source=f"\n{source}\n\n", name="again.py")
    await gone_on(running)
    [again] = running.state.trajectories["h1"].attempts
    assert running.state.attempts[again].reused == name


@pytest.mark.parametrize(("fix", "closed"), [(True, "works"), (False, "gave_up")])
async def test_only_a_submission_that_may_be_fixed_is_given_to_the_fixing_agent(
    tmp_path: Path, fix: bool, closed: str
) -> None:
    running = await paused_after(tmp_path, 2)
    sent(running, "submit", source=BROKEN, name="mine.py", fix=fix)
    await gone_on(running)
    record = running.state.trajectories["h1"]
    assert record.closed == closed
    assert [running.state.queries[q].role for q in record.queries] == (["fix-wrong"] if fix else [])
    authors = [running.state.attempts[a].author for a in record.attempts]
    assert authors == (["human", "EFA"] if fix else ["human"])
    assert running.state.spending.queries == 20


async def test_a_finished_search_takes_a_submission_and_finishes_again(tmp_path: Path) -> None:
    running = search(tmp_path, model=FatedModel(fates=("ok",)))
    await running.run()
    sent(running, "submit", source=MINE, name="mine.py")
    await gone_on(running)
    [name] = running.state.trajectories["h1"].attempts
    assert running.state.attempts[name].remeasured
    assert running.state.leader is not None
    assert running.state.leader.id == name
    assert running.state.code == "queries"


def others(name: str) -> LanguageModel:
    if name == "nobody":
        raise ModelRefused("no model is called 'nobody'; did you mean fated?", "unknown_model")
    if name == "locked":
        raise ModelRefused("OTHER_KEY is not set", "bad_key")
    estimate = None if name == "unpriced" else 0.01
    return FatedModel(name=name, fates=("ok",), estimate=estimate, price_usd=0.01)


async def test_another_model_answers_from_the_next_query_and_after_a_resume(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    sent(running, "model", role="improve", model="other")
    sent(running, "stop")
    async with engine(running, open_model=others) as task:
        assert await task is SessionState.STOPPED
    seq = running.state.seq
    assert running.state.models["improve"] == "other"
    models = {"fated": running.model, "other": others("other")}
    await gone_on(running, models=models)
    assert {q.model for q in running.after(seq, f.QuerySent)} == {"other"}
    assert all("s1" in q.steers for q in running.after(seq, f.QuerySent))
    assert running.of("steer")[0].args["before"] == {"improve": "fated"}
    assert stands(running) == {"s1": "in force"}


def toolless(name: str) -> LanguageModel:
    return FatedModel(name=name, fates=("ok",), calls_tools=False)


async def test_a_model_that_can_call_no_tools_becomes_no_agent_of_a_search_whose_agents_do(
    tmp_path: Path,
) -> None:
    running = await paused_after(tmp_path, 4, settings={"agent_tools": True})
    for role in ("improve", "fix", "all"):
        sent(running, "model", role=role, model="mcp")
    sent(running, "fork", candidate="c0", count=1, model="mcp")
    sent(running, "model", role="ideas", model="mcp")
    sent(running, "stop")
    assert await running.run(open_model=toolless) is SessionState.STOPPED
    *refused, ideas = running.of("steer")
    assert [s.applied for s in refused] == [False] * 4
    assert all("mcp cannot be offered any" in s.why for s in refused)
    assert ideas.applied, ideas.why  # IBA answers at once
    assert running.state.models["improve"] == running.state.models["fix"] == "fated"


async def test_a_model_that_can_call_no_tools_answers_where_nobody_calls_any(
    tmp_path: Path,
) -> None:
    running = await paused_after(tmp_path, 4)
    sent(running, "model", role="improve", model="mcp")
    sent(running, "stop")
    assert await running.run(open_model=toolless) is SessionState.STOPPED
    assert running.state.models["improve"] == "mcp"


async def test_a_fork_may_ask_a_model_of_its_own(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    sent(running, "fork", candidate="c0", count=1, model="other")
    await gone_on(running, open_model=others)
    models = {q.model for q in running.state.queries.values() if q.proposal == "h1"}
    assert models == {"other"}


async def test_edited_words_reach_the_next_prompt_and_leave_earlier_commits_alone(
    tmp_path: Path,
) -> None:
    running = search(tmp_path, model=FatedModel(fates=("ok",)), settings={"ideas": 0})
    sent(running, "guide", text="the first words")
    async with engine(running) as task:
        await until(running, lambda s: any(a.commit for a in s.attempts.values()))
        await beside(running, "edit", steer="s1", text="the second words")
        assert await task is SessionState.FINISHED
    state = running.state
    edited = state.steers["s2"].seq
    with Reader(running.folder.journal) as reader:
        for query in state.queries.values():
            words = "the second words" if query.seq > edited else "the first words"
            assert words in reader.text(query.prompt_key)
    for name, attempt in state.attempts.items():
        words = "second" if state.queries[attempt.query].seq > edited else "first"
        log = await asyncio.to_thread(trailers, running, name)
        assert f"Pike-Guide: s1 the {words} words" in log
    assert stands(running) == {"s1": "in force", "s2": "spent"}


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("pin", {"candidate": "c99"}, "no candidate 'c99'"),
    ("pin", {"candidate": "bad"}, "is not correct"),
    ("pin", {"candidate": "gone"}, "is banned by s1"),
    ("pin", {"candidate": "third"}, "2 are pinned"),
    ("pin", {"candidate": "held"}, "is pinned already, by s2"),
    ("pin", {"candidate": "third", "off": True}, "is not pinned"),
    ("ban", {"candidate": "held"}, "is pinned by s2"),
    ("boost", {"target": "candidate:gone", "weight": 2}, "is banned by s1"),
    ("boost", {"target": "lineage:099", "weight": 2}, "no lineage"),
    ("boost", {"target": "held", "weight": 2}, "a boost is for"),
    ("boost", {"target": "candidate:c0", "weight": 101}, "at most 100"),
    ("boost", {"target": "candidate:c0", "weight": float("nan")}, "at most 100"),
    ("boost", {"target": "candidate:c0", "weight": "much"}, "must be a number"),
    ("fork", {"candidate": "gone"}, "is banned by s1"),
    ("fork", {"candidate": "bad"}, "is not correct"),
    ("fork", {"candidate": "c0", "count": 99}, "cannot be paid"),
    ("fork", {"candidate": "c0", "count": 0}, "1 to 100"),
    ("fork", {"candidate": "c0", "text": "x" * 2001}, "2,001 characters"),
    ("fork", {"candidate": "c0", "model": "nobody"}, "no model is called 'nobody'"),
    ("submit", {"source": "x = 1"}, "no ModelNew"),
    ("submit", {"source": "class ModelNew(:"}, "is not Python"),
    ("submit", {"source": "class ModelNew: pass\0"}, "is not Python"),
    ("submit", {"source": " "}, "is empty"),
    ("submit", {"source": "#" * 100_001}, "100,001 characters"),
    ("submit", {"source": MINE, "parent": "gone"}, "is banned by s1"),
    ("submit", {"source": MINE, "parent": "c99"}, "no candidate"),
    ("submit", {"source": MINE, "author": "COA"}, "not that of an agent"),
    ("model", {"role": "improve", "model": "nobody"}, "did you mean fated?"),
    ("model", {"role": "improve", "model": "locked"}, "keys of its start"),
    ("model", {"role": "improve", "model": "unpriced"}, "price of unpriced is unknown"),
    ("model", {"role": "boss", "model": "other"}, "no model role 'boss'"),
    ("model", {"role": "all", "model": "fated"}, "is fated already"),
    ("model", {"role": "improve", "model": "fated,other"}, "for the role fix only"),
    ("model", {"role": "fix", "model": ","}, "before and after each comma"),
    ("model", {"role": "fix", "model": "other, "}, "before and after each comma"),
    ("model", {"role": "fix", "model": "a,b,c,d,e,f,g,h,i"}, "8 models is the most"),
    ("edit", {"steer": "s2", "text": "x"}, "only a guide and a fork have words"),
    ("edit", {"steer": "s99", "text": "x"}, "no steer"),
    ("withdraw", {"steer": "s4"}, "set the old limit again"),
    ("budget", {"queries": 2.5}, "whole number"),
    ("budget", {"queries": float("inf")}, "number above 0"),
    ("budget", {"queries": True}, "number above 0"),
    ("guide", {"text": "x", "last": "some"}, "number of proposals"),
    ("guide", {"text": "x", "scope": "lineage:"}, "no lineage"),
]


async def test_every_steer_that_cannot_apply_is_refused_with_the_reason_and_changes_nothing(
    tmp_path: Path,
) -> None:
    fates = ("ok", "ok", "ok", "compile_error")
    model = FatedModel(fates=fates, seed=1)
    limits = {"queries": 20, "cost_usd": 5.0, "hours": None}
    running = await paused_after(tmp_path, 8, model=model, limits=limits, settings={"width": 8})
    good = [a.id for a in running.state.attempts.values() if a.correct]
    bad = next(a.id for a in running.state.attempts.values() if not a.correct)
    names = {"gone": good[0], "held": good[1], "third": good[3], "bad": bad}

    def named(value: Any) -> Any:
        kind, colon, name = str(value).rpartition(":")
        return f"{kind}{colon}{names[name]}" if name in names else value

    sent(running, "ban", candidate=names["gone"])
    for each in good[1:3]:
        sent(running, "pin", candidate=each)
    sent(running, "budget", queries=20)
    for act, args, _ in REFUSED:
        sent(running, act, **{key: named(value) for key, value in args.items()})
    sent(running, "stop")
    assert await running.run(open_model=others) is SessionState.STOPPED
    applied, refused = running.of("steer")[:4], running.of("steer")[4:]
    assert [s.why for s in applied] == ["", "", "", ""]
    for fact, (act, _, why) in zip(refused, REFUSED, strict=True):
        assert (fact.act, fact.applied) == (act, False)
        assert why in fact.why
        assert "source" not in fact.args
    state = running.state
    assert set(state.models.values()) == {"fated"}
    assert not [name for name in state.trajectories if name.startswith("h")]


async def test_two_viewers_at_once_and_the_second_is_told_what_the_first_did(
    tmp_path: Path,
) -> None:
    running = await paused_after(tmp_path, 4)
    name, seen = slowest(running), running.state.seq
    sent(running, "boost", seen, target=f"candidate:{name}", weight=3)
    sent(running, "boost", seen, target=f"candidate:{name}", weight=5)
    sent(running, "pin", seen, candidate=name)
    sent(running, "ban", seen, candidate=name)
    sent(running, "guide", seen, text="one")
    sent(running, "edit", LATE, steer="s5", text="two")
    sent(running, "edit", seen, steer="s5", text="three")
    sent(running, "stop")
    assert await running.run() is SessionState.STOPPED
    whys = {s.steer: s.why for s in running.of("steer") if not s.applied}
    assert whys == {
        "s2": f"candidate:{name} was weighed by s1 since",
        "s4": f"{name} was pinned by s3 since",
        "s7": "s5 was edited by s6 since",
    }


async def test_withdrawing_a_pin_a_boost_or_a_ban_undoes_it_and_other_bans_stay(
    tmp_path: Path,
) -> None:
    running = await paused_after(tmp_path, 6)
    first, second, third, *_ = list(running.state.attempts)
    sent(running, "ban", candidate=first)
    sent(running, "ban", candidate=second)
    sent(running, "pin", candidate=third)
    sent(running, "boost", target=f"candidate:{third}", weight=9)
    for steer in ("s1", "s3", "s4"):
        sent(running, "withdraw", steer=steer)
    sent(running, "stop")
    assert await running.run() is SessionState.STOPPED
    state = running.state
    assert (state.banned, state.pins, state.boosts) == ({second}, {}, {})
    assert [stands(running)[s] for s in ("s1", "s2", "s3", "s4")] == [
        *("withdrawn", "in force", "withdrawn", "withdrawn")
    ]


async def test_banning_the_last_candidate_leaves_the_original_to_build_on(tmp_path: Path) -> None:
    running = await paused_after(tmp_path, 4)
    for name in running.state.attempts:
        sent(running, "ban", candidate=name)
    seq = running.state.seq
    await gone_on(running)
    first = next(b for b in running.after(seq, f.Proposed) if b.proposals)
    assert {p["parent"] for p in first.proposals} == {"c0"}


async def test_a_strategy_that_chooses_no_parents_says_so(tmp_path: Path) -> None:
    running = of_strategy(tmp_path, "best-of-n")
    await running.run()
    pin, boost = await ended(
        running,
        ("pin", {"candidate": "c0"}),
        ("boost", {"target": "candidate:c0", "weight": 2}),
    )
    assert "begins every answer from the original" in pin.why
    assert "fork instead" in boost.why
