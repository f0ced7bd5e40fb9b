"""Keys for what is not seen or not there yet: dropped on a screen too small, kept while a session is read."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual import events

from tests.tui.looking import listed, live, press, settled, shown, told, until
from workbench.screens import compare
from workbench.screens.compare import CompareScreen
from workbench.screens.compare_sessions import CompareSessionsScreen
from workbench.screens.help import HelpScreen
from workbench.screens.live import LiveScreen
from workbench.widgets.lines import plain_text, span, width_of, wrap

if TYPE_CHECKING:
    from tests.tui.conftest import Stage

TINY = (54, 12)
WAIT_S = 30
STYLE = Path(compare.__file__).parents[1] / "styles" / "compare.tcss"


async def test_no_key_but_leaving_and_help_acts_on_a_screen_too_small(stage: Stage) -> None:
    async with stage.app().run_test(size=TINY) as pilot:
        await settled(pilot)
        await press(pilot, "p", "P", "j", "space", "z", "x", "s", "ctrl+p", "escape")
        assert isinstance(pilot.app.screen, LiveScreen)
        assert stage.asked() == []
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.press("q", "q")
    assert pilot.app.return_code == 0


async def test_a_dialog_that_is_hidden_takes_nothing_but_what_closes_it(stage: Stage) -> None:
    async with stage.app().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await pilot.resize_terminal(*TINY)
        await until(pilot, lambda: "Too small" in shown(pilot) and "Stop" not in shown(pilot))
        await press(pilot, "x", "X")
        assert stage.asked() == []
        await press(pilot, "escape")
        assert live(pilot).is_current


async def test_what_had_the_keys_has_them_again_when_there_is_room(stage: Stage) -> None:
    async with stage.app().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"abc")
        await pilot.resize_terminal(*TINY)
        await until(pilot, lambda: "Too small" in shown(pilot))
        await pilot.press("d")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: pilot.app.focused is not None and "Words" in shown(pilot))
        await pilot.press("e")
        await until(pilot, lambda: "abce" in shown(pilot))
        await press(pilot, "escape", "3")
        view = live(pilot).detail.view
        await pilot.resize_terminal(*TINY)
        await until(pilot, lambda: pilot.app.focused is None)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: pilot.app.focused is view)


async def test_keys_typed_while_a_session_is_read_act_on_its_rows(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("enter", "G", "enter", "right_square_bracket")
        await settled(pilot)
        screen = live(pilot)
        assert screen.detail.candidate == screen.table.rows[-1].key
        assert (screen.pane, screen.detail.tab) == (3, "Code")


class SlowAttempts(CompareScreen):
    """Reads its journal when it is told to."""

    CSS_PATH = STYLE
    go = threading.Event()

    def _load(self) -> None:
        self.go.wait(WAIT_S)
        super()._load()


class SlowSessions(CompareSessionsScreen):
    """Reads its journals when it is told to."""

    CSS_PATH = STYLE
    go = threading.Event()

    def _load(self) -> None:
        self.go.wait(WAIT_S)
        super()._load()


async def test_keys_typed_while_attempts_are_read_act_on_their_comparison(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        screen = SlowAttempts(stage.folder, ("c3", "c12", "c25"))
        await pilot.app.push_screen(screen)
        for key in ("right_square_bracket", "E"):  # `press` would wait until it is read
            await pilot.app.on_event(events.Key(key, None))
        screen.go.set()
        await until(pilot, lambda: not screen.is_reading and "Diff c3 → c12" in shown(pilot))
        await until(pilot, lambda: any(tmp_path.glob("*-c3-c12.patch")))


async def test_keys_typed_while_sessions_are_read_act_on_their_curves(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        screen = SlowSessions([stage.folder, stage.folder])
        await pilot.app.push_screen(screen)
        await pilot.app.on_event(events.Key("u", "u"))
        screen.go.set()
        await until(pilot, lambda: not screen.is_reading and "by dollars" in shown(pilot))


async def test_sessions_on_two_tasks_are_not_compared_and_the_list_says_why(stage: Stage) -> None:
    from tests.tui.test_compare import other_task

    await other_task(stage.root / "sessions/other-1")
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        names = [row.key for row in listed(pilot).table.rows]
        await press(pilot, *["j"] * names.index("other-1"), "space", "g", "space", "c")
        await until(
            pilot, lambda: "only sessions on one task can be compared" in _flat(shown(pilot))
        )
        assert not isinstance(pilot.app.screen, CompareSessionsScreen)
        assert "reading" in told(pilot)


def _flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("width", range(1, 40))
def test_a_line_moved_in_further_than_half_its_width_comes_to_an_end(width: int) -> None:
    found = wrap((span("   p       Pause          pause or resume the session"),), width, 25)
    assert "".join(plain_text(row).strip() for row in found).replace(" ", "").endswith("thesession")
    assert width <= 26 or all(width_of(row) <= width for row in found)


def test_the_pager_gets_the_text_inert_and_a_missing_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.app import PikeApp
    from workbench.paging import NoPager, page, pager

    app = PikeApp(None, under=tmp_path)
    monkeypatch.setattr(type(app), "is_headless", True)
    target = tmp_path / "paged"
    monkeypatch.setenv("PAGER", f"tee {target}")
    page(app, "a\x1b]52;c;x\x07 [/b] 宽\n")
    assert target.read_text(encoding="utf-8") == "a␛]52;c;x␇ [/b] 宽\n"
    monkeypatch.setenv("PAGER", "/no/such/pager")
    with pytest.raises(NoPager, match="/no/such/pager: No such file"):
        page(app, "a")
    monkeypatch.setenv("PAGER", "false")
    with pytest.raises(NoPager, match="false ended with 1"):
        page(app, "a" * 100_000)
    assert pager({"PAGER": "less -S"}) == ["less", "-S"]
    with pytest.raises(NoPager, match="cannot be read"):
        pager({"PAGER": "less '"})
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPager, match="install less"):
        pager({"PAGER": "cat"})


async def test_a_pager_that_fails_stays_in_sight(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "/no/such/pager")
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "3", "L")
        await until(pilot, lambda: "cannot page this: /no/such/pager" in _flat(shown(pilot)))
