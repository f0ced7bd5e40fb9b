"""The plain start in the engine: before the first query, without one, and whose result the search takes up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.start import create_session
from sessions.states import SessionState
from strategies import registry
from strategies.protocol import Language
from tests.fakes import SOURCE, FatedModel
from tests.sessions.searches import Search, request, search

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.facts import Fact

FAST = f"# fate: ok 9.0\n{SOURCE}"
"""A task whose plain variants are faster than anything the model of these tests writes."""
WORKS = ("ok",)
LANGUAGES = (Language("extern-c", 0.6),)


async def ran(under: Path, strategy: str = "pike-b", **changes: Any) -> Search:
    found = search(under, strategy=strategy, model=FatedModel(fates=WORKS), **changes)
    assert await found.run(languages=LANGUAGES) is SessionState.FINISHED
    return found


def first(facts: list[Fact], kind: str) -> int:
    return next(fact.seq for fact in facts if kind == fact.body.KIND)


def plain(found: Search) -> list[str]:
    return [
        t.id for t in (r.proposal for r in found.state.trajectories.values()) if t.role == "plain"
    ]


async def test_plain_variants_are_judged_committed_and_closed_before_the_first_query(
    tmp_path: Path,
) -> None:
    found = await ran(tmp_path, source=FAST, settings={"plain_start": True})
    assert plain(found) == ["v1", "v2"]
    asked = first(found.facts, "query_sent")
    before = [fact.body for fact in found.facts if fact.seq < asked]
    kinds = [body.KIND for body in before]
    assert kinds.count("verdict") == kinds.count("committed") == kinds.count("closed") == 2
    state = found.state
    attempts = [a for a in state.attempts.values() if a.proposal.startswith("v")]
    assert {a.author for a in attempts} == {"engine"}
    assert all(a.correct and a.commit and not a.query and a.parent == "c0" for a in attempts)
    assert {a.lineage for a in attempts} == {"001", "002"}
    assert {a.change for a in attempts} == {
        "torch.compile, default mode",
        "torch.compile, mode max-autotune",
    }


async def test_they_cost_no_query_and_leave_the_whole_budget_to_the_search(tmp_path: Path) -> None:
    found = await ran(tmp_path, source=FAST, settings={"plain_start": True, "queries": 12})
    spending = found.state.spending
    assert (spending.queries, spending.queries_reserved) == (12, 0)
    assert len(found.model.asked) == 12


async def test_pike_b_takes_them_as_seeds_of_its_first_phase_of_mutations(tmp_path: Path) -> None:
    found = await ran(tmp_path, source=FAST, settings={"plain_start": True, "queries": 16})
    improved = [
        t.proposal for t in found.state.trajectories.values() if t.proposal.role == "improve"
    ]
    parents = {found.state.attempts[p.parent].proposal for p in improved if p.meta["phase"] == 1}
    assert {"v1", "v2"} <= parents


@pytest.mark.parametrize("strategy", ["steady", "pike-o"])
async def test_they_join_the_library_of_a_search_without_phases(
    tmp_path: Path, strategy: str
) -> None:
    given = {"queries": 14, "places": 2, "plain_start": True}
    settings = registry.entry(strategy).complete(given)
    wanted = replace(
        request(source=FAST, settings=given), strategy=strategy, settings=settings, places=2
    )
    found = Search(create_session(wanted, tmp_path), FatedModel(fates=WORKS))
    assert await found.run(languages=LANGUAGES) is SessionState.FINISHED
    made = [t.proposal for t in found.state.trajectories.values() if t.proposal.id.startswith("p")]
    shown = {name for proposal in made for name in (proposal.parent, *proposal.inspirations)}
    own = {name for name, a in found.state.attempts.items() if a.proposal.startswith("v")}
    assert len(own) == 2
    assert shown & own


async def test_a_task_without_plain_variants_begins_with_its_first_query(tmp_path: Path) -> None:
    found = search(tmp_path, settings={"plain_start": True})
    assert await found.run() is SessionState.FINISHED  # no languages, so no compiler
    assert plain(found) == []
    assert found.state.spending.queries > 0


async def test_they_are_not_made_up_for_a_search_that_already_decided(tmp_path: Path) -> None:
    found = search(tmp_path, source=FAST, settings={"plain_start": True, "queries": 3})
    await found.run()  # without a compiler
    before = len(found.facts)
    assert await found.run(languages=LANGUAGES) is SessionState.FINISHED
    assert plain(found) == []
    assert len(found.facts) == before


async def test_without_the_option_nothing_is_tried_and_no_fact_differs(tmp_path: Path) -> None:
    off = await ran(tmp_path / "off", settings={"plain_start": False, "places": 1})
    older = await ran(tmp_path / "older", settings={"places": 1})
    assert plain(off) == []
    assert [x.body for x in off.facts[1:] if x.body.KIND == "proposed"] == [
        x.body for x in older.facts[1:] if x.body.KIND == "proposed"
    ]


async def test_a_plain_variant_that_fails_closes_without_a_fix_and_stops_nothing(
    tmp_path: Path,
) -> None:
    source = FAST.replace("ok 9.0", "wrong_result 1.0")
    found = await ran(tmp_path, source=source, settings={"plain_start": True})
    closed = {t.proposal.id: t.closed for t in found.state.trajectories.values()}
    assert closed["v1"] == closed["v2"] == "gave_up"
    assert not [q for q in found.state.queries.values() if q.proposal.startswith("v")]
    assert found.state.spending.queries == 12
