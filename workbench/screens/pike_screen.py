"""What both full screens share: the application by its own type, clicked keys, short messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from workbench.widgets.lines import app_of

if TYPE_CHECKING:
    from workbench import messages as m
    from workbench.app import PikeApp


class PikeScreen(Screen[None]):
    """A screen of this application."""

    @property
    def pike(self) -> PikeApp:
        """The application; no other shows this screen."""
        return cast("PikeApp", app_of(self))

    def tell(self, what: str) -> None:
        """Say for a few seconds that something happened."""
        self.pike.tell(what)

    def on_told(self, message: m.Told) -> None:
        """Say that something happened."""
        message.stop()
        self.tell(message.what)

    def on_key_pressed(self, message: m.KeyPressed) -> None:
        """Do what the clicked key does."""
        message.stop()
        self.pike.simulate_key(message.key)
