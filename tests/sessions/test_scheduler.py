"""The scheduler benchmark in small: the engine on a simulated clock against phase barriers (bench/scheduler.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench import draws, scheduler
from bench.scheduler import CASES, Case
from bench.simulated import Places

if TYPE_CHECKING:
    from pathlib import Path

ONE, STEADY, _ = CASES
FEW = Case("few", "3 tasks, PIKE-B", "pike-b", 3, Places(5, 6, 1), 0, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"
)  # engines cut off
@pytest.mark.parametrize("seed", [0, 7])
def test_without_a_limit_the_engine_finds_what_a_barrier_schedule_finds(
    seed: int, tmp_path: Path
) -> None:
    found = scheduler.same_search(FEW, seed, tmp_path, phases=3)
    assert len(found) == FEW.tasks * 31
    assert any(step for _, (_, step) in found.values()), "something worked after a fix"


def test_one_search_ends_sooner_than_under_barriers(tmp_path: Path) -> None:
    barrier_s = scheduler.at_barriers(ONE, 0, queries=80)
    assert 1.3 < barrier_s / scheduler.in_engine(ONE, 0, tmp_path, queries=80) < 1.8
    assert 2.5 < barrier_s / scheduler.in_engine(STEADY, 0, tmp_path, queries=80) < 4.5


def test_a_suite_keeps_its_model_places_busy(tmp_path: Path) -> None:
    seconds = scheduler.in_engine(FEW, 0, tmp_path, queries=60)
    asked = _asked_s(scheduler.searched(FEW, 0, tmp_path / "again", queries=60))
    assert asked / FEW.places.model > 0.8 * seconds


def _asked_s(searches: list[scheduler.Search]) -> float:
    """Return how long all queries took together."""
    keys = [
        draws.Key(number, int(query.proposal[1:]) - 2, query.step)
        for number, search in enumerate(searches)
        for query in search.state.queries.values()
    ]
    return sum(draws.llm_s(0, key) for key in keys)
