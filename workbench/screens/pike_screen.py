"""What both full screens share: the application by its own type, clicked acts, short messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.screen import ModalScreen

from workbench.actions import Where, by_id
from workbench.too_small import FocusKeeper
from workbench.widgets.lines import app_of

if TYPE_CHECKING:
    from workbench import messages as m
    from workbench.app import PikeApp


class PikeScreen(FocusKeeper[None]):
    """A screen of this application."""

    @property
    def pike(self) -> PikeApp:
        """The application; no other shows this screen."""
        return cast("PikeApp", app_of(self))

    @property
    def is_seen(self) -> bool:
        """Whether it is in front, or only a dialog is; Textual's `is_current` holds behind any screen."""
        top = self.pike.screen
        return top is self or (isinstance(top, ModalScreen) and self.pike.screen_stack[-2] is self)

    @property
    def is_reading(self) -> bool:
        """Whether what the keys act on is still being read."""
        return False

    def tell(self, what: str) -> None:
        """Say for a few seconds that something happened."""
        self.pike.tell(what)

    def on_told(self, message: m.Told) -> None:
        """Say that something happened."""
        message.stop()
        self.tell(message.what)

    async def on_act_wanted(self, message: m.ActWanted) -> None:
        """Do the act, as its key would."""
        message.stop()
        act = by_id(message.act_id)
        doer = self.pike if act.where is Where.EVERYWHERE else self
        await doer.run_action(act.method)
