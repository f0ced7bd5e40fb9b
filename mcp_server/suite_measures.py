"""What plain PyTorch and given candidates reach on each task of a suite, measured without any search.

```
Measured ── row: qualified or why not, times of the plain baselines
         └─ candidates: one Result each, correct or why not, times over eager and over the best plain baseline
```
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from math import exp, log
from typing import TYPE_CHECKING

from mcp_server import kept, profile, suite
from mcp_server.artifacts import new_id
from mcp_server.contract import PrecisionClass, Status
from mcp_server.errors import EvaluatorError
from mcp_server.evaluate_command import read_source
from mcp_server.executor import Work
from mcp_server.qualifying import INFRA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mcp_server.candidate_files import CandidateFile
    from mcp_server.contract import Verdict
    from mcp_server.executor import WantedStage
    from mcp_server.qualifying import Qualifier
    from mcp_server.suite import Row
    from mcp_server.tasks import Task

_TIMED: tuple[WantedStage, ...] = ("build", "correctness", "timing")
EAGER = "eager"
CLASSES: tuple[PrecisionClass, ...] = ("fp32", "tf32_fp16", "bf16", "coarser")
"""Finest first."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one candidate."""

    file: str
    folder: str
    status: str
    code: str | None = None
    cause: str = ""
    baseline: str | None = None
    """The strongest plain baseline of its precision class or a finer one."""
    precision_class: str | None = None
    speedup_ratio: float | None = None
    """Over `baseline`, with its interval in the two fields below."""
    speedup_lo_ratio: float | None = None
    speedup_hi_ratio: float | None = None
    speedup_eager_ratio: float | None = None
    speedup_eager_lo_ratio: float | None = None
    speedup_eager_hi_ratio: float | None = None
    runtime_ms: float | None = None
    paper_speedup_ratio: float | None = None
    """Mean over mean, not clamped."""
    do_bench_ms: float | None = None
    """What triton.testing.do_bench says, on a GPU; the next of the original beside it."""
    eager_do_bench_ms: float | None = None

    @property
    def correct(self) -> bool:
        """Return whether it counts."""
        return self.status == Status.OK and self.speedup_eager_ratio is not None


@dataclass(slots=True)
class Measured:
    """What is known of one task."""

    row: Row
    candidates: list[Result] = field(default_factory=list[Result])
    known: bool = False
    """Whether all of it was known from an earlier run."""

    @property
    def eager_ms(self) -> float | None:
        """Return the time of the original as it is."""
        return self.row.baselines_ms.get(EAGER)

    @property
    def best_plain(self) -> tuple[str, float] | None:
        """Return the fastest plain baseline with its time in ms; None where none was measured."""
        return min(self.row.baselines_ms.items(), key=lambda one: one[1], default=None)

    def best_of(self, folder: str) -> Result | None:
        """Return the fastest correct candidate of a set."""
        correct = [r for r in self.candidates if r.folder == folder and r.correct]
        return max(correct, key=lambda r: r.speedup_eager_ratio or 0, default=None)

    def best_within(self, precision_class: str) -> tuple[str, float] | None:
        """Return the fastest baseline of a class or a finer one; None where none was measured."""
        allowed = CLASSES[: CLASSES.index(precision_class) + 1]
        times = self.row.baselines_ms.items()
        within = [one for one in times if self.row.classes.get(one[0], CLASSES[0]) in allowed]
        return min(within, key=lambda one: one[1], default=None)

    def over_best(self, result: Result) -> float | None:
        """Return a candidate's speedup over the strongest baseline of its class, further ones included."""
        best = self.best_within(result.precision_class or CLASSES[-1])
        if best is None or best[0] == result.baseline:
            return result.speedup_ratio
        if self.eager_ms is None or result.speedup_eager_ratio is None:
            return None
        return result.speedup_eager_ratio * best[1] / self.eager_ms


async def measured(
    qualifier: Qualifier, name: str, what: Path | Task, files: Sequence[CandidateFile]
) -> Measured:
    """Measure a task's baselines, then its candidates one after the other; what is known is not measured again.

    Raises:
        EvaluatorError: this machine cannot evaluate.
    """
    row, known = await qualifier.row(name, what)
    task = suite.read(name, what, qualifier.kept.home)
    found = Measured(row, known=known)
    if isinstance(task, suite.Row) or row.state != "qualified":
        return found
    for file in files:
        result, was_known = await _candidate(qualifier, task, file)
        found.candidates.append(result)
        found.known = found.known and was_known
    return found


async def _candidate(qualifier: Qualifier, task: Task, file: CandidateFile) -> tuple[Result, bool]:
    try:
        source = read_source(file.path)
    except EvaluatorError as error:
        return Result(file.name, file.folder, "unreadable", cause=str(error)), False
    path = qualifier.kept.folder / f"{_key(qualifier, task, source)}.json"
    before = _kept(path, file)
    if before is not None:
        return before, True
    wish = qualifier.wish
    device = await qualifier.executor.check_device("auto")
    # A profile tells of a GPU what Triton's own clock says.
    stages = (*_TIMED, "profile") if device.is_gpu and wish.further != "no" else _TIMED
    work = Work(
        new_id("job"), task, source, precision=wish.precision, mode=wish.mode, stages=stages
    )
    outcome = await qualifier.executor.run(work, suite.silent)
    result = _result(file, profile.described(outcome))
    if result.code not in INFRA:
        kept.write(path, asdict(result))
    return result, False


def _kept(path: Path, file: CandidateFile) -> Result | None:
    found = kept.read(path)
    try:
        whole = Result(**found) if found else None
    except TypeError:
        return None
    return replace(whole, file=file.name, folder=file.folder) if whole else None


def _key(qualifier: Qualifier, task: Task, source: str) -> str:
    words = suite.key_of(task, qualifier.wish, qualifier.place)
    return hashlib.sha256(f"{words}\n{source}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _result(file: CandidateFile, verdict: Verdict) -> Result:
    return Result(
        file.name,
        file.folder,
        str(verdict.status),
        verdict.code,
        verdict.cause or "",
        verdict.baseline,
        verdict.precision_class,
        verdict.speedup_ratio,
        verdict.speedup_lo_ratio,
        verdict.speedup_hi_ratio,
        verdict.speedup_eager_ratio,
        verdict.speedup_eager_lo_ratio,
        verdict.speedup_eager_hi_ratio,
        verdict.runtime_ms,
        verdict.paper_speedup_ratio,
        verdict.do_bench_ms,
        verdict.eager_do_bench_ms,
    )


def geomean(ratios: Iterable[float]) -> float | None:
    """Return the geometric mean of positive ratios; None of none."""
    logs = [log(ratio) for ratio in ratios if ratio > 0]
    return exp(sum(logs) / len(logs)) if logs else None


def paper(result: Result) -> float:
    """Return the paper's number: mean over mean, a failure and whatever is slower count as 1."""
    return max(1.0, result.paper_speedup_ratio or 1.0) if result.correct else 1.0


def gain_within(one: Measured, precision_class: str) -> float | None:
    """Return how many times faster than eager the best baseline of a class or a finer one is."""
    best, eager = one.best_within(precision_class), one.eager_ms
    return eager / best[1] if best and eager and best[1] > 0 else None


def gain(one: Measured) -> float | None:
    """Return how many times faster than eager the best plain baseline is."""
    best, eager = one.best_plain, one.eager_ms
    return eager / best[1] if best and eager and best[1] > 0 else None
