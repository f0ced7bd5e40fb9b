"""best-of-n: first answers only, as many as the budget pays."""

import pytest

from strategies import registry
from strategies.errors import StateRefused
from strategies.protocol import Proposal, Role, Strategy, View
from tests.strategies.search import ORIGINAL, closed, made


def view(queries_left: int, *open_now: Proposal) -> View:
    return View(queries_left, places=4, open=open_now, original=ORIGINAL)


def best_of_n() -> Strategy:
    return registry.create("best-of-n", {}, seed=1)


def test_every_place_starts_from_the_original_without_an_idea() -> None:
    starts = best_of_n().propose(view(300))
    assert [p.id for p in starts] == ["p1", "p2", "p3", "p4"]
    assert {(p.role, p.parent, p.idea) for p in starts} == {(Role.START, "c0", None)}


def test_a_place_is_filled_as_soon_as_it_falls_free() -> None:
    search = best_of_n()
    starts = search.propose(view(300))
    search.absorb(closed(starts[0], made("c1", 1.0)))
    assert [p.id for p in search.propose(view(296, *starts[1:]))] == ["p5"]
    assert search.propose(view(295, *starts)) == []


def test_it_ends_with_the_queries() -> None:
    assert len(best_of_n().propose(view(3))) == 3
    assert best_of_n().propose(view(0)) == []


def test_it_fixes_nothing_unless_told_to() -> None:
    assert best_of_n().settings.fixes == 0
    assert registry.create("best-of-n", {"fixes": 3}, 1).settings.fixes == 3


def test_a_state_without_its_counter_is_refused() -> None:
    with pytest.raises(StateRefused, match="next_id"):
        best_of_n().load({"version": 1, "seed": 1})
