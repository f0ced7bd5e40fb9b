"""The arithmetic of seeds, against the design's golden numbers."""

import pytest

from strategies.selection import Seat, age, bins, branch_first, drawn, ranked, resize


@pytest.mark.parametrize(
    ("n", "weights", "counts"),
    [
        (10, [1, 1, 1, 1], [3, 3, 2, 2]),
        (10, [1, 1, 1], [4, 3, 3]),
        (10, [1, 1], [5, 5]),
        (3, [1, 1, 1, 1], [1, 1, 1, 0]),
        (10, [1, 3, 1, 1], [2, 5, 2, 1]),
        (10, [1], [10]),
        (0, [1, 2], [0, 0]),
        (10, [0.1, 0.1, 0.1, 0.1], [3, 3, 2, 2]),
    ],
)
def test_bins_share_by_weight_and_give_the_rest_to_the_earlier(
    n: int, weights: list[float], counts: list[int]
) -> None:
    assert bins(n, weights) == counts


@pytest.mark.parametrize(
    ("ideas", "blocks"),
    [(3, [4, 3, 3]), (7, [2, 2, 2, 1, 1, 1, 1]), (14, [1] * 10), (10, [1] * 10)],
)
def test_ideas_fill_the_width_in_blocks_or_are_cut(ideas: int, blocks: list[int]) -> None:
    names = [f"idea {i}" for i in range(ideas)]
    expected = [names[i] for i, count in enumerate(blocks) for _ in range(count)]
    assert resize(names, 10) == expected


def test_no_ideas_stay_none() -> None:
    assert resize([], 10) == []


def seats(*by_position: tuple[float, ...]) -> list[Seat]:
    return [
        Seat(f"{runtime}", runtime, f"p{position * 10 + i}", position)
        for position, runtimes in enumerate(by_position)
        for i, runtime in enumerate(runtimes)
    ]


def test_the_global_rule_and_branch_first_differ_as_in_the_design() -> None:
    pool = seats((1.0, 1.1, 1.2), (5.0,), (6.0,), (7.0,))
    assert [s.runtime_ms for s in ranked(pool)][:4] == [1.0, 1.1, 1.2, 5.0]
    assert [s.runtime_ms for s in branch_first(pool)][:4] == [1.0, 5.0, 6.0, 7.0]
    assert [s.runtime_ms for s in branch_first(pool)][4:] == [1.1, 1.2]


def test_what_a_person_added_is_a_branch_of_its_own() -> None:
    pool = [Seat("a", 1.0, "p1", 0), Seat("b", 2.0, "h1", None), Seat("c", 1.5, "h2", None)]
    assert [s.candidate for s in branch_first([*pool, Seat("d", 1.2, "p2", 0)])] == list("acbd")


def test_ties_go_to_the_older_proposal_whatever_the_order_of_closing() -> None:
    pool = [Seat("late", 1.0, "p10", 0), Seat("early", 1.0, "p9", 1)]
    assert [s.candidate for s in ranked(pool)] == ["early", "late"]
    assert ranked(pool) == ranked(reversed(pool))


def test_a_correct_candidate_without_a_runtime_ranks_last() -> None:
    assert [s.candidate for s in ranked([Seat("x", None, "p1", 0), Seat("y", 9.0, "p2", 1)])] == [
        "y",
        "x",
    ]


def test_an_id_of_any_form_has_an_age() -> None:
    assert age("p9") < age("p10")
    assert age("c") == ("c", 0)
    assert age("") == ("", 0)


def test_a_draw_goes_by_weight_and_never_past_the_end() -> None:
    pool = ["a", "b", "c"]
    found = [drawn(pool, [1.0, 2.0, 1.0], u) for u in (0.0, 0.24, 0.25, 0.74, 0.75, 0.99)]
    assert found == ["a", "a", "b", "b", "c", "c"]
    assert drawn(pool, [0.1, 0.1, 0.1], 1.0) == "c"


def test_a_plain_variant_is_older_than_anything_that_a_query_brought() -> None:
    seats = [Seat(name, 1.0, name, None) for name in ("p2", "h1", "v10", "p10", "v9")]
    assert [seat.candidate for seat in ranked(seats)] == ["v9", "v10", "h1", "p2", "p10"]
