"""The command palette: every act of the screen by name, from the registry."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from workbench.actions import Where
from workbench.keymap import keymap_of
from workbench.messages import ActWanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.actions import Act


class ActProvider(Provider):
    """Finds acts; choosing one does it."""

    async def discover(self) -> Hits:
        """Offer every act of the screen."""
        for act in self._acts():
            yield DiscoveryHit(_title(act), self._doing(act), help=act.help)

    async def search(self, query: str) -> Hits:
        """Offer the acts that match."""
        matcher = self.matcher(query)
        for act in self._acts():
            score = matcher.match(f"{_title(act)} {act.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(_title(act)), self._doing(act), help=act.help)

    def _acts(self) -> Iterator[Act]:
        where = getattr(self.screen, "WHERE", None)
        places = (where, Where.EVERYWHERE) if isinstance(where, Where) else (Where.EVERYWHERE,)
        for place in places:
            yield from (
                act for act in keymap_of(self.screen).acts(place) if act.id != "app.palette"
            )

    def _doing(self, act: Act) -> Callable[[], object]:
        return partial(self.screen.post_message, ActWanted(act.id))


def _title(act: Act) -> str:
    return f"{act.group}: {act.label}{f'  ({act.shown})' if act.shown else ''}"
