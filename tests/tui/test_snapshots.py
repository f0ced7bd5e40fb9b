"""What the screens look like, at the three sizes: SVG pictures compared with those kept beside the tests.

`pytest tests/tui/test_snapshots.py --snapshot-update` takes them anew; look at them before you keep them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.tui.looking import press, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

SIZES = {"wide": (160, 44), "medium": (110, 34), "narrow": (80, 24)}
Compare = Any


def keys(*pressed: str) -> Callable[[Pilot[Any]], Any]:
    """Return what presses keys once the screen has settled."""

    async def run(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        if pressed:
            await press(pilot, *pressed)

    return run


@pytest.mark.parametrize("size", SIZES)
def test_the_live_screen_looks_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    assert snap_compare(stage.app(), terminal_size=SIZES[size], run_before=keys("j", "j", "j"))


@pytest.mark.parametrize("size", SIZES)
def test_the_session_list_looks_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    assert snap_compare(stage.app(on_list=True), terminal_size=SIZES[size], run_before=keys())


@pytest.mark.parametrize("tab", ["code", "prompt", "verdict", "profile", "log"])
def test_each_tab_at_80_columns_looks_as_kept(
    snap_compare: Compare, stage: Stage, tab: str
) -> None:
    presses = ["]"] * (1 + ["code", "prompt", "verdict", "profile", "log"].index(tab))
    before = keys("j", "enter", *presses)
    assert snap_compare(stage.app(), terminal_size=SIZES["narrow"], run_before=before)


@pytest.mark.parametrize("size", SIZES)
def test_the_steering_dialog_looks_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    before = keys("j", "s", *"two-stage pipelining")
    assert snap_compare(stage.app(), terminal_size=SIZES[size], run_before=before)


@pytest.mark.parametrize("key", ["f", "B"])
def test_a_steer_at_its_act_looks_as_kept(snap_compare: Compare, stage: Stage, key: str) -> None:
    app = stage.app(unicode=key == "f")
    assert snap_compare(app, terminal_size=SIZES["narrow"], run_before=keys("j", key))


def test_the_chart_alone_looks_as_kept(snap_compare: Compare, stage: Stage) -> None:
    assert snap_compare(stage.app(), terminal_size=SIZES["narrow"], run_before=keys("v", "u"))


def test_marked_and_sorted_attempts_look_as_kept(snap_compare: Compare, stage: Stage) -> None:
    before = keys("j", "space", "j", "space", "o")
    assert snap_compare(stage.app(), terminal_size=SIZES["medium"], run_before=before)


def test_a_session_of_another_host_looks_as_kept(snap_compare: Compare, stage: Stage) -> None:
    found = json.loads(stage.folder.lock.read_text())
    stage.folder.lock.write_text(json.dumps(found | {"host": "gpu-box-7"}))
    assert snap_compare(stage.app(), terminal_size=SIZES["narrow"], run_before=keys())


def test_a_dead_engine_looks_as_kept(snap_compare: Compare, stage: Stage) -> None:
    stage.folder.lock.write_text("")
    app = stage.app()
    app.now = lambda: stage.at + 60
    assert snap_compare(app, terminal_size=SIZES["narrow"], run_before=keys("j"))


def test_the_leaving_dialog_looks_as_kept(snap_compare: Compare, stage: Stage) -> None:
    assert snap_compare(stage.app(), terminal_size=SIZES["narrow"], run_before=keys("q"))


def test_without_unicode_every_sign_is_ascii(snap_compare: Compare, stage: Stage) -> None:
    app = stage.app(unicode=False)
    assert snap_compare(app, terminal_size=SIZES["narrow"], run_before=keys("j"))


def test_without_colour_glyph_and_word_carry_the_meaning(
    snap_compare: Compare, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(stage.app(), terminal_size=SIZES["narrow"], run_before=keys("j"))


def test_the_light_theme_looks_as_kept(snap_compare: Compare, stage: Stage) -> None:
    app = stage.app(theme="light")
    assert snap_compare(app, terminal_size=SIZES["medium"], run_before=keys("j"))
