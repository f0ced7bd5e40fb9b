"""The registry of acts: one row an act, and everything made from it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.tui.looking import live, press, settled, shown, until
from workbench.actions import ACTS, Act, Where, acts, footer
from workbench.app import PikeApp
from workbench.screens.choice import Choice
from workbench.screens.compare import CompareScreen
from workbench.screens.compare_sessions import CompareSessionsScreen
from workbench.screens.help import HelpScreen, help_document
from workbench.screens.live import LiveScreen
from workbench.screens.new_session import NewSessionScreen
from workbench.screens.session_list import SessionListScreen
from workbench.screens.steer import SteerScreen
from workbench.widgets.lineage_tree import LineageTree
from workbench.widgets.lines import plain_text
from workbench.widgets.row_list import RowList
from workbench.widgets.steer_list import SteerList
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from tests.tui.conftest import Stage

OWNERS: dict[Where, tuple[type, ...]] = {
    Where.EVERYWHERE: (PikeApp,),
    Where.SESSIONS: (SessionListScreen,),
    Where.LIVE: (LiveScreen,),
    Where.ROWS: (RowList, LineageTree),
    Where.TEXT: (TextView,),
    Where.STEER: (SteerScreen,),
    Where.STEERS: (SteerList,),
    Where.NEW: (NewSessionScreen,),
    Where.COMPARE: (CompareScreen,),
    Where.VERSUS: (CompareSessionsScreen,),
}
FORBIDDEN = ("ctrl+s", "ctrl+a", "ctrl+b")


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.id)
def test_every_act_is_done_by_a_method_where_it_is_at_hand(act: Act) -> None:
    assert any(hasattr(owner, f"action_{act.method}") for owner in OWNERS[act.where])


def test_no_key_means_two_things_in_one_place() -> None:
    for where in Where:
        keys = Counter(key for act in acts(where) if act.key for key in act.key.split(","))
        assert [key for key, count in keys.items() if count > 1] == []


def test_ids_are_unique_and_say_where() -> None:
    assert max(Counter(act.id for act in ACTS).values()) == 1
    prefixes = {act.where: act.id.split(".")[0] for act in ACTS}
    assert len(set(prefixes.values())) == len(prefixes)


def test_keys_of_flow_control_and_multiplexers_stay_free() -> None:
    keys = {key for act in ACTS for key in act.key.split(",")}
    assert keys.isdisjoint(FORBIDDEN)
    assert not [key for key in keys if key.startswith(("alt+", "f1", "f2"))]


@pytest.mark.parametrize("where", [Where.LIVE, Where.SESSIONS])
def test_the_foot_of_a_screen_holds_seven_keys_at_most(where: Where) -> None:
    assert 0 < len(footer(where)) <= 7


@pytest.mark.parametrize("where", [Where.LIVE, Where.SESSIONS])
def test_help_names_every_act_of_its_screen(where: Where) -> None:
    text = "\n".join(map(plain_text, help_document(where).lines))
    for act in acts(where) + acts(Where.EVERYWHERE):
        assert act.label in text
        assert act.help in text


def test_help_says_what_verdicts_numbers_and_agents_are() -> None:
    text = "\n".join(map(plain_text, help_document(Where.LIVE).lines))
    assert "⊘  rejected     it did not do the work it was timed for" in text
    assert "× eager  over the model as it is" in text
    for agent in ("IBA", "COA", "EFA"):
        assert f"\n{agent}  the " in text


async def test_help_opens_over_the_screen_and_closes(stage: Stage) -> None:
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert "pause or resume; revives a dead engine" in shown(pilot)
        await press(pilot, "escape")
        assert live(pilot).is_current


async def test_the_palette_finds_an_act_and_does_it(stage: Stage) -> None:
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "ctrl+p", *"stop")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Choice))
        assert "Stop gpt-block" in shown(pilot)


async def test_a_click_on_a_key_presses_it(stage: Stage) -> None:
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await pilot.click("#keys", offset=(2, 0))
        await until(pilot, lambda: [c.act for c in stage.asked()] == ["pause"])
