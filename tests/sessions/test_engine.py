"""A whole search, from the first fact to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.best import best
from sessions.states import SessionState
from tests.sessions.searches import search

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_search_ends_with_its_queries_and_knows_its_best(tmp_path: Path) -> None:
    running = search(tmp_path)
    assert await running.run() is SessionState.FINISHED
    state = running.state
    assert state.code == "queries"
    assert state.spending.queries == 12
    assert state.spending.queries_reserved == 0
    found = best(state)
    assert found is not None
    assert found.speedup == max(a.speedup or 0 for a in state.attempts.values())
    assert [type(f.body).KIND for f in running.facts][:2] == ["opened", "baseline"]
