"""PIKE-B's options in the engine: each does what its configuration says, whole searches with known fates."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from sessions.journal import Reader
from sessions.start import create_session
from sessions.states import SessionState
from strategies import registry
from tests.fakes import FatedModel
from tests.sessions.searches import Search, request

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.model import State

FAILS = ("compile_error", "wrong_result", "timeout")
MIXED = ("ok", "ok", "compile_error")


def ran(
    under: Path,
    name: str,
    fates: tuple[str, ...] = MIXED,
    models: dict[str, str] | None = None,
    **given: Any,
) -> Search:
    """Return a finished search of a preset."""
    settings = registry.entry(name).complete({"queries": 24, "width": 4, "places": 4} | given)
    roles = {"ideas": "fated", "improve": "fated", "fix": "fated"} | (models or {})
    wanted = replace(
        request(settings={"queries": settings["queries"]}, models=roles),
        strategy=name,
        settings=settings,
        places=settings["places"],
    )
    found = Search(create_session(wanted, under), FatedModel(fates=fates))
    names = {each for entry in roles.values() for each in entry.split(",")}
    known = {each: replace(found.model, name=each) for each in names}
    assert asyncio.run(found.run(models=known)) is SessionState.FINISHED
    return found


def roles_of(found: Search) -> set[str]:
    return {query.role for query in found.state.queries.values()}


def phase(state: State, number: int) -> list[str]:
    """Return the parents of a phase, by its proposals' order."""
    own = [
        t.proposal for t in state.trajectories.values() if t.proposal.meta.get("phase") == number
    ]
    return [proposal.parent for proposal in own if proposal.role == "improve"]


def works(state: State, number: int) -> list[tuple[float, int, str]]:
    """Return runtime, position and id of what a phase brought, fastest first."""
    found = [
        (state.attempts[t.works].runtime_ms or 0.0, t.proposal.meta["position"], t.works)
        for t in state.trajectories.values()
        if t.works and t.proposal.meta.get("phase") == number
    ]
    return sorted(found)


def test_without_fixes_every_failure_is_given_up_at_its_first_answer(tmp_path: Path) -> None:
    found = ran(tmp_path, "pike-b-nofix")
    assert not [role for role in roles_of(found) if role.startswith("fix") or role == "again"]
    assert {len(t.attempts) for t in found.state.trajectories.values()} == {0, 1}
    assert {t.closed for t in found.state.trajectories.values()} == {"works", "gave_up"}


def test_without_ideas_the_brainstorming_agent_is_never_asked(tmp_path: Path) -> None:
    found = ran(tmp_path, "pike-b-noideas")
    assert "ideas" not in roles_of(found)
    assert not [q for q in found.state.queries.values() if q.agent.startswith("IBA")]
    starts = [t.proposal for t in found.state.trajectories.values() if t.proposal.role == "start"]
    assert len(starts) == 4
    assert {proposal.idea for proposal in starts} == {None}


@pytest.mark.parametrize("rule", ["global", "branch-first"])
def test_seeds_are_the_fastest_of_all_or_of_each_branch_first(tmp_path: Path, rule: str) -> None:
    found = ran(
        tmp_path, "pike-b-noideas", ("ok",), seed_rule=rule, width=6, top=3, queries=18, fixes=0
    )
    line = works(found.state, 1)
    assert len({position for _, position, _ in line}) == 3
    firsts = {position: name for _, position, name in reversed(line)}
    fastest = [name for _, _, name in line]
    wanted = [n for n in fastest if n in firsts.values()] if rule == "branch-first" else fastest
    assert list(dict.fromkeys(phase(found.state, 2))) == wanted[:3]
    assert fastest[:3] != [n for n in fastest if n in firsts.values()][:3]  # the rules differ here


@pytest.mark.parametrize("keep", [True, False])
def test_the_fastest_ever_stays_a_seed_only_where_it_is_kept(tmp_path: Path, keep: bool) -> None:
    found = ran(tmp_path, "pike-b-noideas", ("ok",), keep_best=keep, top=2, fixes=0, queries=28)
    state = found.state
    stayed = False
    for number in range(2, 7):
        ever = min(one for n in range(number) for one in works(state, n))
        is_old = ever not in works(state, number - 1)
        assert not (keep and is_old) or ever[2] in phase(state, number)
        stayed = stayed or (is_old and ever[2] in phase(state, number))
    assert stayed is keep


@pytest.mark.parametrize("memory", [0, 2])
def test_a_fix_sees_as_many_earlier_attempts_as_are_remembered(tmp_path: Path, memory: int) -> None:
    found = ran(tmp_path, "pike-b-noideas", FAILS, fix_memory=memory, width=2, fixes=4, queries=10)
    fixes = [q for q in found.of("query_sent") if q.role.startswith("fix")]
    with Reader(found.folder.journal) as reader:
        prompts = {(q.proposal, q.step): reader.text(q.prompt_key) for q in fixes}
    assert ("p1", 3) in prompts
    for (name, step), prompt in prompts.items():
        told = [n for n in range(step) if f"# change: {name} step {n}\n" in prompt]
        assert told == list(range(max(0, step - 1 - memory), step))


def test_a_cheap_model_fixes_while_the_dear_one_writes(tmp_path: Path) -> None:
    found = ran(tmp_path, "pike-b", models={"ideas": "dear", "improve": "dear", "fix": "cheap"})
    asked = {(q.model, q.agent.partition("-")[0]) for q in found.state.queries.values()}
    assert asked == {("dear", "IBA"), ("dear", "COA"), ("cheap", "EFA")}


def test_a_cascade_goes_on_to_the_dear_model_after_two_failed_fixes(tmp_path: Path) -> None:
    found = ran(
        tmp_path,
        "pike-b-noideas",
        FAILS,
        {"fix": "cheap,dear"},
        width=3,
        fixes=5,
        queries=18,
    )
    chains = [
        [found.state.queries[name].model for name in t.queries]
        for t in found.state.trajectories.values()
    ]
    for models in chains:
        assert models[0] == "fated"
        assert models[1] == "cheap"
        assert ("dear", "cheap") not in pairwise(models)  # never back
        assert models.count("cheap") <= 2
        assert models[3:] == ["dear"] * len(models[3:])
