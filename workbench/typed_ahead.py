"""Keys typed while a session is still being read: kept, and pressed once there is something they can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.too_small import keys_left

if TYPE_CHECKING:
    from textual import events
    from textual.screen import Screen

    from workbench.keymap import Keymap


class TypedAhead:
    """The keys that wait, and the screen they were typed on."""

    def __init__(self) -> None:
        self._keys: list[events.Key] = []
        self._on: Screen[Any] | None = None

    def keeps(self, screen: Screen[Any], key: events.Key, keys: Keymap) -> bool:
        """Keep a key if its screen is being read; those that leave it or explain it do not wait."""
        if not getattr(screen, "is_reading", False) or key.key in keys_left(screen, keys):
            return False
        if self._on is not screen:
            self._keys, self._on = [], screen
        self._keys.append(key)
        return True

    def taken(self, screen: Screen[Any]) -> list[events.Key]:
        """Return the keys that a screen may act on now; none if they were typed on another."""
        found, self._keys = (self._keys if self._on is screen else []), []
        return found
