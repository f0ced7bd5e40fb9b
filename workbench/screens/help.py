"""Help for a screen, made from the registry of acts, and the signs it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from workbench.actions import Where, acts
from workbench.glyphs import SESSION_WORDS, UNICODE, VERDICT_WORDS
from workbench.widgets.document import document, section
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.widgets.document import Document


def help_document(where: Where) -> Document:
    """Return the help of one screen."""
    lines: list[Line] = []
    for place in (where, Where.ROWS, Where.TEXT, Where.EVERYWHERE):
        lines += section(place.value.capitalize(), [_act_line(*row) for row in _rows(place)])
    lines += section("Sessions", [_sign(UNICODE.session(w), w) for w in SESSION_WORDS])
    lines += section("Verdicts", [_sign(UNICODE.verdict(w), w) for w in VERDICT_WORDS])
    lines += section(
        "Numbers",
        [
            (
                span(
                    "★   the best: confirmed first, never suspect or banned, then the highest speedup"
                ),
            ),
            (span("~   correct, not confirmed by a second measurement yet"),),
            (span("≈1  not told apart from the baseline"),),
            (span("(9.80)  suspect: extraordinary or below the roofline, and not confirmed"),),
        ],
    )
    return document(lines, wraps=True)


def _rows(place: Where) -> list[tuple[str, str, str]]:
    return [(act.shown, act.label, act.help) for act in acts(place)]


def _act_line(keys: str, label: str, told: str) -> Line:
    return (Span(fit(f"  {keys}", 11), "key"), Span(fit(label, 16)), span(told, "dim"))


def _sign(glyph: str, word: str) -> Line:
    return (span(f"  {glyph}  "), span(word))


class HelpScreen(ModalScreen[None]):
    """Shows the keys; esc closes it."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar = [
        Binding("escape,q,question_mark,ctrl+c", "close", show=False, priority=True)
    ]

    def __init__(self, where: Where) -> None:
        super().__init__()
        self._where = where

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Help")
            yield TextView(id="help")

    def on_mount(self) -> None:
        """Show the help of the screen below."""
        view = self.query_one(TextView)
        view.show(help_document(self._where))
        view.focus()

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)
