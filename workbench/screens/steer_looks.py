"""How the steer dialog looks: the act, its form, what is said about it, and the steers sent before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from workbench.actions import Where
from workbench.keymap import keymap_of
from workbench.plain import Inert, inert_line
from workbench.too_small import FocusKeeper
from workbench.widgets.chooser import LABEL, Chooser
from workbench.widgets.lines import Line, Span, joined, span, wrap
from workbench.widgets.painted import Lines
from workbench.widgets.steer_fields import SteerFields
from workbench.widgets.steer_form import ACTS, SAYS, About, Draft, fields
from workbench.widgets.steer_list import SteerList, steer_rows

if TYPE_CHECKING:
    from textual.app import ComposeResult

WIDTH = 78
LISTED = 6
"""Steers that are seen at once."""


class SteerLooks(ModalScreen[Draft], FocusKeeper[Draft]):
    """Shows the form of one act over the steers of a session."""

    CSS_PATH = "../styles/dialogs.tcss"
    AUTO_FOCUS = ""

    def __init__(self, about: About, draft: Draft) -> None:
        super().__init__()
        self._about = about
        self._draft = draft

    def compose(self) -> ComposeResult:
        """Lay out the form, then what was sent before."""
        act = Inert(self._draft.act)
        with Vertical(classes="dialog") as box:
            box.border_title = Content(inert_line(f"Steer {self._about.state.name}", 60))
            yield Chooser(
                Inert("Act"), [(a, Inert(a)) for a in ACTS], start=act, bare=True, id="act"
            )
            yield Lines(id="told")
            yield SteerFields(id="fields")
            yield Lines(id="said")
            yield SteerList(id="steers")
            yield Lines(id="foot")

    def _keys(self) -> Line:
        keys = keymap_of(self)
        found = [*keys.footer(Where.STEER), *keys.footer(Where.STEERS)]
        shown = [a for a in found if a.id.startswith("steer")]
        return joined(
            [(span(act.shown, "key"), span(f" {act.label}")) for act in shown], span("  ")
        )

    @property
    def act(self) -> str:
        """The act whose form is shown."""
        return self._draft.act

    @property
    def form(self) -> SteerFields:
        """The fields of the act."""
        return self.query_one(SteerFields)

    async def _lay_out(self) -> None:
        """Show the fields of the act, each with what was typed in it before."""
        self._explain(Inert(SAYS[self.act]), "dim")
        await self.form.lay_out(fields(self.act, self._about), self._draft, self._about)
        self._speak("")

    def _explain(self, text: Inert, tone: str) -> None:
        self.query_one("#told", Lines).set_lines([(span(" " * LABEL), Span(text, tone))])

    def _show_steers(self) -> None:
        steers = self.query_one(SteerList)
        rows = steer_rows(self._about.state)
        steers.show(rows)
        steers.display = bool(rows)
        steers.styles.height = min(LISTED, len(rows)) or 1

    def _speak(self, text: str, tone: str = "dim") -> None:
        """Say something under the fields until something else is said."""
        rows = wrap((Span(inert_line(text, 400), tone),), WIDTH - 2) if text else []
        self.query_one("#said", Lines).set_lines(rows)
