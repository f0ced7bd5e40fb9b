"""What stands under the fields of the new-session form: the fold, the estimate, the checks, the button."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from workbench.messages import ActWanted
from workbench.plain import inert_line
from workbench.widgets.lines import Line, Span, flow, span, wrap
from workbench.widgets.painted import Lines
from workbench.widgets.suggested_field import LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.machine import Row

SIGNS = {"ok": ("✓", "better"), "warning": ("!", "warn"), "missing": ("✗", "worse")}
"""By the state of a check; its words say the same."""
_INDENT = span(" " * LABEL)


def expected_lines(told: str, width: int) -> list[Line]:
    """Return the estimate in `width` cells."""
    rows = wrap((Span(inert_line(told or "–", 300)),), width - LABEL)
    return _labelled("Expected", rows)


def check_lines(rows: Sequence[Row], width: int) -> list[Line]:
    """Return the checks in `width` cells: what is well on a line together, what is not with what to do."""
    well: list[Line] = [
        (span(f"{SIGNS['ok'][0]} ", "better"), Span(inert_line(f"{_short(row)}", 44)))
        for row in rows
        if row.state == "ok"
    ]
    lines = flow(well, width - LABEL, span("  ")) if well else []
    for row in rows:
        if row.state != "ok":
            sign, tone = SIGNS.get(row.state, ("!", "warn"))
            told = f"{row.found}; {row.remedy}" if row.remedy else row.found
            lines += wrap((span(f"{sign} ", tone), Span(inert_line(told, 400))), width - LABEL)
    return _labelled("Checks", lines or [(span("looking …", "dim"),)])


def _short(row: Row) -> str:
    """Return what is well in a few words."""
    named = {"models": "models", "state folder": "state folder", "sandbox": f"sandbox {row.found}"}
    return named.get(row.name, row.found)


def _labelled(label: str, rows: Sequence[Line]) -> list[Line]:
    first = (span(f"{label:<{LABEL}}", "dim"), *rows[0])
    return [first, *((_INDENT, *row) for row in rows[1:])]


class Fold(Lines, can_focus=True):
    """A line that shows more of the form."""

    BINDINGS: ClassVar = [Binding("enter,space,right,left", "turn", show=False)]

    def __init__(self, name: str, holds: str) -> None:
        super().__init__(id="fold", classes="field")
        self._name, self._holds = name, holds
        self.turn(is_open=False)

    def turn(self, *, is_open: bool) -> None:
        """Show whether more is seen."""
        sign = "▾" if is_open else "▸"
        holds = "" if is_open else self._holds
        self.set_lines([(span(f"{sign} {self._name:<{LABEL - 2}}", "key"), span(holds, "dim"))])

    def action_turn(self) -> None:
        """Show more, or less."""
        self.post_message(ActWanted("new.fold"))

    def on_click(self) -> None:
        """Show more, or less."""
        self.action_turn()


class StartButton(Lines, can_focus=True):
    """Starts the session."""

    BINDINGS: ClassVar = [Binding("enter,space", "press", show=False)]

    def __init__(self) -> None:
        super().__init__(id="start", classes="field")
        self.say("")

    def say(self, doing: str) -> None:
        """Show what is being done; empty: that it may be pressed."""
        told = span(doing, "busy") if doing else span("[ Start ]", "key")
        self.set_lines([(_INDENT, told)])

    def action_press(self) -> None:
        """Start."""
        self.post_message(ActWanted("new.start"))

    def on_click(self) -> None:
        """Start."""
        self.action_press()
