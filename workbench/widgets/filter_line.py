"""The line in which a filter or a search is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

if TYPE_CHECKING:
    from workbench.plain import Inert

TYPEABLE = r"[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*"
"""Nothing that a terminal would obey, however it got here."""


class FilterLine(Input):
    """Hidden until it is asked for."""

    def __init__(self, *, id: str = "filter") -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, restrict=TYPEABLE, select_on_focus=False, compact=True)

    def ask(self, hint: Inert) -> None:
        """Show the line, with a hint in it, and take the keys."""
        self.placeholder = hint
        self.add_class("-on")
        self.focus()

    def put_away(self) -> None:
        """Hide the line."""
        self.remove_class("-on")
