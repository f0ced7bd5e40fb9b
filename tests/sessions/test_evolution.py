"""Whole searches of PIKE-O and steady in the engine: each does what its configuration says."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import git
import pytest

from sessions.facts import Closed, Proposed, Started
from sessions.start import create_session
from sessions.states import SessionState
from strategies import registry
from strategies.pike_o_settings import PRESETS
from strategies.protocol import Role
from tests.fakes import FatedModel
from tests.sessions.searches import Search, request

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.model import AttemptRecord, State
    from strategies.settings import Value

QUERIES = 45
WORKS = ("ok", "ok", "compile_error", "wrong_result", "unusable")


def search_of(name: str, under: Path, **given: Value) -> Search:
    """Return a search by name that is not yet run; `given`: its settings."""
    chosen = registry.create(name, {"queries": QUERIES, **given}, 0).settings
    assert is_dataclass(chosen)
    wanted = replace(
        request(settings={"queries": chosen.queries}),
        strategy=name,
        settings=asdict(chosen),
        places=chosen.places,
    )
    return Search(create_session(wanted, under), FatedModel(fates=WORKS))


@pytest.mark.parametrize("name", list(PRESETS))
async def test_each_preset_does_in_the_engine_what_its_configuration_says(
    name: str, tmp_path: Path
) -> None:
    search = search_of(name, tmp_path, migration_interval=3)
    assert await search.run() is SessionState.FINISHED
    state, settings = search.state, registry.create(name, {"migration_interval": 3}, 0).settings
    chosen: dict[str, Any] = asdict(settings)  # pyright: ignore[reportArgumentType] -- a dataclass, tested above
    proposals = [record.proposal for record in state.trajectories.values()]
    roles = {proposal.role for proposal in proposals}
    assert roles == ({Role.IMPROVE, Role.CROSS} if chosen["prompt"] == "cross" else {Role.IMPROVE})
    assert {p.meta["slot"] for p in proposals} == set(range(chosen["islands"]))
    # A scripted answer may be there before the last place is taken.
    assert chosen["places"] // 2 < most_open(search) <= chosen["places"]
    assert state.spending.queries == QUERIES
    steps = max(len(record.queries) for record in state.trajectories.values()) - 1
    assert (steps == 0) if chosen["fixes"] == 0 else (0 < steps <= chosen["fixes"])
    draws = {p.meta["draw"] for p in proposals}
    assert (draws == {"exploit"}) if chosen["exploit"] == 1 else (len(draws) > 1)
    assert_library(state, chosen)
    for proposal in proposals:
        parent = state.attempts.get(proposal.parent)
        assert proposal.parent == "c0" or (parent is not None and parent.correct)


def most_open(search: Search) -> int:
    """Return how many trajectories were under way at most."""
    running, most = 0, 0
    for fact in search.facts:
        running += isinstance(fact.body, Started)
        running -= isinstance(fact.body, Closed)
        most = max(most, running)
    return most


def assert_library(state: State, chosen: dict[str, Any]) -> None:
    """The last saved state: sizes, islands, and migrations as often as the results say."""
    assert state.dump is not None
    library, turns = state.dump["library"], state.dump["turns"]
    entries = library["entries"]
    assert len(entries) <= chosen["population"]
    assert sum(entry["seated"] for entry in entries) <= chosen["archive"]
    assert len(turns["generations"]) == chosen["islands"]
    tried = [r for r in state.trajectories.values() if r.attempts and r.closed]
    assert sum(turns["generations"]) == state.dump["results"] == len(tried)
    migrated = any(entry["migrant"] for entry in entries)
    assert (turns["migrated_at"] >= 3) is migrated is (chosen["islands"] > 1)


def shown(state: State, attempt: AttemptRecord) -> list[str]:
    """Return the commits that a first answer descends from."""
    proposal = state.trajectories[attempt.proposal].proposal
    return [state.attempts[name].commit for name in (proposal.parent, *proposal.inspirations)]


async def test_a_cross_child_is_a_merge_commit_of_all_that_its_prompt_showed(
    tmp_path: Path,
) -> None:
    search = search_of("pike-o", tmp_path, places=2, islands=1)
    await search.run()
    state = search.state
    crosses = [
        attempt
        for attempt in state.attempts.values()
        if state.trajectories[attempt.proposal].proposal.role is Role.CROSS
        and attempt.parent != "c0"
    ]
    with git.Repo(search.folder.lineage) as repo:
        found = {a.id: [p.hexsha for p in repo.commit(a.commit).parents] for a in crosses}
        prompts = {
            a.id: repo.git.show(f"{a.commit}:prompt.md") for a in crosses if a.step == 0 and a.query
        }
    firsts = [attempt for attempt in crosses if attempt.step == 0]
    assert len(firsts) > 5
    assert max(len(found[attempt.id]) for attempt in firsts) > 4
    for attempt in firsts:
        assert found[attempt.id] == shown(state, attempt)
        named = state.trajectories[attempt.proposal].proposal.inspirations
        assert all(f"Candidate {name} takes" in prompts[attempt.id] for name in named)
    for attempt in crosses:
        if attempt.step > 0:
            assert found[attempt.id] == [state.attempts[attempt.parent].commit]


async def test_with_queue_ahead_proposals_wait_for_places_and_know_less(tmp_path: Path) -> None:
    search = search_of("pike-o", tmp_path, places=3, queue_ahead=True)
    await search.run()
    facts = [fact.body for fact in search.facts]
    first = next(body for body in facts if isinstance(body, Proposed))
    assert len(first.proposals) == 6
    assert most_open(search) == 3


async def test_steady_starts_with_ideas_and_never_waits_for_a_phase(tmp_path: Path) -> None:
    search = search_of("steady", tmp_path, width=6, places=3)
    search.model.ideas = 4
    assert await search.run() is SessionState.FINISHED
    records = list(search.state.trajectories.values())
    assert records[0].proposal.role is Role.IDEAS
    starts = [r.proposal for r in records if r.proposal.role is Role.START]
    assert [p.idea for p in starts[:6]] == [f"idea number {n}" for n in (1, 1, 2, 2, 3, 4)]
    assert most_open(search) == 3
    assert search.state.spending.queries == QUERIES
    improves = [r.proposal for r in records if r.proposal.role is Role.IMPROVE]
    assert len({p.parent for p in improves}) > 3


@pytest.mark.parametrize("name", ["pike-o-mut-npar", "steady"])
async def test_one_place_gives_the_same_search_every_time(name: str, tmp_path: Path) -> None:
    told: list[list[Any]] = []
    for folder in ("one", "two"):
        search = search_of(name, tmp_path / folder, places=1, queries=15)
        await search.run()
        told.append([p for body in search.of("proposed") for p in body.proposals])
    assert told[0] == told[1]
