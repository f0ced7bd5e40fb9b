"""Says on the terminal itself that a session needs its person: one bell, and the window's title."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.glyphs import NEEDS_YOU
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BELL = "\a"
KEEP, GIVE_BACK = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal keeps the title it has, and takes it up again (xterm's window operations)."""


@dataclass(slots=True)
class Announcer:
    """Rings once for each cause; the title names the first session that needs somebody."""

    write: Callable[[str], None]
    """Where the terminal reads."""
    bell: bool = True
    title: bool = True
    sign: str = "▲"
    _known: dict[str, str] = field(default_factory=dict[str, str])
    _shown: str = ""

    def of_one(self, session: str, cause: str) -> None:
        """Tell what one session needs; an empty cause says that it needs nothing."""
        others = {name: told for name, told in self._known.items() if name != session}
        self._ring({**others, session: cause} if cause else others)
        self._entitle(f"{self.sign} {session} {NEEDS_YOU}" if cause else f"pike {session}")

    def of_all(self, causes: Mapping[str, str]) -> None:
        """Tell what each of all sessions needs: those that need nothing are left out."""
        self._ring(causes)
        first = next(iter(causes), "")
        more = f" and {len(causes) - 1} more" if len(causes) > 1 else ""
        self._entitle(f"{self.sign} {first} {NEEDS_YOU}{more}" if first else "pike")

    def farewell(self) -> str:
        """Return what gives the terminal its own title back; empty where it never lost it."""
        return f"{_titled('')}{GIVE_BACK}" if self._shown else ""

    def _ring(self, causes: Mapping[str, str]) -> None:
        new = any(self._known.get(name) != cause for name, cause in causes.items())
        self._known = dict(causes)
        if new and self.bell:
            self.write(BELL)

    def _entitle(self, words: str) -> None:
        if self.title and words != self._shown:
            self.write(f"{'' if self._shown else KEEP}{_titled(words)}")
            self._shown = words


def _titled(words: str) -> str:
    return f"\x1b]2;{inert_line(words, 100)}\a"
