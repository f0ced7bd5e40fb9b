"""PIKE-O's library and grid: who gets a cell, a seat, a place in the population, and who leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.pike_o_grid import REFERENCES, Grid, Span, difference, measured
from strategies.pike_o_library import Entry, Library, fastest
from strategies.pike_o_settings import PikeOSettings

if TYPE_CHECKING:
    from strategies.settings import Value

SAME = measured("x = 1\n")


def library(**settings: Value) -> Library:
    chosen = PikeOSettings(**settings)  # type: ignore[arg-type]
    grid = Grid(chosen.grid)
    grid.place(SAME)  # the very first has nothing to differ from, and so a row of its own
    return Library(chosen, grid)


def add(into: Library, name: str, runtime_ms: float | None, island: int = 0) -> Entry | None:
    into.add(name, runtime_ms, island, SAME, seat=True)
    return find(into, name)


def find(inside: Library, name: str) -> Entry | None:
    return next((entry for entry in inside.alive if entry.candidate == name), None)


def names(entries: list[Entry]) -> list[str]:
    return [entry.candidate for entry in entries]


def test_a_difference_counts_length_lines_and_characters() -> None:
    one, other = measured("ab\n"), measured("abcd\nab\n")
    assert difference(one, other) == 0.1 * 5 + 10 * 1 + 0.5 * 2
    assert difference(one, one) == 0


def test_a_span_scales_between_its_ends_and_puts_what_is_alike_in_the_middle() -> None:
    span = Span()
    assert span.scaled(3.0) == 0.5
    span.add(3.0)
    assert span.scaled(3.0) == 0.5
    span.add(5.0)
    assert [span.scaled(value) for value in (3.0, 4.0, 5.0)] == [0.0, 0.5, 1.0]


def test_cells_follow_length_and_diversity_and_stay_on_the_grid() -> None:
    grid = Grid(10)
    assert grid.place(measured("a" * 100)) == (5, 0)
    assert grid.place(measured("a" * 200)) == (9, 5)
    assert grid.place(measured("a" * 100)) == (0, 0)
    assert grid.place(measured("a" * 150)) == (5, 0)


def test_diversity_is_measured_against_the_first_twenty_sources() -> None:
    grid = Grid(10)
    for number in range(30):
        grid.place(measured("x" * number))
    assert [reference.length for reference in grid.references] == list(range(REFERENCES))


def test_an_empty_cell_is_taken_and_its_owner_can_be_beaten() -> None:
    held = library()
    first, slower, faster = (add(held, name, ms) for name, ms in (("a", 2), ("b", 3), ("c", 1)))
    assert first is not None
    assert slower is not None
    assert faster is not None
    assert slower.cell == first.cell == faster.cell
    assert [first.owner, slower.owner, faster.owner] == [False, False, True]
    equal = add(held, "d", 1)
    assert equal is not None
    assert not equal.owner


def test_beating_the_owner_of_a_cell_takes_its_seat_in_the_archive() -> None:
    held = library(archive=3)
    for name, runtime_ms in (("a", 2.0), ("b", 1.0)):
        add(held, name, runtime_ms)
    assert names(held.archive()) == ["b"]


def test_the_archive_fills_then_takes_only_what_is_strictly_better_than_its_worst() -> None:
    held = library(archive=2)
    for name, runtime_ms in (("a", 1.0), ("b", 3.0), ("c", 3.0)):
        add(held, name, runtime_ms)
    assert names(held.archive()) == ["a", "b"]
    add(held, "d", 2.0)
    assert names(held.archive()) == ["a", "d"]


def test_what_may_not_be_seated_takes_no_seat_even_of_one_it_beats() -> None:
    held = library()
    held.add("c0", 1.0, 0, SAME, seat=False)
    assert held.archive() == []
    assert names(held.alive) == ["c0"]


def test_the_worst_leave_but_never_the_best_before_or_the_newcomer() -> None:
    held = library(population=2)
    for name, runtime_ms in (("a", 1.0), ("b", 2.0), ("c", 9.0)):
        add(held, name, runtime_ms)
    assert names(held.alive) == ["a", "c"]
    add(held, "d", 0.5)
    assert names(held.alive) == ["a", "d"]


def test_of_equals_the_older_stays() -> None:
    held = library(population=3)
    for name in "abcd":
        add(held, name, 1.0)
    assert names(held.alive) == ["a", "b", "d"]
    assert names(fastest(held.alive)) == ["a", "b", "d"]


def test_migration_copies_each_islands_top_to_both_neighbours_but_no_migrant_and_none_twice() -> (
    None
):
    held = library(islands=4, migration_rate=0.1)
    for island, name in enumerate("abcd"):
        add(held, name, 1.0 + island, island)
        add(held, name * 2, 5.0 + island, island)
    held.migrate()
    there = [sorted(names(held.on(island))) for island in range(4)]
    assert there == [
        ["a", "aa"],
        ["a", "b", "bb", "c"],
        ["c", "cc"],
        ["a", "c", "d", "dd"],
    ]
    assert {entry.candidate for entry in held.alive if entry.migrant} == {"a", "c"}
    assert not any(entry.seated or entry.owner for entry in held.alive if entry.migrant)
    before = len(held.alive)
    held.migrate()
    assert len(held.alive) == before


def test_with_two_islands_both_neighbours_are_one() -> None:
    held = library(islands=2)
    add(held, "a", 1.0, 0)
    held.migrate()
    assert names(held.on(1)) == ["a"]


def test_an_empty_island_gets_a_copy_of_the_best_that_takes_no_seat_but_may_migrate() -> None:
    held = library()
    add(held, "a", 2.0)
    add(held, "b", 1.0)
    held.settle_in(2)
    copy = held.on(2)[0]
    assert (copy.candidate, copy.seated, copy.owner, copy.migrant) == ("b", False, False, False)
    assert held.homes["b"] == 0


def test_a_banned_owner_loses_its_cell_to_the_next_and_does_not_get_it_back() -> None:
    held = library()
    add(held, "a", 1.0)
    held.banned = frozenset("a")
    slower = add(held, "b", 5.0)
    assert slower is not None
    assert slower.owner
    held.banned = frozenset()
    assert [entry.candidate for entry in held.alive if entry.owner] == ["b"]


def test_a_newcomer_that_is_banned_takes_nothing_and_counts_once_the_ban_is_lifted() -> None:
    held = library(population=2)
    add(held, "a", 1.0)
    held.banned = frozenset("b")
    add(held, "b", 0.5)
    assert names(held.alive) == ["a"]
    held.banned = frozenset()
    assert names(held.alive) == ["a", "b"]
    assert names(held.archive()) == ["a"]


def test_lifting_a_ban_lets_the_worst_leave_archive_and_population() -> None:
    held = library(population=3, archive=2)
    for name, runtime_ms in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        held.add(name, runtime_ms, 0, measured(name * int(100 * runtime_ms)), seat=True)
    held.banned = frozenset("a")
    for name, runtime_ms in (("d", 4.0), ("e", 5.0)):
        held.add(name, runtime_ms, 0, measured(name * int(100 * runtime_ms)), seat=True)
    held.banned = frozenset()
    held.shrink(fastest(held.alive)[:1])
    assert names(fastest(held.alive))[:2] == ["a", "b"]
    assert len(held.alive) == 3
    assert names(held.archive()) == ["a", "b"]


def test_the_smallest_island_is_the_first_with_the_fewest() -> None:
    held = library()
    add(held, "a", 1.0, 0)
    add(held, "b", 1.0, 1)
    assert held.smallest() == 2
    add(held, "c", 1.0, 2)
    assert held.smallest() == 0
