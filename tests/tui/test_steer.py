"""The steer dialog: eight acts as forms, each answered by the engine while the dialog is open or after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.geometry import Region
from textual.widgets import Input

from sessions import facts as f
from tests.tui import journals
from tests.tui.looking import live, press, settled, shown, told, until
from workbench.screens.choice import Choice
from workbench.screens.live import LiveScreen
from workbench.screens.steer import SteerScreen
from workbench.widgets.line_field import LineField
from workbench.widgets.steer_fields import GuideBox
from workbench.widgets.steer_form import SAYS
from workbench.widgets.steer_list import SteerList

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

WIDE, NARROW = (160, 44), (80, 24)


async def answer(stage: Stage, *, why: str = "", **adds: Any) -> None:
    """Answer the newest command as an engine would: applied, or refused for a reason."""
    command = stage.asked()[-1]
    args = {**command.args, **adds}
    fact = f.Steered("s4", command.id, command.act, args, "ann", applied=not why, why=why)
    await journals.append(stage.folder.journal, stage.at + 2, [fact])


def dialog(pilot: Pilot[Any]) -> SteerScreen:
    screen = pilot.app.screen
    assert isinstance(screen, SteerScreen)
    return screen


async def fill(pilot: Pilot[Any], **typed: str) -> None:
    """Type into fields of the form, in place of what stands there."""
    for name, text in typed.items():
        line = next(one for one in dialog(pilot).query(LineField) if one.field == name)
        line.query_one(Input).value = text
    await settled(pilot)


async def open_at(pilot: Pilot[Any], act: str) -> None:
    """Open the dialog on the attempt below the newest, at an act."""
    await settled(pilot)
    await press(pilot, "j", "s")
    chooser = dialog(pilot).query_one("#act")
    chooser.focus()
    acts = ("guide", "pin", "ban", "boost", "fork", "submit", "budget", "model")
    await press(pilot, *["right"] * acts.index(act))
    assert f"(•) {act}" in shown(pilot)


@pytest.mark.parametrize(
    ("act", "typed", "args"),
    [
        ("pin", {}, {"candidate": "c28", "off": False}),
        ("pin", {"candidate": "c26"}, {"candidate": "c26", "off": False}),
        ("ban", {}, {"candidate": "c28", "off": False, "subtree": True}),
        ("boost", {"weight": "2.5"}, {"target": "candidate:c28", "weight": 2.5}),
        (
            "fork",
            {"count": "3", "model": "offline"},
            {"candidate": "c28", "count": 3, "text": "", "model": "offline"},
        ),
        ("budget", {"queries": "400", "hours": "none"}, {"queries": 400, "hours": None}),
        ("budget", {"cost_usd": "2.5"}, {"cost_usd": 2.5}),
        ("model", {"model": "offline"}, {"role": "all", "model": "offline"}),
    ],
)
async def test_each_act_sends_its_command_from_prefilled_fields(
    stage: Stage, act: str, typed: dict[str, str], args: dict[str, Any]
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await open_at(pilot, act)
        await fill(pilot, **typed)
        await press(pilot, "ctrl+j")
        assert [(c.act, c.args) for c in stage.asked()] == [(act, args)]


async def test_the_dialog_closes_once_the_engine_took_the_steer(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await open_at(pilot, "pin")
        await press(pilot, "ctrl+j")
        assert "pin asked: the engine takes it up" in shown(pilot)
        await answer(stage)
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        await until(pilot, lambda: "s4 pin is taken up" in told(pilot))


async def test_a_refusal_is_shown_with_its_reason_and_nothing_typed_is_lost(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await open_at(pilot, "fork")
        await fill(pilot, count="7")
        await press(pilot, "ctrl+j")
        await answer(stage, why="7 proposals cannot be paid: 3 queries are left")
        await until(pilot, lambda: "s4 fork refused: 7 proposals cannot be paid" in shown(pilot))
        assert dialog(pilot).form.values()["count"] == "7"
        await press(pilot, "escape", "f")
        assert dialog(pilot).form.values()["count"] == "7"


async def test_a_refusal_after_the_dialog_was_closed_stands_in_the_banner(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await open_at(pilot, "pin")
        await press(pilot, "ctrl+j", "escape")
        await answer(stage, why="c28 is banned by s1")
        await until(pilot, lambda: "! s4 pin refused: c28 is banned by s1" in shown(pilot))
        await press(pilot, "escape")
        assert "s4 pin refused" not in shown(pilot)


@pytest.mark.parametrize(
    ("act", "typed", "says", "field"),
    [
        ("pin", {"candidate": "c99"}, "there is no candidate 'c99'", "candidate"),
        ("boost", {"weight": "-1"}, "the weight is a number above 0", "weight"),
        ("boost", {"weight": "nan"}, "the weight is a number above 0", "weight"),
        ("fork", {"count": "1.5"}, "whole number", "count"),
        ("budget", {}, "no limit is changed yet", "queries"),
        ("budget", {"queries": "many"}, "queries is a number above 0, or none", "queries"),
        ("model", {"model": " "}, "name the model", "model"),
        ("submit", {"file": "/nowhere/x.py"}, "cannot read /nowhere/x.py: No such file", "file"),
        ("submit", {"file": ""}, "name the file to submit", "file"),
    ],
)
async def test_what_cannot_be_sent_is_said_and_the_field_gets_the_keys(
    stage: Stage, act: str, typed: dict[str, str], says: str, field: str
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await open_at(pilot, act)
        await fill(pilot, **typed)
        await press(pilot, "ctrl+j")
        assert says in shown(pilot)
        assert stage.asked() == []
        focused = pilot.app.focused
        assert focused is not None
        assert isinstance(focused.parent, LineField)
        assert focused.parent.field == field


async def test_a_file_is_submitted_whole_under_its_own_name(stage: Stage, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("class ModelNew:\n    pass\n")
    async with stage.app().run_test(size=WIDE) as pilot:
        await open_at(pilot, "submit")
        await fill(pilot, file=str(mine), parent="c26")
        await press(pilot, "ctrl+j")
        want = {"source": mine.read_text(), "name": "mine.py", "parent": "c26", "fix": False}
        assert [(c.act, c.args) for c in stage.asked()] == [("submit", want)]


async def test_a_typed_candidate_is_described_beside_its_field(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await open_at(pilot, "pin")
        assert "correct 1.09× · lineage 003" in shown(pilot)
        await fill(pilot, candidate="c13")
        assert "suspect 9.80× · lineage 003" in shown(pilot)
        await fill(pilot, candidate="c77")
        assert "there is no c77" in shown(pilot)


async def test_each_act_keeps_its_own_draft_until_it_is_sent(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await open_at(pilot, "boost")
        await fill(pilot, weight="9")
        dialog(pilot).query_one("#act").focus()
        await press(pilot, "right", "right", "right", "escape", "s")
        assert "(•) budget" in shown(pilot)
        dialog(pilot).query_one("#act").focus()
        await press(pilot, "left", "left", "left")
        assert dialog(pilot).form.values()["weight"] == "9"
        await press(pilot, "ctrl+j")
        await answer(stage)
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        await press(pilot, "s")
        assert "(•) guide" in shown(pilot)


async def test_a_draft_survives_leaving_the_session(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=WIDE) as pilot:
        await settled(pilot)
        pilot.app.show_live(stage.folder)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        await settled(pilot)
        await press(pilot, "s", *"half", "escape", "escape")
        pilot.app.show_live(stage.folder)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        await settled(pilot)
        await press(pilot, "s")
        assert dialog(pilot).query_one(GuideBox).text == "half"


async def test_other_words_for_a_steer_are_sent_as_an_edit(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"mine")
        dialog(pilot).query_one(SteerList).focus()
        await press(pilot, "e")
        assert "Other words for s1." in shown(pilot)
        await press(pilot, "end", *"!", "ctrl+j")
        want = {"steer": "s1", "text": "keep the attention in fp16!"}
        assert [(c.act, c.args) for c in stage.asked()] == [("edit", want)]


async def test_escape_leaves_an_edit_and_brings_the_draft_back(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"mine")
        dialog(pilot).query_one(SteerList).focus()
        await press(pilot, "e", "escape")
        assert dialog(pilot).query_one(GuideBox).text == "mine"
        assert stage.asked() == []


async def test_what_is_over_cannot_be_withdrawn(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s")
        dialog(pilot).query_one(SteerList).focus()
        await press(pilot, "G", "w")
        assert "s2 is refused  " in shown(pilot)
        assert stage.asked() == []


async def test_a_withdrawn_steer_is_listed_as_withdrawn_while_the_dialog_stays(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s")
        dialog(pilot).query_one(SteerList).focus()
        await press(pilot, "w")
        await answer(stage)
        await until(pilot, lambda: "s1 is withdrawn" in shown(pilot))
        rows = {r.key: r.standing for r in dialog(pilot).query_one(SteerList).rows}
        assert rows["s1"] == "withdrawn"


async def test_without_an_engine_a_steer_is_kept_and_said_to_be(stage: Stage) -> None:
    (stage.folder.path / "engine.lock").write_text("")
    app = stage.app()
    app.now = lambda: stage.at + 3_600
    async with app.run_test(size=WIDE) as pilot:
        await open_at(pilot, "pin")
        await press(pilot, "ctrl+j")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert "pin is kept: no engine runs; p starts one" in told(pilot)
        assert [c.act for c in stage.asked()] == ["pin"]


async def test_f_and_capital_b_open_the_dialog_at_their_act(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "f")
        assert "(•) fork" in shown(pilot)
        await press(pilot, "escape", "B")
        assert "(•) budget" in shown(pilot)
        assert "29 spent, 2 reserved" in shown(pilot)


async def test_after_a_refused_key_the_dialog_opens_at_model(stage: Stage) -> None:
    refused = f.Paused("the key in OPENAI_API_KEY was refused", "bad_key")
    await journals.append(stage.folder.journal, stage.at + 1, [refused])
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s")
        assert "(•) model" in shown(pilot)


async def test_the_ban_says_how_many_descend_from_the_attempt(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        live(pilot).table.select("c15")
        await press(pilot, "X")
        assert isinstance(pilot.app.screen, Choice)
        assert "Ban it and the 2 attempts below it" in shown(pilot)


async def test_at_sixty_by_sixteen_the_form_can_still_be_sent(stage: Stage) -> None:
    async with stage.app().run_test(size=(60, 16)) as pilot:
        await open_at(pilot, "guide")
        dialog(pilot).query_one(GuideBox).focus()
        await press(pilot, *"short", "ctrl+j")
        assert [c.args["text"] for c in stage.asked()] == ["short"]


# --- the editor


def editor(tmp_path: Path, script: str) -> str:
    """Return an editor that changes the file it is given, by a shell script."""
    program = tmp_path / "editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


async def test_a_changed_copy_is_offered_as_an_attempt_of_ones_own(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'echo "# mine" >> "$1"'))
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "e")
        assert "(•) submit" in shown(pilot)
        assert "gpt-block-c28.py" in shown(pilot)
        await press(pilot, "ctrl+j")
        [asked] = stage.asked()
        assert asked.act == "submit"
        assert asked.args["source"].endswith("# mine\n")
        assert (asked.args["name"], asked.args["parent"]) == ("gpt-block-c28.py", "c28")


async def test_an_unchanged_copy_is_not_offered(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, "true"))
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "e")
        assert "was not changed" in told(pilot)
        assert live(pilot).is_current


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("/nowhere/ed", "No such file"),
        ("'", "cannot be read"),
        ("false", "ended with 1; what it wrote is in"),
    ],
)
async def test_an_editor_that_fails_is_said_in_the_banner(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, command: str, says: str
) -> None:
    monkeypatch.setenv("VISUAL", command)
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "e")
        assert says in " ".join(shown(pilot).split())


async def test_words_can_be_written_in_the_editor(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'printf "two\\nlines\\033[31m" > "$1"'))
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s", "ctrl+o")
        assert dialog(pilot).query_one(GuideBox).text == "two\nlines␛[31m"


async def test_what_is_typed_faster_than_the_dialog_opens_is_not_lost(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        app = pilot.app
        app.post_message(events.Key("s", "s"))
        while not isinstance(app.screen, SteerScreen):  # noqa: ASYNC110 - before it is laid out
            await asyncio.sleep(0)
        for character in "fast":
            app.post_message(events.Key(character, character))
        await settled(pilot)
        assert dialog(pilot).query_one(GuideBox).text == "fast"


async def test_the_words_of_an_act_that_was_left_can_still_be_painted(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "s", *"words")
        left = dialog(pilot).query_one(GuideBox)
        assert "words" in left.render_lines(Region(0, 0, 9, 2))[1].text
        await press(pilot, "ctrl+l")
        assert [line.text for line in left.render_lines(Region(0, 0, 9, 2))] == [" " * 9] * 2


async def test_one_key_goes_through_the_acts_and_keeps_what_is_typed(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "s", *"words", "ctrl+l")
        assert "(•) pin" in shown(pilot)
        await press(pilot, *["ctrl+l"] * 7)
        assert "(•) guide" in shown(pilot)
        await press(pilot, "ctrl+j")
        assert [c.args["text"] for c in stage.asked()] == ["words"]


async def test_what_each_act_does_is_seen_whole_where_a_screen_has_80_cells(stage: Stage) -> None:
    async with stage.app().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "s")
        for says in SAYS.values():
            await until(pilot, lambda says=says: says in shown(pilot))
            await press(pilot, "ctrl+l")
