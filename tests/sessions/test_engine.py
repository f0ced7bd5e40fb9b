"""A whole search, from the first fact to the last."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from sessions.best import best
from sessions.states import SessionState
from tests.fakes import FatedModel
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


async def test_an_answer_that_is_in_the_store_is_counted_but_never_paid_again(
    tmp_path: Path,
) -> None:
    first = search(tmp_path, model=FatedModel(price_usd=0.5, estimate=0.5))
    await first.run()
    second = search(tmp_path, model=FatedModel(price_usd=0.5, estimate=0.5))
    db = sqlite3.connect(second.folder.journal)
    db.execute("ATTACH ? AS paid", (str(first.folder.journal),))
    for table in ("texts", "replies"):
        db.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM paid.{table}")
    db.commit()
    db.close()
    assert await second.run() is SessionState.FINISHED
    assert second.model.asked == []
    assert second.state.spending.cost_usd == 0
    assert second.state.spending.queries == 12
    assert all(q.replayed for q in second.state.queries.values())
