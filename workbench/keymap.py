"""The keys of the acts as a person's settings have them: `[keys]`, act id to key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench import actions
from workbench.actions import ACTS, Where
from workbench.errors import WrongUsage, nearest
from workbench.widgets.lines import app_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.dom import DOMNode

    from workbench.actions import Act

_LISTS = (Where.ROWS, Where.TEXT)
_TOGETHER: dict[Where, tuple[Where, ...]] = {
    Where.LIVE: (Where.EVERYWHERE, *_LISTS),
    Where.SESSIONS: (Where.EVERYWHERE, Where.ROWS),
    Where.NEW: (Where.EVERYWHERE,),
    Where.COMPARE: (Where.EVERYWHERE, Where.TEXT),
    Where.VERSUS: (Where.EVERYWHERE,),
    Where.STEER: (Where.EVERYWHERE, Where.STEERS),
    Where.STEERS: (Where.EVERYWHERE, Where.STEER, Where.ROWS),
    Where.ROWS: (Where.EVERYWHERE, Where.LIVE, Where.SESSIONS),
    Where.TEXT: (Where.EVERYWHERE, Where.LIVE, Where.COMPARE),
    Where.EVERYWHERE: tuple(where for where in Where if where is not Where.EVERYWHERE),
}
"""Where a key of one place would be taken by, or from, an act of another."""

_SHORT = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """Which key does what."""

    changed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Act id to keys as Textual names them, separated by commas."""

    def act(self, act: Act) -> Act:
        """Return an act with the key it has here."""
        keys = self.changed.get(act.id)
        return act if keys is None else replace(act, key=keys, shown=shown(keys))

    def key_of(self, act_id: str) -> str:
        """Return the key of an act, as people write it."""
        return self.act(actions.by_id(act_id)).shown

    def acts(self, where: Where) -> list[Act]:
        """Return the acts at hand there, in the registry's order."""
        return [self.act(act) for act in actions.acts(where)]

    def footer(self, where: Where) -> list[Act]:
        """Return the acts at the foot of a screen, the most useful first."""
        return [self.act(act) for act in actions.footer(where)]


def keymap_of(node: DOMNode) -> Keymap:
    """Return the keys of the application that shows a widget; the registry's own in any other."""
    found = getattr(app_of(node), "keys", None)
    return found if isinstance(found, Keymap) else Keymap()


def keymap(wanted: Mapping[str, str]) -> Keymap:
    """Return the keys of a person's settings.

    Raises:
        WrongUsage: an act that does not exist, a key that cannot be, or one that another act has.
    """
    ids = [act.id for act in ACTS]
    for act_id in wanted:
        if act_id not in ids:
            raise WrongUsage(f"[keys]: there is no act {act_id!r}.{nearest(act_id, ids)}")
    found = Keymap({act_id: _keys(act_id, keys) for act_id, keys in wanted.items()})
    for act_id in found.changed:
        _check(found, actions.by_id(act_id))
    return found


def shown(keys: str) -> str:
    """Return keys as people write them: `/` for `slash`, `esc` for `escape`."""
    from textual.keys import format_key

    first, *rest = keys.split(",")
    name = _SHORT.get(first) or (first if "+" in first else format_key(first))
    return f"{name} …" if len(rest) > 1 else f"{name} {shown(rest[0])}" if rest else name


def _keys(act_id: str, keys: str) -> str:
    found = ",".join(_key(act_id, key.strip()) for key in keys.split(",") if key.strip())
    if not found:
        raise WrongUsage(f"[keys]: {act_id} needs a key, such as 'f', 'ctrl+r' or 'slash'.")
    return found


def _key(act_id: str, key: str) -> str:
    """Return a key by Textual's name; a single sign by the name of the sign."""
    from textual.keys import (
        Keys,
        _character_to_key,  # pyright: ignore[reportPrivateUsage] - the only way to a sign's name
    )

    if len(key) == 1:
        return _character_to_key(key)
    names = {str(name.value) for name in Keys} | set(_signs())
    parts = key.split("+")
    modifiers, last = parts[:-1], parts[-1]
    known = key in names or (
        (len(last) == 1 or last in names) and set(modifiers) <= {"ctrl", "shift", "alt"}
    )
    if not known:
        raise WrongUsage(f"[keys]: {act_id} = {key!r} is no key.{nearest(key, names)}")
    return key


def _signs() -> list[str]:
    """Return the names of all signs of a keyboard: `slash`, `question_mark`."""
    from textual.keys import (
        _character_to_key,  # pyright: ignore[reportPrivateUsage] - the only way to a sign's name
    )

    return [_character_to_key(chr(code)) for code in range(33, 127)]


def _check(found: Keymap, act: Act) -> None:
    """Refuse a key that another act has where both are at hand."""
    mine = set(found.act(act).key.split(","))
    for place in (act.where, *_TOGETHER.get(act.where, ())):
        for other in found.acts(place):
            both = mine & set(other.key.split(",")) if other.id != act.id else set[str]()
            if both and not _is_default(act, other, both):
                raise WrongUsage(
                    f"[keys]: {act.id} and {other.id} ({other.label}, {other.where}) would both have "
                    f"{shown(min(both))!r}. Give one of them another key."
                )


def _is_default(act: Act, other: Act, keys: set[str]) -> bool:
    """Return whether the two share these keys without any setting: `enter` on a list and in it."""
    first, second = actions.by_id(act.id), actions.by_id(other.id)
    return keys <= set(first.key.split(",")) & set(second.key.split(","))
