"""What changes all the time: agents, evaluations, streamed text. Overwritten in the journal, never folded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.clock import Clock

SILENT_S = 15.0
"""An engine writes its heartbeat every second; after this long it is not there, or does not respond."""
REPLY = "a reply"
NO_EVALUATOR = "no evaluator here"
STREAM_BYTES = 65_536
"""Of streamed text, its end."""


@dataclass(slots=True)
class AgentLine:
    """What one agent does now."""

    name: str
    doing: str
    target: str
    since: float
    note: str = ""


@dataclass(slots=True)
class EvaluationLine:
    """What the evaluator does for one candidate now."""

    candidate: str
    agent: str
    since: float
    stage: str = ""
    detail: str = ""


@dataclass(slots=True)
class Live:
    """The live row, in memory."""

    clock: Clock
    agents: dict[str, AgentLine] = field(default_factory=dict[str, AgentLine])
    evaluations: dict[str, EvaluationLine] = field(default_factory=dict[str, EvaluationLine])
    waiting: int = 0
    """Candidates waiting for a place in the evaluator."""
    waits: dict[str, str] = field(default_factory=dict[str, str])
    """What waits for something outside (a query, a candidate), and for what."""
    gpu: dict[str, Any] | None = None
    stream_agent: str = ""
    stream_text: str = ""
    dirty: bool = True

    def agent(self, name: str, doing: str, target: str) -> None:
        """Say what an agent begins."""
        self.agents[name] = AgentLine(name, doing, target, self.clock.now())
        self.dirty = True

    def note(self, name: str, text: str) -> None:
        """Add to an agent's line: `waiting 20 s (rate limit)`."""
        if name in self.agents:
            self.agents[name].note = text
            self.dirty = True

    def agent_done(self, name: str) -> None:
        """Take an agent's line away."""
        self.dirty = self.agents.pop(name, None) is not None or self.dirty

    def stream(self, agent: str, text: str) -> None:
        """Show an answer as it arrives."""
        self.stream_agent, self.stream_text = agent, text
        self.dirty = True

    def evaluation(self, candidate: str, agent: str) -> None:
        """Say that an evaluation begins."""
        self.evaluations[candidate] = EvaluationLine(candidate, agent, self.clock.now())
        self.dirty = True

    def stage(self, candidate: str, stage: str, detail: str = "") -> None:
        """Say how far an evaluation is."""
        if candidate in self.evaluations:
            line = self.evaluations[candidate]
            line.stage, line.detail = stage, detail
            self.dirty = True

    def evaluation_done(self, candidate: str) -> None:
        """Take an evaluation's line away."""
        self.dirty = self.evaluations.pop(candidate, None) is not None or self.dirty

    def queue(self, change: int) -> None:
        """Count who waits for the evaluator."""
        self.waiting += change
        self.dirty = True

    def wait_for(self, who: str, what: str) -> None:
        """Say what outside a query or a candidate waits for; empty: nothing any more."""
        self.dirty = self.dirty or what != self.waits.get(who, "")
        self.waits.pop(who, None)
        if what:
            self.waits[who] = what

    @property
    def waits_for(self) -> str:
        """What a person reads while nothing here goes on: `waiting for 3 replies`, `no evaluator here`."""
        others = [what for what in self.waits.values() if what != REPLY]
        if others:
            return others[0]
        return "" if self.works or not self.waits else waiting_for(len(self.waits))

    @property
    def works(self) -> bool:
        """Whether an agent or an evaluation does something that is not waiting for others."""
        replies = sum(what == REPLY for what in self.waits.values())
        judged = any(candidate not in self.waits for candidate in self.evaluations)
        return judged or len(self.agents) > replies

    def row(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {
            "agents": [_line(line) for line in self.agents.values()],
            "evaluations": [_line(line) for line in self.evaluations.values()],
            "waiting": self.waiting,
            "waits_for": self.waits_for,
            "gpu": self.gpu,
            "stream": {"agent": self.stream_agent, "text": _tail(self.stream_text)},
            "heartbeat": self.clock.now(),
        }


def waiting_for(replies: int) -> str:
    """Return how a search says that only others can go on."""
    return f"waiting for {replies} {'reply' if replies == 1 else 'replies'}"


def tools_at_work(row: Mapping[str, Any]) -> int:
    """Return how many tools that models called run in the evaluator, by a live row."""
    names = (str(line.get("candidate")) for line in row.get("evaluations") or ())
    return sum(_HANDLE.fullmatch(name) is not None for name in names)


_HANDLE = re.compile(r"q\d+-\d+")
"""What a model's call hands in is evaluated under (`tool_use.handle`); attempts are `c12`."""


def _line(line: AgentLine | EvaluationLine) -> dict[str, Any]:
    return {name: getattr(line, name) for name in line.__slots__}


def _tail(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return text if len(data) <= STREAM_BYTES else data[-STREAM_BYTES:].decode("utf-8", "ignore")
