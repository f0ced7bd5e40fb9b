"""A screen too small to be shown takes the keys that leave it or explain it: none acts on what is not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import ModalScreen, Screen

from workbench.actions import Where

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.keymap import Keymap

R = TypeVar("R")
CLASSES = ("-tiny-w", "-tiny-h")
STAYS = frozenset({"leave", "leave_now", "help", "suspend"})
"""The methods of the acts that remain."""
CLOSING = frozenset({"escape", "ctrl+c"})
"""What closes a dialog that is not seen; what is typed in it stays a draft."""


def is_too_small(screen: Screen[Any]) -> bool:
    """Return whether a screen says no more than that it is too small."""
    return any(screen.has_class(name) for name in CLASSES) and not getattr(screen, "FITS", False)


def keys_left(screen: Screen[Any], keys: Keymap) -> set[str]:
    """Return the keys that a screen too small to be shown still takes, by Textual's names."""
    where = getattr(screen, "WHERE", Where.EVERYWHERE)
    acts = [*keys.acts(where), *keys.acts(Where.EVERYWHERE)]
    left = {key for act in acts if act.method in STAYS for key in act.key.split(",")}
    return left | CLOSING if isinstance(screen, ModalScreen) else left


class FocusKeeper(Screen[R]):
    """Gives the keys back, after the screen was too small, to what had them before: what is hidden loses them."""

    _had_focus: Widget | None = None

    def on_resize(self) -> None:
        """Remember what has the keys; called before the screen takes its new size."""
        if self.focused is not None:
            self._had_focus = self.focused
        self.call_after_refresh(self._give_keys_back)

    def _give_keys_back(self) -> None:
        had = self._had_focus
        if self.focused is None and not is_too_small(self) and had is not None and had.is_attached:
            self.set_focus(had)
