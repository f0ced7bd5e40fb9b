"""What the engine's pieces share: made once, by the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.steering import cascade
from strategies.fixing import FixRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.clock import Clock
    from sessions.evaluator import Evaluator
    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.gate import Gate
    from sessions.library import Library
    from sessions.lineage import Lineages
    from sessions.live import Live
    from sessions.model import State
    from sessions.models.port import LanguageModel
    from sessions.recorder import Recorder
    from sessions.redact import Redactor
    from sessions.samples import Samples
    from strategies.protocol import Language, SearchSettings
    from strategies.templates import Templates


@dataclass(slots=True)
class Parts:
    """One session's parts."""

    folder: SessionFolder
    recorder: Recorder
    library: Library
    models: dict[str, LanguageModel]
    """By configured name; those that a person names later join them."""
    open_model: Callable[[str], LanguageModel] | None
    """Opens a model of that name, or raises; None: only those given can be used."""
    evaluator: Evaluator
    lineages: Lineages
    templates: Templates
    languages: tuple[Language, ...]
    settings: SearchSettings
    clock: Clock
    gate: Gate
    live: Live
    redactor: Redactor
    samples: Samples
    bench: asyncio.Semaphore
    """Places in the evaluator."""
    evaluations: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    """What `pause --now` cancels."""
    out_of: str = ""
    """The budget that refused a query for good: `queries`, `cost`, `hours`."""
    root: str = ""
    """The original's commit."""

    @property
    def state(self) -> State:
        """The session, folded."""
        return self.recorder.state

    @property
    def rules(self) -> FixRules:
        """How long to fix, and with which models: a person may change them."""
        return FixRules(self.settings.fixes, cascade(self.state))

    @property
    def opened(self) -> Opened:
        """How it began."""
        assert self.state.opened is not None, "a journal begins with `opened`"
        return self.state.opened
