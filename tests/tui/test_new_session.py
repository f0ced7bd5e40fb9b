"""The form of a new session by its keys: what stands in it, what it refuses, what it starts."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.folder import SessionFolder
from sessions.journal import Reader
from tests.tui import journals
from tests.tui.forms import still
from tests.tui.looking import listed, live, press, settled, shown, until
from tests.tui.test_hostile import obeyed
from workbench import launch
from workbench.arguments import parse
from workbench.screens.live import LiveScreen
from workbench.screens.new_session import NewSessionScreen
from workbench.widgets.suggested_field import Suggestions

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Stage
    from workbench.form_looks import Looker
    from workbench.widgets.suggested_field import SuggestedField

OTHERS_S = 60.0
"""What other processes, which look at this machine, may take."""
SIZES = ((160, 44), (110, 34), (80, 24), (60, 16))
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")  # fmt: skip


@pytest.fixture(autouse=True)
def _no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def form(pilot: Pilot[Any]) -> NewSessionScreen:
    """Return the form, which must be in front."""
    screen = pilot.app.screen
    assert isinstance(screen, NewSessionScreen)
    return screen


async def opened(pilot: Pilot[Any], stage: Stage, looker: Looker | None = None) -> None:
    """Open the form, and wait until it has looked around."""
    await settled(pilot)
    screen = NewSessionScreen(stage.root / "sessions", looker=looker or still())
    await pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.field("task").options)
    await settled(pilot)


async def put(pilot: Pilot[Any], name: str, text: str) -> None:
    """Type a text into a field, in the place of what stands there."""
    form(pilot).field(name).input.focus()
    form(pilot).field(name).input.value = text[:-1]
    await press(pilot, "end", "space" if text[-1] == " " else text[-1])


def field(pilot: Pilot[Any], name: str) -> SuggestedField:
    return form(pilot).field(name)


def refused(pilot: Pilot[Any], name: str) -> bool:
    return field(pilot, name).has_class("-refused")


@pytest.mark.parametrize("size", SIZES)
async def test_everything_stands_in_it_from_the_last_session(
    stage: Stage, size: tuple[int, int]
) -> None:
    async with stage.app(on_list=True).run_test(size=size) as pilot:
        await opened(pilot, stage)
        values = form(pilot).values()
        assert values["task"] == "starter/softmax"
        assert (values["model"], values["ideas_model"], values["fix_model"]) == (
            "strong",
            "",
            "cheap",
        )
        assert (values["queries"], values["cost"], values["time"]) == ("300", "10", "12")
        assert values["precision"] == "fp32"
        if size[0] >= 80:
            assert "original 2.05 ms on NVIDIA H200" in shown(pilot)
            assert "about $ 8.60 (7.10–9.40) and 5 h, from 3 sessions" in shown(pilot)


async def test_settings_of_a_file_win_over_the_last_session(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "pike.toml").write_text("model = 'offline'\ncost = 3.5\n", encoding="utf-8")
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        assert (form(pilot).values()["model"], form(pilot).values()["cost"]) == ("offline", "3.5")


async def test_n_opens_it_and_what_was_typed_is_there_next_time(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("n")
        await until(pilot, lambda: form(pilot).field("strategy").options, OTHERS_S)
        field(pilot, "name").input.focus()
        await pilot.press(*"mine", "escape")
        await until(pilot, lambda: listed(pilot).is_current)
        await pilot.press("n")
        await until(pilot, lambda: form(pilot).values()["name"] == "mine", OTHERS_S)


async def test_typing_offers_what_goes_with_it_and_enter_takes_it(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "task", "sc")
        assert field(pilot, "task").is_open
        assert "Gated prefix average" in shown(pilot)
        await press(pilot, "enter")
        assert field(pilot, "task").value == "starter/scan"
        assert not field(pilot, "task").is_open


async def test_a_click_on_a_suggestion_takes_it(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "task", "s")
        await pilot.pause()
        await pilot.click(Suggestions, offset=(4, 1))
        await settled(pilot)
        assert field(pilot, "task").value == "starter/softmax"
        assert not field(pilot, "task").is_open


async def test_escape_closes_the_suggestions_before_the_form(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "task", "s")
        await press(pilot, "escape")
        assert not field(pilot, "task").is_open
        assert form(pilot).is_current


async def test_a_path_is_completed_folder_by_folder(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "block.py").write_text("x = 1\n", encoding="utf-8")
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "task", "./mod")
        await press(pilot, "enter")
        assert field(pilot, "task").value == "./models/"
        await press(pilot, "enter")
        assert field(pilot, "task").value == "./models/block.py"


async def test_each_setting_of_a_strategy_is_offered_for_the_last_word(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "set", "width=3 fix")
        await press(pilot, "enter")
        assert field(pilot, "set").value == "width=3 fixes=5"


REFUSED = (
    ("queries", "many", "a whole number above zero"),
    ("cost", "-3", "a number above zero"),
    ("seed", "x", "must be a whole number"),
    ("model", "offlin", "did you mean offline"),
    ("set", "widthx=3", "width"),
    ("strategy", "pike-c", "pike-b"),
    ("task", "starter/nothing", "no task"),
    ("name", "a/b", "no session name"),
    ("from", "nobody:c1", "nobody"),
    ("instructions", "/nowhere", "/nowhere"),
    ("notify", "no-such-program-here", "no-such-program-here"),
    ("device", "cuda:99", "cuda:99"),
)


async def test_a_refusal_stands_at_its_field_and_nothing_starts(stage: Stage) -> None:
    before = sorted((stage.root / "sessions").iterdir())
    async with stage.app(on_list=True).run_test(size=(110, 44)) as pilot:
        await opened(pilot, stage)
        for other, value in (("model", "offline"), ("fix_model", ""), ("device", "cpu")):
            field(pilot, other).put(value)
        for name, text, said in REFUSED:
            kept = field(pilot, name).value
            field(pilot, name).put(text)
            await pilot.press("ctrl+j")
            await until(pilot, lambda name=name: refused(pilot, name), OTHERS_S)
            await pilot.pause()
            assert said in " ".join(shown(pilot).replace("│", " ").split()), name
            assert field(pilot, name).has_focus_within
            await pilot.press("end", "backspace")
            assert not refused(pilot, name), "what is typed anew is not refused beforehand"
            field(pilot, name).put(kept)
    assert sorted((stage.root / "sessions").iterdir()) == before


async def test_without_a_task_the_form_asks_for_one(stage: Stage, tmp_path: Path) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        field(pilot, "task").put("")
        await press(pilot, "ctrl+j")
        assert "which task?" in shown(pilot)


async def test_the_copied_line_is_what_pike_run_would_be_told(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await put(pilot, "name", "mine")
        await put(pilot, "queries", "40")
        await put(pilot, "set", "width=3")
        await press(pilot, "ctrl+y")
        line = (stage.root / "last-copy.txt").read_text(encoding="utf-8")
        typed = parse(shlex.split(line)[1:])
        assert (typed.command, typed.task, typed.name) == ("run", "starter/softmax", "mine")
        assert (typed.model, typed.fix_model, typed.ideas_model) == ("strong", "cheap", None)
        assert (typed.queries, typed.cost, typed.assign) == ("40", None, ["width=3"])


async def test_the_advanced_fields_unfold(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 44)) as pilot:
        await opened(pilot, stage)
        assert "Tolerance" not in shown(pilot)
        await press(pilot, "ctrl+o")
        assert "Tolerance" in shown(pilot)


async def test_a_settings_file_that_cannot_be_read_is_told(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "pike.toml").write_text("modelx = 'x'\n", encoding="utf-8")
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.app.push_screen(NewSessionScreen(stage.root / "sessions", looker=still()))
        await until(pilot, lambda: "no setting 'modelx'" in " ".join(shown(pilot).split()))


async def test_what_goes_wrong_while_looking_is_told(stage: Stage) -> None:
    def broken(*_: object) -> Any:
        raise TimeoutError("git does not answer")

    looker = replace(still(), look=broken)
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage, looker)
        await until(pilot, lambda: "git does not answer" in shown(pilot))


@pytest.mark.parametrize("text", [*journals.HOSTILE, "a[/b]", "\ud800"])
async def test_foreign_text_is_shown_in_it_and_not_obeyed(stage: Stage, text: str) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 44)) as pilot:
        await opened(pilot, stage, still(text))
        await press(pilot, "ctrl+o")
        await put(pilot, "task", "s")
        assert obeyed(shown(pilot).replace("\n", "")) == []


async def test_an_ascii_locale_gets_ascii_only(stage: Stage) -> None:
    async with stage.app(on_list=True, unicode=False).run_test(size=(80, 24)) as pilot:
        await opened(pilot, stage)
        await press(pilot, "down")
        assert [c for c in shown(pilot) if not c.isascii()] == []


@pytest.mark.slow
@pytest.mark.torch
async def test_a_session_is_begun_and_watched(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 44)) as pilot:
        await settled(pilot)
        await pilot.press("n")
        screen = form(pilot)
        await until(pilot, lambda: screen.field("device").options, 300)
        begun = {"model": "offline", "fix_model": "", "name": "begun", "device": "cpu"}
        for name, text in begun.items():
            screen.field(name).put(text)
        await pilot.press("ctrl+j")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen), 300)
        await until(pilot, lambda: live(pilot).feed is not None, OTHERS_S)
        assert live(pilot).folder.name == "begun"
        folder = SessionFolder(stage.root / "sessions/begun")
        assert launch.is_alive(folder)
        launch.terminate(folder)
        with Reader(folder.journal) as reader:
            first = reader.opened()
        assert first is not None
        assert (first.task, first.models["fix"]) == ("starter/softmax", "offline")
