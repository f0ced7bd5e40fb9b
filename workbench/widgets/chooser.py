"""One of a few, on one line: `For  (•) session   ( ) lineage 003`; left and right choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from workbench.widgets.lines import Line, Span, fit, span, width_of
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from workbench.plain import Inert

LABEL = 10


class Chooser(Lines, can_focus=True):
    """A field of a form."""

    BINDINGS: ClassVar = [
        Binding("left,h", "choose(-1)", show=False),
        Binding("right,l,space", "choose(1)", show=False),
    ]

    def __init__(
        self,
        label: Inert,
        options: Sequence[tuple[str, Inert]],
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self.add_class("field")
        self._label = label
        self._options = tuple(options)
        self._index = 0
        self._paint()

    @property
    def value(self) -> str:
        """What is chosen."""
        return self._options[self._index][0]

    def choose(self, index: int) -> None:
        """Choose by place; goes round."""
        self._index = index % len(self._options)
        self._paint()

    def action_choose(self, by: int) -> None:
        """Choose the next or the one before."""
        self.choose(self._index + by)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        at = LABEL
        for index, option in enumerate(self._options):
            width = width_of(self._option(index, option[1]))
            if at <= event.x < at + width:
                self.choose(index)
            at += width

    def _option(self, index: int, name: Inert) -> Line:
        chosen = index == self._index
        mark = span("(•) " if chosen else "( ) ", "key" if chosen else "dim")
        return (mark, Span(name, "" if chosen else "dim"), span("   "))

    def _paint(self) -> None:
        parts = [
            part for i, (_, name) in enumerate(self._options) for part in self._option(i, name)
        ]
        self.set_lines([(Span(fit(self._label, LABEL), "dim"), *parts)])
