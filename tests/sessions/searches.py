"""Whole searches with known fates, for the tests of this folder."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sessions import prompts, strategy_choice
from sessions.engine import Engine
from sessions.fold import fold
from sessions.journal import Journal, Reader
from sessions.lineage import Lineages
from sessions.start import NewSession, create_session
from tests.fakes import SOURCE, TASK, FatedEvaluator, FatedModel

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.facts import Fact
    from sessions.folder import SessionFolder
    from sessions.model import State
    from sessions.states import SessionState

T = TypeVar("T")
WAIT_S = 150.0
"""For a whole search; nothing sleeps in one."""
TEMPLATES = prompts.load()


def request(**changes: Any) -> NewSession:
    """Return a small PIKE-B search."""
    settings: dict[str, Any] = {"queries": 12, "width": 3, "places": 3, "fixes": 1, "ideas": 3}
    settings |= changes.pop("settings", {})
    limits = {"queries": settings["queries"], "cost_usd": None, "hours": None}
    given: dict[str, Any] = {
        "task": TASK,
        "source": SOURCE,
        "strategy": "pike-b",
        "strategy_version": 1,
        "settings": settings,
        "models": {"ideas": "fated", "improve": "fated", "fix": "fated"},
        "limits": limits,
        "template_hash": TEMPLATES.digest,
        "product_version": "0",
        "places": settings["places"],
    }
    return NewSession(**(given | changes))


@dataclass
class Search:
    """One session, its fakes, its engines."""

    folder: SessionFolder
    model: FatedModel = field(default_factory=FatedModel)
    evaluator: FatedEvaluator = field(default_factory=FatedEvaluator)
    journal_class: type[Journal] = Journal
    lineages_class: type[Lineages] = Lineages

    async def engine(self, **changes: Any) -> Engine:
        """Return an engine on the session as it is now."""
        opened = self.state.opened
        assert opened is not None
        journal = await self.journal_class.open(self.folder.journal, wal=True)
        strategy = strategy_choice.of_session(opened)
        given: dict[str, Any] = {
            "models": {self.model.name: self.model},
            "evaluator": self.evaluator,
            "lineage": self.lineages_class(self.folder.lineage),
            "templates": TEMPLATES,
        }
        return Engine(self.folder, journal, strategy, **(given | changes))

    async def run(self, **changes: Any) -> SessionState:
        """Run an engine to its end."""
        engine = await self.engine(**changes)
        async with asyncio.timeout(WAIT_S):
            return await engine.run()

    @property
    def facts(self) -> list[Fact]:
        """All facts."""
        with Reader(self.folder.journal) as reader:
            return reader.facts()

    @property
    def state(self) -> State:
        """The session, folded."""
        return fold(self.facts)

    def after(self, seq: int, kind: type[T]) -> list[T]:
        """Return the bodies of one kind among the facts numbered above `seq`."""
        return [x.body for x in self.facts if x.seq > seq and isinstance(x.body, kind)]

    def of(self, kind: str) -> list[Any]:
        """Return the bodies of one kind."""
        return [fact.body for fact in self.facts if kind == fact.body.KIND]


def search(under: Path, **changes: Any) -> Search:
    """Return a new session, not yet run."""
    parts = {k: changes.pop(k) for k in ("model", "evaluator") if k in changes}
    return Search(create_session(request(**changes), under), **parts)
