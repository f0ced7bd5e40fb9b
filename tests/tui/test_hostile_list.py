"""Foreign text under the list of sessions and in the form: shown, never obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from textual.app import App, ComposeResult

from tests.tui.test_hostile import NASTY, obeyed
from workbench.machine import Row
from workbench.plain import inert_line
from workbench.suggestions import Option
from workbench.widgets.form_lines import check_lines, expected_lines
from workbench.widgets.painted import Lines
from workbench.widgets.session_rows import session_row, wants
from workbench.widgets.suggested_field import Suggestions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.widgets.lines import Line


def lines_of(text: str) -> Iterator[Line]:
    row = {"id": text, "state": "finished", "needs": text, "cause": text, "needs_code": text}
    yield wants(session_row(row))
    yield wants(session_row({**row, "needs": ""}))
    yield wants(session_row({**row, "needs": "", "state": "crashed"}))
    yield from expected_lines(text, 60)
    for state in ("ok", "warning", "missing", text):
        yield from check_lines([Row(text, state, text, text)], 60)


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Lines(id="lines")
        yield Suggestions(id="suggestions")


async def test_nothing_foreign_is_obeyed_under_the_list_and_in_the_form() -> None:
    app = Bench()
    async with app.run_test(size=(100, 30)):
        lines, offered = app.query_one(Lines), app.query_one(Suggestions)

        @settings(max_examples=100, deadline=None)
        @given(NASTY)
        def hold(text: str) -> None:
            painted = [lines.paint(line, 60) for line in lines_of(text)]
            option = Option(text, inert_line(text), ready=False)
            painted.append(offered.paint(offered.line(option, 60), 60))
            for strip in painted:
                assert obeyed(strip.text) == []
                assert strip.cell_length == 60

        hold()
