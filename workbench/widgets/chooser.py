"""One of a few, on one line: `For  (•) session   ( ) lineage 003`; left and right choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from workbench.messages import FieldChanged
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
        start: str = "",
        bare: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        """Make a field; `bare`: only what is chosen has a mark, for many options on a narrow line."""
        super().__init__(id=id)
        self.add_class("field")
        self._bare = bare
        self._label = label
        self._options = tuple(options)
        self._index = self._place(start) or 0
        self._paint()

    @property
    def value(self) -> str:
        """What is chosen."""
        return self._options[self._index][0]

    def choose(self, index: int) -> None:
        """Choose by place; goes round."""
        before, self._index = self._index, index % len(self._options)
        self._paint()
        if before != self._index:
            self.post_message(FieldChanged(self.id or "", self.value))

    def choose_value(self, value: str) -> None:
        """Choose by value; one that is not offered changes nothing."""
        place = self._place(value)
        if place is not None:
            self.choose(place)

    def _place(self, value: str) -> int | None:
        return next((i for i, (name, _) in enumerate(self._options) if name == value), None)

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
        empty = "" if self._bare else "( ) "
        mark = span("(•) " if chosen else empty, "key" if chosen else "dim")
        return (mark, Span(name, "" if chosen else "dim"), span("  " if self._bare else "   "))

    def _paint(self) -> None:
        parts = [
            part for i, (_, name) in enumerate(self._options) for part in self._option(i, name)
        ]
        self.set_lines([(Span(fit(self._label, LABEL), "dim"), *parts)])
