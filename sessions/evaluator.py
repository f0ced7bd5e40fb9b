"""The evaluator as the engine sees it: candidate in, verdict out.

```
start(Ask) ─▶ Job ─▶ wait(job, on_stage) ─▶ the verdict as JSON
                     cancel(job)
```
`McpEvaluator` (mcp_evaluator.py) reaches the real one over MCP; tests bring a scripted one behind the same protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

OnStage = Callable[[str, str], None]
"""Called with the evaluator's stage and a detail, as they change."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One candidate for the evaluator."""

    task: str
    """`SUITE/NAME`."""
    source: str
    device: str
    """`auto`, `cpu`, `cuda:0`."""
    precision: str
    tolerance: str
    attempt: str
    """The session's name for it, echoed in the verdict."""
    task_sha256: str = ""
    """Of the text the session began with: another evaluator may hold another."""
    beat: float | None = None
    """`speedup_lo_ratio` of the best: what goes beyond is worth confirming."""
    device_name: str = ""
    """The model that the session's numbers were measured on; empty: none yet."""
    profile: bool = False
    """Look at where the time goes, in place of confirming."""
    session: str = ""
    """Whose it is: the sessions of one caller take turns."""
    tool: str = ""
    """Do only what this one of the agents' tools does; its result holds `shown`, the text that an agent sees."""


class Evaluator(Protocol):
    """An endpoint."""

    @property
    def endpoint(self) -> str:
        """A name that changes when the jobs it knows are gone."""
        ...

    @property
    def places(self) -> int:
        """How many candidates it takes at once."""
        ...

    async def start(self, ask: Ask) -> str:
        """Hand a candidate over; return the job's id.

        Raises:
            EvaluatorAbsent: none can be reached.
            EvaluatorLost: it died.
            EvaluatorRefused: the caller's mistake.
        """
        ...

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        """Return the verdict: fields of `mcp_server.contract.EngineResult` without nulls.

        Raises:
            EvaluatorAbsent: nobody is left who could do the job.
            EvaluatorLost: it died with the job.
            JobUnknown: it does not know the job.
        """
        ...

    async def cancel(self, job: str) -> None:
        """End a job; nothing happens if it is over."""
        ...

    async def task(self, task: str) -> dict[str, Any]:
        """Return what it knows of a task: fields of `get_task`, `machine` and `floors` among them.

        Raises:
            EvaluatorAbsent, EvaluatorLost: as for `start`.
            EvaluatorRefused: it knows no such task.
        """
        ...

    async def close(self) -> None:
        """Let go of the endpoint."""
        ...


QUEUED = "queued"
"""The stage of a candidate for which others hold the places."""
UNNAMED = ("GPU", "CPU")
"""What a host says that cannot tell its model."""


def same_model(title: str, measured: str) -> bool:
    """Return whether both name one model: of a slice of a GPU a driver may tell less than torch (`… MIG 1g.10gb`)."""
    one, other = title.casefold(), measured.casefold()
    sliced = one.startswith(f"{other} mig ") or other.startswith(f"{one} mig ")
    return one == other or sliced or title in UNNAMED or measured in UNNAMED


def lost(cause: str) -> dict[str, Any]:
    """Return the verdict on an evaluation whose evaluator died: held against nobody."""
    return {"status": "infra_error", "code": "worker_lost", "cause": cause, "ok": False}
