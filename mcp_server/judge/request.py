"""A request to judge, read from the channel's message."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

DEADLINES_S = {
    "build": 180.0,
    "qualify": 300.0,
    "construct": 60.0,
    "first_call": 120.0,
    "correctness": 300.0,
    "timing": 15.0,
    "confirm": 240.0,
}
_TRITON = re.compile(r"^\s*(?:import|from)\s+triton\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for."""

    id: str
    task_id: str
    task_path: str
    source: str
    device: str
    """As the caller names it."""
    precision: str
    tolerance: str
    beat: float | None
    mode: str
    stages: tuple[str, ...]
    qualification: dict[str, Any] | None
    deadlines: dict[str, float]
    agent_task: bool
    facts: dict[str, Any] | None = None
    """What is known of the device, if anything."""

    @property
    def place(self) -> str:
        """The device as this process sees it: one GPU is visible."""
        return "cpu" if self.device == "cpu" else "cuda:0"

    def wants(self, stage: str) -> bool:
        """Return whether that stage is asked for."""
        return stage in self.stages

    def deadline_s(self, stage: str) -> float:
        """Return the limit of a stage, in seconds."""
        value = self.deadlines.get(stage)
        return float(value) if value else DEADLINES_S[stage]

    @property
    def sha256(self) -> str:
        """Hash of the candidate's source."""
        return hashlib.sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def interpreted(self) -> bool:
        """Whether Triton's interpreter stands in for a GPU."""
        return self.device == "cpu" and _TRITON.search(self.source) is not None


def read(message: dict[str, Any]) -> Request:
    """Return the request in an `evaluate` or `qualify` message."""
    stages = message.get("stages") or ["build", "correctness", "timing", "confirm"]
    return Request(
        id=str(message["id"]),
        task_id=str(message.get("task_id") or "task"),
        task_path=str(message["task_path"]),
        source=str(message.get("source") or ""),
        device=str(message.get("device") or "cpu"),
        precision=str(message.get("precision") or "half"),
        tolerance=str(message.get("tolerance") or "budget"),
        beat=message.get("beat"),
        mode=str(message.get("mode") or "quick"),
        stages=tuple(stages),
        qualification=message.get("qualification"),
        deadlines=dict(message.get("deadlines") or {}),
        agent_task=bool(message.get("agent_task")),
        facts=message.get("facts"),
    )
