"""A field of a form on one line: a label, what is typed, and a note about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.suggester import SuggestFromList
from textual.widgets import Input

from workbench.messages import FieldChanged
from workbench.widgets.chooser import LABEL
from workbench.widgets.filter_line import TYPEABLE
from workbench.widgets.lines import NO_TEXT, Span, fit
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.plain import Inert


class LineField(Horizontal):
    """Label, text and note; says when the text changes."""

    def __init__(
        self,
        name: str,
        label: Inert,
        start: Inert = NO_TEXT,
        note: Inert = NO_TEXT,
        suggests: Sequence[str] = (),
        *,
        wide: bool = False,
    ) -> None:
        super().__init__(classes="field -wide" if wide else "field")
        self.field = name
        self._label = label
        self._start = start
        self._note = note
        self._suggests = list(suggests)

    def compose(self) -> ComposeResult:
        """Lay out the three parts."""
        label = Lines(classes="label")
        label.set_lines([(Span(fit(self._label, LABEL), "dim"),)])
        yield label
        yield Input(
            self._start,
            placeholder="type here",
            restrict=TYPEABLE,
            compact=True,
            select_on_focus=False,
            suggester=SuggestFromList(self._suggests) if self._suggests else None,
        )
        yield Lines(classes="note")

    def on_mount(self) -> None:
        """Show the note."""
        self.query_one(Input).cursor_blink = False
        self.say(self._note)

    @property
    def value(self) -> str:
        """What is typed."""
        return self.query_one(Input).value

    def say(self, note: Inert, tone: str = "dim") -> None:
        """Show another note."""
        self.query_one(".note", Lines).set_lines([(Span(note, tone),)])

    def take_keys(self, typed: str = "") -> None:
        """Put the cursor into the text, with what was typed already."""
        line = self.query_one(Input)
        line.focus()
        line.insert_text_at_cursor(typed)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Say what is typed now."""
        message.stop()
        self.post_message(FieldChanged(self.field, message.value))
