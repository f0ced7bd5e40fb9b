"""What the form and the comparisons look like, at the three sizes, as `test_snapshots.py` does for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sessions.folder import SessionFolder
from tests.tui.forms import still
from tests.tui.looking import press, settled, until
from tests.tui.test_snapshots import SIZES
from workbench.screens.compare import CompareScreen
from workbench.screens.compare_sessions import CompareSessionsScreen
from workbench.screens.new_session import NewSessionScreen
from workbench.widgets.overlay_chart import OverlayChart

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

Compare = Any


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def form(stage: Stage, *keys: str) -> Callable[[Pilot[Any]], Any]:
    """Return what opens the form, then presses keys."""

    async def run(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        screen = NewSessionScreen(stage.root / "sessions", looker=still())
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.field("task").options)
        await press(pilot, *keys)

    return run


def attempts(stage: Stage, *ids: str) -> Callable[[Pilot[Any]], Any]:
    """Return what compares attempts."""

    async def run(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        screen = CompareScreen(stage.folder, ids)
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: screen.is_shown)
        await settled(pilot)

    return run


def sessions(stage: Stage, *names: str) -> Callable[[Pilot[Any]], Any]:
    """Return what compares sessions."""

    async def run(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        folders = [SessionFolder(stage.root / "sessions" / name) for name in names]
        screen = CompareSessionsScreen(folders)
        await pilot.app.push_screen(screen)
        await until(pilot, lambda: any(c.has_curves for c in screen.query(OverlayChart)))
        await settled(pilot)

    return run


@pytest.mark.parametrize("size", SIZES)
def test_the_form_looks_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    app = stage.app(on_list=True)
    assert snap_compare(app, terminal_size=SIZES[size], run_before=form(stage, "tab"))


def test_the_suggestions_look_as_kept(snap_compare: Compare, stage: Stage) -> None:
    app = stage.app(on_list=True)
    before = form(stage, "down", "down", "ctrl+o")
    assert snap_compare(app, terminal_size=SIZES["narrow"], run_before=before)


@pytest.mark.parametrize("size", SIZES)
def test_compared_attempts_look_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    app = stage.app(on_list=True)
    before = attempts(stage, "c3", "c25")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=before)


@pytest.mark.parametrize("size", SIZES)
def test_compared_sessions_look_as_kept(snap_compare: Compare, stage: Stage, size: str) -> None:
    app = stage.app(on_list=True)
    before = sessions(stage, "gpt-block", "scan-1")
    assert snap_compare(app, terminal_size=SIZES[size], run_before=before)


@pytest.mark.parametrize("which", ["form", "attempts", "sessions"])
def test_without_colour_they_look_as_kept(
    snap_compare: Compare, stage: Stage, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    before = {
        "form": form(stage, "tab"),
        "attempts": attempts(stage, "c3", "c25"),
        "sessions": sessions(stage, "gpt-block", "scan-1"),
    }[which]
    app = stage.app(on_list=True)
    assert snap_compare(app, terminal_size=SIZES["narrow"], run_before=before)
