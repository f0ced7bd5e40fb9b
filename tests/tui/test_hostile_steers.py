"""Foreign text in the steer dialog, its list, the banner, the Profile and the Log tab: shown, never obeyed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from sessions import facts as f
from sessions.attention import Attention
from sessions.fold import fold
from sessions.folder import SessionFolder
from tests.tui import journals
from tests.tui.looking import press, settled, shown, until
from tests.tui.test_hostile import NASTY, obeyed
from workbench.banner_words import foreign_words, gone_words, needs_words
from workbench.keymap import Keymap
from workbench.plain import inert_line
from workbench.screens.steer import SteerScreen
from workbench.widgets.detail import log_document
from workbench.widgets.lines import Line, Span
from workbench.widgets.painted import Lines
from workbench.widgets.profile_view import profile_document
from workbench.widgets.steer_form import ACTS, About, candidate_note, fields
from workbench.widgets.steer_list import SteerList, steer_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.model import State
    from tests.tui.conftest import Stage

ARGS = ("candidate", "target", "text", "weight", "count", "model", "name", "role", "steer",
        "parent", "queries", "limits", "proposals", "candidates", "scope", "last")  # fmt: skip


class Bench(App[None]):
    """What is painted with."""

    def compose(self) -> ComposeResult:
        yield Lines(id="lines")
        yield SteerList(id="steers")


def state_of(text: str) -> State:
    """Return a session with every act refused, each of its words `text`."""
    acts = (*ACTS, "withdraw", "edit", text)
    refused = [
        f.Steered(f"s{n}", n, act, dict.fromkeys(ARGS, text), text, applied=False, why=text)
        for n, act in enumerate(acts, 1)
    ]
    bodies: list[f.Body] = [journals.opened(text), journals.baseline(), *refused]
    return fold(f.Fact(n, float(n), body) for n, body in enumerate(bodies, 1))


def lines_of(state: State, text: str, folder: SessionFolder) -> Iterator[Line]:
    about = About(state, text, text, (text,), text, text)
    yield (Span(candidate_note(state, text)),)
    for act in ACTS:
        for field in fields(act, about):
            yield (Span(field.label), Span(field.start), Span(field.note))
            yield from ((Span(words),) for _, words in field.options)
    needs = Attention(stopped=False, cause=text, code="budget")
    yield (Span(needs_words(text, needs, Keymap().key_of)),)
    yield (Span(foreign_words(text)), Span(gone_words(text, text)))
    log = log_document([inert_line(text)], text, text, engine_first=True)
    for document in (log, profile_document(state, "c0", folder)):
        yield from document.wrapped(50)[0]


def kept(text: str) -> dict[str, Any]:
    row = {"name": text, "us": text, "calls": None, "share_ratio": text}
    return {"verdict": {"summary": [text]}, "profile": {"candidate": {"kernels": [row, text]}}}


async def test_nothing_foreign_is_obeyed_in_dialog_banner_profile_or_log(tmp_path: Path) -> None:
    app, folder = Bench(), SessionFolder(tmp_path / "s")
    folder.artifacts.mkdir(parents=True)
    async with app.run_test(size=(100, 30)):
        lines, steers = app.query_one(Lines), app.query_one(SteerList)

        @settings(max_examples=100, deadline=None)
        @given(NASTY)
        def hold(text: str) -> None:
            state = state_of(text)
            (folder.artifacts / "profile-c0.json").write_text(json.dumps(kept(text)))
            painted = [lines.paint(line, 60) for line in lines_of(state, text, folder)]
            painted += [steers.paint(steers.line(row, 60), 60) for row in steer_rows(state)]
            assert len(painted) > 30
            for strip in painted:
                assert obeyed(strip.text) == []
                assert strip.cell_length == 60

        hold()


async def test_a_refusal_in_hostile_words_is_shown_inert(stage: Stage) -> None:
    async with stage.app().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"x", "ctrl+j")
        [command] = stage.asked()
        why = " ".join(journals.HOSTILE)
        refused = f.Steered("s4", command.id, "guide", command.args, why, applied=False, why=why)
        await journals.append(stage.folder.journal, stage.at + 2, [refused])
        await until(pilot, lambda: "s4 guide refused: a [/foo] b" in shown(pilot))
        assert obeyed(shown(pilot).replace("\n", "")) == []


async def test_hostile_words_pasted_into_any_field_become_inert(stage: Stage) -> None:
    from textual import events

    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "f")
        assert isinstance(pilot.app.screen, SteerScreen)
        for hostile in journals.HOSTILE:
            for field in [*pilot.app.screen.query(Input), *pilot.app.screen.query(TextArea)]:
                field.focus()
                field.post_message(events.Paste(hostile))
                await settled(pilot)
        typed = pilot.app.screen.form.values()
        assert all(obeyed(text.replace("\n", "")) == [] for text in typed.values())
        assert "foo" in typed["text"]
