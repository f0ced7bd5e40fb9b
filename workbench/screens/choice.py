"""A question with a few answers, each on one key: leaving, stopping, banning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen

from workbench.widgets.lines import EMPTY, Line, Span, fit, span, wrap
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult

    from workbench.plain import Inert

WIDTH = 50


@dataclass(frozen=True, slots=True)
class Answer:
    """One way to answer."""

    key: str
    """As Textual names it."""
    label: str
    value: str
    """What the screen returns; empty for doing nothing."""


STAY = Answer("escape", "Stay", "")
CANCEL = Answer("escape", "Cancel", "")


class Choice(ModalScreen[str]):
    """Asks; returns the value of the answer."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar = [Binding("ctrl+c", "answer('')", show=False)]

    def __init__(
        self,
        title: Inert,
        said: Sequence[Inert],
        answers: Sequence[Answer],
        tail: Sequence[Inert] = (),
    ) -> None:
        super().__init__()
        self._asked, self._said, self._answers, self._tail = title, said, tuple(answers), tail
        for answer in answers:
            self._bindings.bind(answer.key, f"answer('{answer.value}')", show=False)

    def compose(self) -> ComposeResult:
        """Lay out the words and the answers."""
        box = Lines(id="said", classes="dialog")
        box.border_title = Content(self._asked)
        box.set_lines(
            [
                *self._text(self._said),
                EMPTY,
                *(self._answer_line(answer) for answer in self._answers),
                *((EMPTY, *self._text(self._tail)) if self._tail else ()),
            ]
        )
        yield box

    def action_answer(self, value: str) -> None:
        """Close with an answer."""
        self.dismiss(value)

    def on_click(self, event: events.Click) -> None:
        """Take the answer under the mouse."""
        box = self.query_one("#said", Lines)
        offset = event.get_content_offset(box)
        first = len(self._text(self._said)) + 1
        if offset is not None and 0 <= offset.y - first < len(self._answers):
            self.dismiss(self._answers[offset.y - first].value)

    @staticmethod
    def _text(said: Sequence[Inert]) -> list[Line]:
        return [row for text in said for row in wrap((Span(text),), WIDTH - 4)]

    @staticmethod
    def _answer_line(answer: Answer) -> Line:
        shown = {"escape": "esc"}.get(answer.key, answer.key)
        return (Span(fit(f"  {shown}", 9), "key"), span(answer.label))
