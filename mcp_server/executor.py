"""Where an evaluation runs: the seam between jobs and machines, and what crosses it.

```
Service ──▶ Executor ──┬── LocalExecutor      this machine (local.py)
                       └── Spread             several hosts (spread.py), each an Executor of its own:
                             └── RayHost ···▶ LocalExecutor in an actor on that host (ray_executor.py)
```

Work and outcomes are plain data, so that they cross to another host as JSON (crossing.py). Build, sandbox, lease,
deadline and kill stay on the host that runs them. Nothing is probed, connected or started before `check_device`,
`hosts` or `run`; `told` never starts anything.
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
    of: int = 0
    """How many it takes at once when nothing runs."""
    ahead: int = 0
    """How many more it takes in meanwhile, to build them ahead."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One machine that evaluates, for people: `pike doctor --executor`."""

    host: str
    pike: str = ""
    """Version of our package there; empty where it did not say."""
    evaluator: str = ""
    """Digest of judge and worker: verdicts of different ones are not mixed."""
    python: str = ""
    torch: str = ""
    cuda: str = ""
    driver: str = ""
    sandbox: str = ""
    """The strongest level that passes its probes there."""
    sandbox_missing: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    problem: str = ""
    """Why nothing is evaluated there, a sentence for people; empty: it is used."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is known without starting anything: of the devices, and of a task on the first; lines for authors."""

    devices: tuple[str, ...] = ()
    device_titles: tuple[str, ...] = ()
    """Their models, in the same order."""
    builds: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    floors: tuple[str, ...] = ()


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
    device_name: str = ""
    """The only GPU model that will do: that of the session's first verdict; empty: any."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and what is kept beside it."""

    verdict: Verdict
    build_log: str = ""
    """All that is kept of the build's output; cleaned, untrusted."""
    output: str = ""
    """All that is kept of what the candidate printed; cleaned, untrusted."""
    evidence: Message = field(default_factory=dict[str, object])


def same_model(one: str, other: str) -> bool:
    """Return whether two names are of one model of device; an empty one tells none apart.

    Of a slice of a GPU a driver may tell less than torch (`… MIG 1g.10gb`).
    """
    first, second = one.casefold(), other.casefold()
    sliced = first.startswith(f"{second} mig ") or second.startswith(f"{first} mig ")
    return not first or not second or first == second or sliced


class Executor(Protocol):
    """A machine, or several, that evaluate candidates."""

    async def places(self) -> Sequence[Place]:
        """Return the room there is, of hosts that can be used."""
        ...

    async def hosts(self) -> Sequence[HostFacts]:
        """Return every machine there is, those that are left out with the reason.

        Raises:
            EvaluatorError: they cannot be reached.
        """
        ...

    async def check_device(self, device: str) -> object:
        """Refuse a device that no machine has, before anything is evaluated.

        Raises:
            NoSuchDevice: it is nowhere.
            EvaluatorError: no machine can evaluate at all.
        """
        ...

    async def told(self, task: Task) -> Told:
        """Return what is known of the devices, and of a task; nothing is started."""
        ...

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate one candidate; cancelling it kills the work.

        Raises:
            HostLost: the machine is gone, or does not answer; the candidate is not at fault.
            EvaluatorError: the caller's mistake, or no machine can evaluate at all.
        """
        ...

    async def close(self) -> None:
        """End every process."""
        ...
