"""What goes on while nothing happens: a line now and then, so that silence is never mistaken for death."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.model import ORIGINAL
from workbench import format as fmt
from workbench.plain import inert_line
from workbench.shown import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_S = 8.0
"""Silence before a first line."""
REPEAT_S = 60.0
"""Before the same is said again."""


@dataclass(slots=True)
class Idling:
    """Says what the engine does, once it has been silent for a while."""

    say: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _quiet_since: float = field(init=False)
    _said: dict[str, float] = field(default_factory=dict[str, float])
    """What was said since something last happened, and when."""

    def __post_init__(self) -> None:
        """Begin to wait."""
        self._quiet_since = self.clock()

    def happened(self) -> None:
        """Something was printed: wait anew."""
        self._quiet_since = self.clock()
        self._said.clear()

    def look(self, live: dict[str, Any]) -> None:
        """Look at the live row; say what goes on if it has not been said lately."""
        now, doing = self.clock(), "; ".join(lines(live))
        quiet = now - self._quiet_since >= PATIENCE_S
        fresh = now - self._said.get(doing, -REPEAT_S) < REPEAT_S
        if doing and quiet and not fresh:
            self.say(f"… {doing}")
            self._quiet_since = self._said[doing] = now


def lines(live: dict[str, Any]) -> Iterator[str]:
    """Yield what each agent and each evaluation does now, without times."""
    now = Live(body=live)
    if now.waits_for:
        told = inert_line(now.waits_for)
        yield told if told.startswith("waiting") else f"waiting: {told}"
    for found in now.rows("evaluations"):
        stage = f"{found.get('stage') or 'queued'} {found.get('detail') or ''}".strip()
        name = "the original" if found.get("candidate") == ORIGINAL else found.get("candidate")
        yield f"{inert_line(str(name))}: {inert_line(stage, 60)}"
    for agent in now.rows("agents"):
        note = f", {agent['note']}" if agent.get("note") else ""
        doing = f"{agent.get('name')} {agent.get('doing')} for {agent.get('target')}{note}"
        yield str(inert_line(doing, 80))
    if now.waiting:
        yield f"{fmt.plural(now.waiting, 'candidate')} waiting for the evaluator"
