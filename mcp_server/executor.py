"""Where an evaluation runs: the seam between jobs and machines, and what crosses it.

Work and outcomes are plain data, so that they can cross to another host as JSON. Build, sandbox, lease, deadline and
kill stay on the host that runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from mcp_server.contract import Mode, Precision, Stage, Tolerance, Verdict
    from mcp_server.link import Message
    from mcp_server.tasks import Task

WantedStage = Literal["build", "correctness", "timing", "confirm", "profile"]
Report = Callable[["Stage", str], None]
"""Called when a stage begins: its name, and a detail for people."""


@dataclass(frozen=True, slots=True)
class Place:
    """Room for evaluations on one device."""

    host: str
    device: str
    device_uuid: str
    device_name: str
    free: int
    """How many more evaluations it takes at once."""


@dataclass(frozen=True, slots=True)
class Work:
    """One candidate and what is wanted of it."""

    id: str
    task: Task
    source: str
    device: str = "auto"
    precision: Precision = "half"
    tolerance: Tolerance = "budget"
    beat: float | None = None
    """Lower end of the best's speedup: above it, the result is confirmed in a fresh pair."""
    mode: Mode = "quick"
    stages: tuple[WantedStage, ...] = ("build", "correctness", "timing", "confirm")
    attempt_id: str | None = None
    leased: bool = True
    """False where nothing is timed and the device need not be ours alone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and what is kept beside it."""

    verdict: Verdict
    build_log: str = ""
    """All that is kept of the build's output; cleaned, untrusted."""
    output: str = ""
    """All that is kept of what the candidate printed; cleaned, untrusted."""
    evidence: Message = field(default_factory=dict[str, object])


class Executor(Protocol):
    """A machine, or several, that evaluate candidates."""

    async def places(self) -> Sequence[Place]:
        """Return the room there is."""
        ...

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate one candidate; cancelling it kills the work.

        Raises:
            EvaluatorError: the caller's mistake, or this machine cannot evaluate at all.
        """
        ...

    async def close(self) -> None:
        """End every process."""
        ...
