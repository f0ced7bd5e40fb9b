"""The best plain variant: its line in `pike show` and its level in the chart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.facts import Profiled
from sessions.folder import SessionFolder
from sessions.plain_start import best_plain
from tests.fakes import FatedModel
from tests.sessions.searches import search
from tests.sessions.states import attempt, opened, proposed, state_of, tried, verdict
from tests.sessions.test_plain_start import FAST, LANGUAGES
from workbench.widgets.profile_view import profile_document
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
    assert "\noptions: plain_start\n" in out
    assert line.endswith(f"; the best is {2.0 / 1.1 / top.runtime_ms:.2f}× as fast")
    assert pike("show", found.folder.path.name, "--json").json["best_plain"] == "c1"


def test_the_profile_in_a_parents_prompts_stands_in_its_tab_inert(tmp_path: Path) -> None:
    lines = ["60% 3.0 µs, 1 calls, own: \x1b[31mmine", "40% 2.0 µs, 1 calls, library: sgemm"]
    made = Profiled("c1", lines, idle_share_ratio=0.25, launches_per_call=4.0)
    failed = Profiled("c2", [], cause="the worker\x07 ended")
    state = state_of(opened(), *tried(1, 2.5), *tried(2, 1.5), made, failed)
    seen = {
        name: "\n".join(
            "".join(part.text for part in line)
            for line in profile_document(state, name, SessionFolder(tmp_path)).lines
        )
        for name in ("c1", "c2", "c0")
    }
    assert "library: sgemm" in seen["c1"]
    assert "25% of a call" in seen["c1"]
    assert "It could not be profiled: the worker" in seen["c2"]
    assert "This makes one, and costs no query" in seen["c0"]
    assert "\x1b" not in seen["c1"]
    assert "\x07" not in seen["c2"]
