"""Parent age: what a choice did not know, from facts written by hand and from a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.parent_age import ParentAge, mean, parent_ages
from tests.sessions.test_evolution import search_of

if TYPE_CHECKING:
    from pathlib import Path


def numbered(*bodies: f.Body) -> list[f.Fact]:
    return [f.Fact(seq, 0.0, body) for seq, body in enumerate(bodies, 1)]


def proposed(*names: str) -> f.Proposed:
    rows: list[dict[str, Any]] = [{"id": name} for name in names]
    return f.Proposed(rows, None)


def attempt(name: str, proposal: str) -> f.AttemptMade:
    return f.AttemptMade(name, "c0", proposal, 0, "001", f"key-{name}", "", "COA", "")


def test_an_age_counts_results_since_the_decision_at_the_start_and_at_the_end() -> None:
    ages = parent_ages(
        numbered(
            proposed("p1", "p2", "p3"),
            f.Started("p1", "001"),
            attempt("c1", "p1"),
            f.Closed("p1", "works", "c1"),
            f.Started("p2", "002"),
            f.Closed("p2", "lost"),
            proposed("p4"),
            f.Started("p3", "003"),
            attempt("c2", "p3"),
            f.Closed("p3", "gave_up"),
        )
    )
    assert ages == {
        "p1": ParentAge(0, 0, 0),
        "p2": ParentAge(0, 1, 1),
        "p3": ParentAge(0, 1, 1),
        "p4": ParentAge(1),
    }


def test_a_mean_leaves_out_what_is_not_known_yet() -> None:
    assert mean([1, None, 4]) == 2.5
    assert mean([None]) is None


async def test_parents_are_older_where_more_runs_at_once_and_oldest_with_queue_ahead(
    tmp_path: Path,
) -> None:
    told: list[tuple[float, float]] = []
    for name, places, ahead in (("a", 1, False), ("b", 4, False), ("c", 4, True)):
        search = search_of(
            "pike-o-mut", tmp_path / name, places=places, queries=30, queue_ahead=ahead
        )
        await search.run()
        ages = parent_ages(search.facts).values()
        told.append((mean(a.at_start for a in ages) or 0, mean(a.at_close for a in ages) or 0))
    one, four, queued = told
    assert one == (0.0, 0.0)
    assert four[0] < 0.5 < queued[0]  # one may close while another is just starting
    assert four[1] > 1.5
    assert queued[1] > four[1]
