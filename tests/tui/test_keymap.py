"""Keys of a person's own: `[keys]` in the settings, act id to key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.tui.looking import press, settled, shown, until
from workbench.config import load
from workbench.errors import WrongUsage
from workbench.keymap import Keymap, keymap

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Stage


async def test_a_changed_key_does_the_act_and_the_old_one_nothing(stage: Stage) -> None:
    async with stage.app(keys=keymap({"live.pause": "ctrl+r"})).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "p")
        assert stage.asked() == []
        await press(pilot, "ctrl+r")
        await until(pilot, stage.asked)
        assert [c.act for c in stage.asked()] == ["pause"]


async def test_foot_help_and_palette_show_the_changed_key(stage: Stage) -> None:
    keys = keymap({"live.pause": "W", "app.help": "H"})
    async with stage.app(keys=keys).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        assert "W Pause" in shown(pilot)
        assert "H Help" in shown(pilot)
        await press(pilot, "H")
        await until(pilot, lambda: re.search(r" W {4,}Pause ", shown(pilot)))
        await press(pilot, "escape", "ctrl+p", *"session: pause")
        await until(pilot, lambda: "session: Pause  (W)" in shown(pilot))


async def test_two_acts_can_swap_their_keys(stage: Stage) -> None:
    keys = keymap({"live.stop": "p", "live.pause": "x"})
    async with stage.app(keys=keys).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "x")
        assert [c.act for c in stage.asked()] == ["pause"]
        await press(pilot, "p")
        assert "Stop gpt-block" in shown(pilot)


async def test_an_act_without_a_key_can_be_given_one(stage: Stage) -> None:
    async with stage.app(keys=keymap({"live.pin": "i"})).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "i")
        assert "(•) pin" in shown(pilot)


async def test_a_key_inside_a_list_can_be_changed(stage: Stage) -> None:
    keys = keymap({"rows.cursor-down": "J,down"})
    async with stage.app(keys=keys).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "j")
        assert "3 c29" in shown(pilot)
        await press(pilot, "J", "down")
        assert "3 c27" in shown(pilot)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"live.puase": "r"}, "there is no act 'live.puase'. Did you mean 'live.pause'"),
        ({"live.pause": "x"}, "live.pause and live.stop (Stop, live session) would both have 'x'"),
        ({"live.pause": "j"}, "live.pause and rows.cursor-down (Down, in a list) would both"),
        ({"live.pause": "question_mark"}, "live.pause and app.help (Help, everywhere)"),
        ({"app.help": "s"}, "app.help and live.steer (Steer, live session)"),
        ({"live.pause": "ctlr+r"}, "live.pause = 'ctlr+r' is no key. Did you mean 'ctrl+r'"),
        ({"live.pause": " , "}, "live.pause needs a key"),
    ],
)
def test_a_key_that_cannot_be_is_refused_with_the_reason(wanted: dict[str, str], says: str) -> None:
    with pytest.raises(WrongUsage) as refused:
        keymap(wanted)
    assert says in str(refused.value)


def test_keys_that_two_acts_share_by_default_are_no_clash() -> None:
    assert keymap({"live.open": "enter"}).changed == {"live.open": "enter"}


def test_a_sign_is_read_as_the_name_of_its_key() -> None:
    assert keymap({"live.filter": "&"}) == Keymap({"live.filter": "ampersand"})


def test_dotted_ids_need_no_quotes_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "pike.toml").write_text('[keys]\nlive.pause = "r"\n"live.stop" = "R"\n')
    found = load(env={"XDG_CONFIG_HOME": str(tmp_path / "none")}, folder=tmp_path)
    assert found.keys == {"live.pause": "r", "live.stop": "R"}
