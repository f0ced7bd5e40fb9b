"""What a prompt may tell besides the task and the parent: what was measured before it was written.

```
Known        device, floor, plain variants      (option `informed`)
ParentNotes  the parent's time, its children    (option `profile_guided`)
```
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlainTime:
    """What one line of PyTorch takes."""

    name: str
    precision_class: str
    runtime_ms: float


@dataclass(frozen=True, slots=True)
class Known:
    """Device and task, as the evaluator measured them."""

    machine: tuple[str, ...]
    """What the device can do at most, one thing each."""
    floors: tuple[str, ...]
    """The task's least time in each precision class that the policy allows."""
    plain: tuple[PlainTime, ...]
    """Fastest first, the original among them."""
    eager_ms: float


@dataclass(frozen=True, slots=True)
class Fate:
    """What one child of the parent came to."""

    change: str
    """Its `# change:` line; foreign text."""
    ratio: float | None
    """Its runtime over the parent's; None unless correct and timed."""
    failure: str = ""
    """The kind of failure and the first line of what was printed; foreign text."""


@dataclass(frozen=True, slots=True)
class ParentNotes:
    """Where the parent's time goes, and what its other children came to."""

    runtime_ms: float | None
    speedup_eager: float | None
    speedup: float | None
    """Over `baseline`."""
    baseline: str
    kernels: tuple[str, ...]
    """The costliest first: share, µs, calls, whose, name; names are untrusted."""
    idle_share: float | None
    """How much of a call the GPU waits."""
    launches: float | None
    fates: tuple[Fate, ...]
    """Of children whose trajectories are closed, newest last."""
    asked: int
    """Older children, asked for in the same words but for what is told here."""
