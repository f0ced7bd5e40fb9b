"""Help for a screen, made from the registry of acts, and the signs it uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from workbench.actions import Where
from workbench.glyphs import SESSION_WORDS, UNICODE, VERDICT_WORDS
from workbench.keymap import Keymap, keymap_of
from workbench.widgets.document import document, section
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.actions import Act
    from workbench.widgets.document import Document

KEYS, LABELS = 10, 15
"""Cells of the two columns."""
WITH: dict[Where, tuple[Where, ...]] = {Where.LIVE: (Where.STEER, Where.STEERS)}
"""The dialogs of a screen, which its help explains too."""

MEANT = {
    "suspect": "too fast to be believed before it is confirmed",
    "wrong": "its results differ by more than they may",
    "rejected": "it did not do the work it was timed for",
    "unavailable": "the evaluator failed; never held against it",
}
"""What the words of verdicts do not say by themselves."""
NUMBERS = (
    "×   over the strongest plain PyTorch of its precision class or a finer one",
    "× eager  over the model as it is; what the runtimes show",
    "±   half of the interval in which the speedup lies",
    "★   the best: confirmed first, never suspect or banned, then the highest speedup",
    "~   correct, not confirmed by a second measurement yet",
    "≈1  not told apart from the baseline",
    "(9.80)  suspect: extraordinary or below the roofline, and not confirmed",
)
AGENTS = (
    "IBA  the initial brainstorming agent: ideas to begin with",
    "COA  the code optimization agent: writes candidates and improves them",
    "EFA  the error fixing agent: mends those that fail",
    "human  you, by a steer; any other name is a program that submits through MCP",
)


def help_document(where: Where, keys: Keymap | None = None) -> Document:
    """Return the help of one screen, with the keys a person has."""
    lines: list[Line] = []
    for place in (where, *WITH.get(where, ()), Where.ROWS, Where.TEXT, Where.EVERYWHERE):
        rows = [_act_line(act) for act in (keys or Keymap()).acts(place)]
        lines += section(place.value.capitalize(), rows)
    lines += section("Sessions", [_sign(UNICODE.session(w), w) for w in SESSION_WORDS])
    lines += section(
        "Verdicts", [_sign(UNICODE.verdict(w), w, MEANT.get(w, "")) for w in VERDICT_WORDS]
    )
    lines += section("Numbers", [(span(words),) for words in NUMBERS])
    lines += section("Agents", [(span(words),) for words in AGENTS])
    return replace(document(lines, wraps=True), hang=KEYS + LABELS)


def _act_line(act: Act) -> Line:
    keys = act.shown or "ctrl+p"
    label = Span(fit(act.label, LABELS))
    return (Span(fit(f"  {keys}", KEYS), "key"), label, span(act.help, "dim"))


def _sign(glyph: str, word: str, meant: str = "") -> Line:
    return (span(f"  {glyph}  "), span(f"{word:<13}" if meant else word), span(meant, "dim"))


class HelpScreen(ModalScreen[None]):
    """Shows the keys; esc closes it."""

    FITS: ClassVar = True
    """Whether it can be read at any size."""
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
        view.show(help_document(self._where, keymap_of(self)))
        view.focus()

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)
