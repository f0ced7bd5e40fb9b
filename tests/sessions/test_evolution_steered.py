"""PIKE-O and steady in the engine under faults and any act of a person, sensible or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.facts import Proposed
from sessions.fold import apply
from sessions.model import State
from sessions.states import SessionState
from tests.property.test_search import Unsteady, to_the_end
from tests.sessions.test_evolution import search_of

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.facts import Fact
    from strategies.settings import Value


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "settings"), [("pike-o", {}), ("pike-o", {"queue_ahead": True}), ("steady", {})]
)
async def test_a_steered_search_ends_within_its_budget_and_names_no_banned_candidate(
    name: str, settings: dict[str, Value], seed: int, tmp_path: Path
) -> None:
    search = search_of(name, tmp_path, places=3, queries=16, **settings)
    faults = Unsteady({"seed": seed, "failing": 0.1})
    search.model.seed, search.model.fail = seed, faults.fail
    search.model.yields = search.evaluator.yields = faults.yields
    search.model.delay_s = 0.05  # so that there is somebody to steer
    await to_the_end(search, {"seed": seed, "steers": 12})
    state = search.state
    assert state.state is SessionState.FINISHED
    assert [paused.cause for paused in search.of("paused") if paused.code == "engine"] == []
    assert state.spending.queries <= (state.limits["queries"] or 0)
    assert state.spending.queries_reserved == 0
    assert state.steers
    assert_bans_hold(search.facts)


def assert_bans_hold(facts: list[Fact]) -> None:
    """No proposal names a candidate that was banned when it was decided."""
    state = State()
    for fact in facts:
        if isinstance(fact.body, Proposed) and fact.body.dump is not None:
            for proposal in fact.body.proposals:
                named = {proposal["parent"], *proposal["inspirations"]}
                assert named.isdisjoint(state.banned)
        apply(state, fact)
