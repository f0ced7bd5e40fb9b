"""The best plain variant: its line in `pike show` and its level in the chart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.plain_start import best_plain
from tests.fakes import FatedModel
from tests.sessions.searches import search
from tests.sessions.states import attempt, opened, proposed, state_of, tried, verdict
from tests.sessions.test_plain_start import FAST, LANGUAGES
from workbench.widgets.speedup_chart import curve

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.facts import Body
    from tests.workbench.commanding import Pike


def plain(number: int, speed: float | None) -> list[Body]:
    """Return a plain variant's attempt and verdict."""
    made = replace(attempt(number, f"v{number}", lineage=f"{number:03d}"), query="")
    return [proposed(f"v{number}", role="plain"), made, verdict(number, speed)]


def test_the_fastest_plain_variant_is_the_level_of_the_chart() -> None:
    state = state_of(opened(), *plain(1, 1.5), *plain(2, 1.2), *plain(3, None), *tried(4, 2.5))
    found = best_plain(state)
    assert found is not None
    assert found.id == "c1"
    drawn = curve(state, "queries")
    assert drawn.plain == 1.5
    assert drawn.best[-1] == (1.0, 2.5)


def test_a_search_without_plain_variants_has_no_such_level() -> None:
    state = state_of(opened(), *tried(1, 2.5))
    assert best_plain(state) is None
    assert curve(state, "queries").plain is None


def test_show_says_how_far_the_best_is_beyond_the_best_plain_variant(
    home: Path, pike: Pike
) -> None:
    found = search(
        home / "sessions",
        source=FAST.replace("9.0", "1.1"),
        settings={"plain_start": True, "queries": 12},
        model=FatedModel(fates=("ok",)),
    )
    asyncio.run(found.run(languages=LANGUAGES))
    top = found.state.leader
    assert top is not None
    assert top.runtime_ms is not None
    out = pike("show", found.folder.path.name).out
    (line,) = [line for line in out.splitlines() if line.startswith("best plain: c1 correct")]
    assert line.endswith(f"; the best is {2.0 / 1.1 / top.runtime_ms:.2f}× as fast")
    assert pike("show", found.folder.path.name, "--json").json["best_plain"] == "c1"
