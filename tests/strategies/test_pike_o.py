"""PIKE-O: slots, parents, results, the presets, steers, and the numbers of the public code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies import registry
from strategies.errors import SettingRefused, StateRefused
from strategies.pike_o import PikeO
from strategies.pike_o_settings import PRESETS
from strategies.protocol import (
    Attempt,
    Candidate,
    Kind,
    Outcome,
    Proposal,
    Reason,
    Role,
    Verdict,
)
from tests.strategies.evolution import Evolution, evolution

if TYPE_CHECKING:
    from strategies.settings import Value

ABLATION = {
    # prompt, fixes, places, islands, archive, explore, exploit, original in the archive
    "pike-o": ("cross", 5, 10, 3, 12, 0.2, 0.7, True),
    "pike-o-nofix": ("cross", 0, 10, 3, 12, 0.2, 0.7, True),
    "pike-o-mut": ("improve", 5, 10, 3, 12, 0.2, 0.7, True),
    "pike-o-mut-npar": ("improve", 5, 1, 3, 12, 0.2, 0.7, False),
    "pike-o-mut-npar-1isl": ("improve", 5, 1, 1, 12, 0.2, 0.7, False),
    "pike-o-mut-npar-1isl-eo": ("improve", 5, 1, 1, 12, 0.0, 1.0, False),
    "pike-o-mut-npar-1isl-eo-sl": ("improve", 5, 1, 1, 4, 0.0, 1.0, False),
}
QUEUED = [(10, 3, 18, 19), (20, 3, 39, 40), (1, 3, 3, 4), (1, 1, 2, 3)]


def pike_o(name: str, settings: dict[str, Value], seed: int = 7) -> PikeO:
    strategy = registry.create(name, settings, seed)
    assert isinstance(strategy, PikeO)
    return strategy


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_is_the_row_of_the_papers_ablation(name: str) -> None:
    s = pike_o(name, {}).settings
    row = (s.prompt, s.fixes, s.places, s.islands, s.archive, s.explore, s.exploit)
    assert (*row, s.original_in_archive) == ABLATION[name]
    assert (s.queries, s.population, s.elite_ratio, s.elites, s.inspirations) == (
        300,
        25,
        0.2,
        5,
        3,
    )
    assert (s.migration_interval, s.migration_rate, s.grid) == (50, 0.1, 10)
    assert not s.queue_ahead
    assert not s.failed_in_library


def test_every_knob_can_be_set_under_every_preset() -> None:
    given: dict[str, Value] = {"islands": "2", "explore": "0.5", "exploit": 0.25, "prompt": "cross"}
    given |= {"queue_ahead": "yes", "population": 7}
    for name in PRESETS:
        s = pike_o(name, given).settings
        assert (s.islands, s.explore, s.exploit, s.prompt) == (2, 0.5, 0.25, "cross")
        assert (s.queue_ahead, s.population) == (True, 7)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"explore": 0.5}, "explore 0.5 and exploit 0.7 are shares of one whole"),
        ({"explore": 1.5}, "explore is '1.5', but must be: number, 0 to 1"),
        ({"explore": "nan"}, "explore is 'nan', but must be: number, 0 to 1"),
        ({"migration_rate": "much"}, "must be: number, 0 to 1"),
        ({"population": 1}, "must be: whole number, 2 to 1000"),
        ({"prompt": "mutate"}, "must be: cross or improve"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Value], says: str) -> None:
    with pytest.raises(SettingRefused, match=says):
        pike_o("pike-o", given)


def test_a_sum_of_shares_that_is_one_but_for_rounding_is_taken() -> None:
    assert pike_o("pike-o", {"explore": 0.1 + 0.2, "exploit": 0.7}).settings.exploit == 0.7


@pytest.mark.parametrize(("places", "islands", "open_at_once", "earliest"), QUEUED)
def test_queue_ahead_holds_as_many_open_as_the_public_code(
    places: int, islands: int, open_at_once: int, earliest: int
) -> None:
    settings: dict[str, Value] = {"places": places, "islands": islands, "queue_ahead": True}
    firsts: list[int] = []
    for seed in range(12):
        run = evolution(settings, seed)
        run.propose()
        assert len(run.open) == open_at_once
        run.play(45)
        parents = [proposal.parent for proposal in run.proposed]
        firsts.append(1 + next(i for i, parent in enumerate(parents) if parent != "c0"))
    assert min(firsts) == earliest


@pytest.mark.parametrize(("places", "islands"), [(10, 3), (20, 3), (1, 3), (1, 1)])
def test_without_queue_ahead_the_first_result_can_be_a_parent_as_soon_as_a_place_falls_free(
    places: int, islands: int
) -> None:
    firsts: list[int] = []
    for seed in range(12):
        run = evolution({"places": places, "islands": islands}, seed)
        run.play(30)
        assert len(run.open) == places
        parents = [proposal.parent for proposal in run.proposed]
        firsts.append(1 + next(i for i, parent in enumerate(parents) if parent != "c0"))
    assert min(firsts) == places + 1


@pytest.mark.parametrize(
    ("islands", "queries", "migrations"), [(3, 300, [130, 280]), (1, 300, []), (2, 300, None)]
)
def test_migrations_follow_the_accepted_results(
    islands: int, queries: int, migrations: list[int] | None
) -> None:
    found = evolution({"islands": islands, "queries": queries}).migrations(queries)
    assert found == expected_migrations(islands, queries, queries)
    assert migrations is None or found == migrations


def expected_migrations(islands: int, queries: int, results: int) -> list[int]:
    """The rule of the public code, counted out: whose turn, how many generations, when it migrates."""
    length, last, found = max(1, queries // (10 * islands)), 0, list[int]()
    generations = [0] * islands
    for result in range(results):
        generations[result // length % islands] += 1
        if islands > 1 and max(generations) - last >= 50:
            last = max(generations)
            found.append(result + 1)
    return found


def test_failures_count_as_results_and_are_not_kept() -> None:
    run = evolution({"places": 1})
    run.play(60, works=0.0)
    assert [entry.candidate for entry in run.strategy.library.alive] == ["c0"] * len(
        run.strategy.library.alive
    )
    assert sum(run.strategy.turns.generations) == 60


def test_a_trajectory_without_an_attempt_is_no_result() -> None:
    run = evolution({"places": 1})
    proposal = run.propose()[0]
    run.land(Outcome(proposal, (), None, (), Reason.CANCELLED))
    assert run.propose()[0].meta["results"] == 0
    assert sum(run.strategy.turns.generations) == 0


@pytest.mark.parametrize(
    ("kind", "reason", "kept"),
    [
        (Kind.WRONG, Reason.GAVE_UP, True),
        (Kind.UNAVAILABLE, Reason.GAVE_UP, False),
        (Kind.WRONG, Reason.BUDGET, False),
    ],
)
def test_failed_in_library_keeps_what_was_given_up_at_score_0(
    kind: Kind, reason: Reason, kept: bool
) -> None:
    run = evolution({"places": 1, "failed_in_library": True})
    proposal = run.propose()[0]
    failed = Candidate("c1", proposal.parent, "class ModelNew: broken", None)
    run.land(Outcome(proposal, (Attempt(failed, 5, Verdict(kind)),), None, (), reason))
    run.propose()
    entries = {e.candidate: e.runtime_ms for e in run.strategy.library.alive}
    assert ("c1" in entries) is kept
    assert entries.get("c1") is None


def test_slots_go_round_and_prefer_the_island_with_the_fewest_open() -> None:
    run = evolution({"places": 10})
    assert [p.meta["slot"] for p in run.propose()] == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    run.close(run.open[1])
    assert [p.meta["slot"] for p in run.propose()] == [1]
    one = evolution({"places": 1})
    one.play(6)
    assert [p.meta["slot"] for p in one.proposed[:6]] == [0, 1, 2, 0, 1, 2]


def test_a_child_joins_the_island_of_its_parent_whatever_the_slot() -> None:
    run = evolution({"explore": 0.0, "exploit": 1.0})
    run.propose()
    assert {p.meta["island"] for p in run.open} == {
        0
    }  # the archive holds the original, of island 0
    run.close(run.open[1])
    run.propose()
    assert run.strategy.library.homes == {"c0": 0, "c1": 0}


def test_exploiting_draws_from_the_seats_of_the_slots_island_first() -> None:
    run = evolution({"explore": 0.0, "exploit": 1.0, "islands": 2, "places": 1})
    run.play(8)
    handed_in = Proposal("h1", Role.SUBMIT, "c0")
    run.open.append(handed_in)
    run.close(handed_in, 0.3)  # it names no parent, and the second island is empty
    run.play(30, works=0.0)
    later = [(p.meta["slot"], p.meta["island"]) for p in run.proposed[-28:]]
    assert sorted(set(later)) == [(0, 0), (1, 1)]


def test_a_mutation_shows_its_parent_alone() -> None:
    run = evolution({"prompt": "improve"})
    run.play(60)
    assert {(p.role, p.inspirations) for p in run.proposed} == {(Role.IMPROVE, ())}


def test_a_cross_shows_others_once_never_the_parent_and_waits_until_there_are_any() -> None:
    run = evolution({"islands": 1})
    run.play(120)
    assert {p.role for p in run.proposed[:10]} == {Role.IMPROVE}
    crosses = run.proposed[20:]
    assert {p.role for p in crosses} == {Role.CROSS}
    for cross in crosses:
        shown = cross.inspirations
        assert 0 < len(shown) == len(set(shown)) <= 8
        assert not {cross.parent, "c0"} & set(shown)
    assert {len(p.inspirations) for p in crosses[50:]} >= {5, 6, 7}


def test_elites_come_first_fastest_first_from_the_parents_island() -> None:
    run = evolution(
        {"islands": 1, "places": 1, "inspirations": 0, "elites": 3, "explore": 1, "exploit": 0}
    )
    for runtime_ms in (0.5, 0.3, 0.4, 0.2):
        run.propose()
        run.close(run.open[0], runtime_ms)
    cross = run.propose()[0]
    fastest = [name for name in ("c4", "c2", "c3") if name != cross.parent]
    assert list(cross.inspirations) == fastest


def test_a_boost_weighs_draws_from_the_archive_the_island_and_all() -> None:
    for explore, exploit in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        shares: dict[float, int] = {}
        for weight in (1.0, 50.0):
            settings = {"islands": 1, "places": 1, "explore": explore, "exploit": exploit}
            run = evolution(settings)
            run.play(8)
            seated = run.strategy.library.archive()[-1].candidate
            run.weight = {seated: weight}
            run.play(150, works=0.0)
            shares[weight] = sum(p.parent == seated for p in run.proposed[9:])
        assert shares[50.0] > 110
        assert shares[1.0] < 50


def test_a_pinned_candidate_is_in_every_archive_draw_even_when_it_left_the_library() -> None:
    run = evolution(
        {"islands": 1, "places": 1, "archive": 1, "population": 3, "explore": 0, "exploit": 1}
    )
    run.propose()
    slow = run.close(run.open[0], 0.9)
    for runtime_ms in (0.4, 0.3, 0.2, 0.1):
        run.propose()
        run.close(run.open[0], runtime_ms)
    run.propose()
    run.close(run.open[0], None)
    assert "c1" not in {e.candidate for e in run.strategy.library.alive}
    assert slow is not None
    run.pinned = (slow,)
    run.play(40, works=0.0)
    assert {p.parent for p in run.proposed[-39:]} == {"c1", "c5"}
    assert run.strategy.seats == 1


def test_the_banned_are_left_out_and_counted_again_when_the_ban_is_lifted() -> None:
    run = evolution({"islands": 1, "places": 1, "population": 5, "archive": 3})
    run.play(12)
    library = run.strategy.library
    best = min(library.alive, key=lambda entry: entry.runtime_ms or 99)
    before = {e.candidate for e in library.archive()}
    assert best.candidate in before
    run.banned = frozenset([best.candidate])
    run.play(3)
    named = [n for p in run.proposed[13:] for n in (p.parent, *p.inspirations)]
    assert best.candidate not in named
    assert len(library.alive) == 5
    assert len(library.archive()) == 3
    run.banned = frozenset()
    run.propose()
    run.close(run.open[0], None)
    run.propose()
    assert best.candidate in {e.candidate for e in library.archive()}
    assert len(library.alive) == 5
    assert len(library.archive()) == 3


def test_with_everything_banned_the_original_is_the_parent() -> None:
    run = evolution({"islands": 1, "places": 1, "population": 2})
    run.play(20, fastest=0.5)
    run.banned = frozenset(e.candidate for e in run.strategy.library.entries) - {"c0"}
    run.play(12, works=0.0)
    assert {p.parent for p in run.proposed[-11:]} == {"c0"}


def test_a_persons_child_joins_its_parents_island_a_file_without_parent_the_smallest() -> None:
    run = evolution({"places": 1}, seed=8)
    run.play(60)
    library = run.strategy.library
    home = next(name for name, island in library.homes.items() if island == 1)
    smallest = library.smallest()
    assert smallest == 2
    for number, role, parent in (
        (1, Role.SUBMIT, "c0"),
        (2, Role.IMPROVE, home),
        (3, Role.IMPROVE, "c0"),
        (4, Role.SUBMIT, home),
    ):
        person = Proposal(f"h{number}", role, parent)
        run.open.append(person)
        run.close(person, 0.001)
    run.propose()
    assert [library.homes[f"ch{n}"] for n in (1, 2, 3, 4)] == [2, 1, 0, 1]


def test_plain_variants_spread_over_the_islands_and_are_no_results_of_the_search() -> None:
    run = evolution({"places": 1})
    for number in range(1, 5):
        variant = Proposal(f"v{number}", Role.PLAIN, "c0")
        run.open.append(variant)
        run.close(variant, 0.5)
    (first,) = run.propose()
    homes = run.strategy.library.homes
    assert {homes[f"c{n}"] for n in range(1, 5)} == {0, 1, 2}
    assert first.meta["results"] == 0
    assert sum(run.strategy.turns.generations) == 0


def test_a_persons_open_proposal_takes_a_place_but_no_slot() -> None:
    run = evolution({"places": 10})
    run.open.append(Proposal("h1", Role.IMPROVE, "c0"))
    assert len(run.propose()) == 9
    queued = evolution({"places": 10, "queue_ahead": True})
    queued.open.append(Proposal("h1", Role.IMPROVE, "c0"))
    assert len(queued.propose()) == 18


def test_the_results_known_at_the_decision_stand_in_the_proposal() -> None:
    run = evolution({"places": 3})
    run.play(5)
    assert [p.meta["results"] for p in run.proposed] == [0, 0, 0, 1, 2, 3, 4, 5][
        : len(run.proposed)
    ]


def test_a_state_without_its_next_id_or_library_is_refused() -> None:
    run = evolution({})
    run.play(20)
    state = json.loads(json.dumps(run.strategy.dump()))
    for part in ("next_id", "turns", "library", "inbox", "rotation"):
        damaged = {key: value for key, value in state.items() if key != part}
        with pytest.raises(StateRefused, match="saved state of pike-o is damaged"):
            pike_o("pike-o", {}).load(damaged)


def test_two_seeds_draw_differently_and_one_seed_the_same() -> None:
    def parents(seed: int) -> list[str]:
        run: Evolution = evolution({}, seed)
        run.play(40)
        return [p.parent for p in run.proposed]

    assert parents(1) == parents(1)
    assert parents(1) != parents(2)
