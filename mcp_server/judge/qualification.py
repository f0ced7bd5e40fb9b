# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Whether a task can judge candidates under a policy: its own errors in each format, mutants, cap, budget."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge import memory, mutants
from mcp_server.judge.budget import (
    FORMATS,
    HEADROOM,
    POLICIES,
    PRECISIONS,
    Bound,
    Budget,
    Format,
    FormatRun,
    paper_bounds,
    settle,
)
from mcp_server.judge.compare import compare, outlier_share
from mcp_server.judge.faults import unfit
from mcp_server.judge.oracle import reals
from mcp_server.judge.reference import Answer, forward
from mcp_server.judge.structure import paths_of
from mcp_server.worker.program import set_tf32

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.oracle import Entry
    from mcp_server.judge.state import TaskState

RUNS = 3
"""Entries that each format is run on."""
ASKED = 4
"""Entries that a wrong answer is held against, at most: as a candidate, it must pass them all."""
PLAIN_ERROR = 0.2
"""An e that no budget allows: no further entry is needed."""
FEW_ELEMENTS = 64
"""Of an answer this small the error at one entry may be small by chance."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """How long one way of running the original takes."""

    name: str
    precision_class: str
    time_ms: float
    mean_ms: float
    log_ratio: float
    """log(eager / this), paired; 0 for eager itself."""
    error: float
    """Standard error of the log ratio."""
    rounds: int


@dataclass(slots=True)
class Qualification:
    """What is measured once of a task under a policy on a device, and kept."""

    budget: Budget
    blind_to: list[str]
    oracle: str
    forward_s: float
    """One eager call in the judge."""
    baselines: list[Baseline] = field(default_factory=list[Baseline])
    notes: list[str] = field(default_factory=list[str])
    noise_rounds: list[float] = field(default_factory=list[float])
    """Log ratios of eager against eager."""
    scales: list[float] = field(default_factory=list[float])
    """D of each output."""
    mutants: dict[str, float] = field(default_factory=dict[str, float])
    """e of answers known to be wrong, worst output."""
    noise_floor: float = 0.0
    pair_means: list[float] = field(default_factory=list[float])
    """Mean log ratios of eager against eager, each in another pair of processes; none where they agree anyway."""
    pair_spread: float = 0.0
    scope: str = "latency"
    peak_bytes: int | None = None
    floors: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    """By precision class the least milliseconds of memory and arithmetic on this device."""
    tried: list[str] = field(default_factory=list[str])
    """Every baseline that was looked at, whether it could be measured or not."""

    @property
    def eager(self) -> Baseline:
        """The original as it is."""
        return self.baselines[0]

    def to_json(self) -> dict[str, Any]:
        """Return the record to keep."""
        return {"version": 1, **asdict(self)}


def from_json(record: dict[str, Any]) -> Qualification | None:
    """Return a kept qualification; None where it is of another version or damaged."""
    try:
        if record["version"] != 1:
            return None
        fields = {key: value for key, value in record.items() if key != "version"}
        kept = fields.pop("budget")
        runs = {name: FormatRun(**run) for name, run in kept.pop("runs").items()}
        baselines = [Baseline(**row) for row in fields.pop("baselines")]
        budget = Budget(**kept, runs=runs)
        return Qualification(budget=budget, baselines=baselines, **fields)
    except (KeyError, TypeError, AttributeError):
        return None


def qualify(state: TaskState, policy: str) -> Qualification:
    """Return what the task can tell apart; baselines come later.

    Raises:
        Fault: it accepts an answer that is known to be wrong.
    """
    entries = list(state.entries.kept)
    if state.plain:
        return Qualification(_paper_budget(policy), [], state.oracle.kind, state.forward_s)
    runs = {form.name: run for form in FORMATS if (run := _run(state, form, entries)) is not None}
    if "fp32" not in runs:
        raise unfit("reference_fails", "The original cannot be run again in fp32.")
    found = _mutants(state, entries)
    budget, blind = settle(policy, runs, found.errors, mutants.NEVER_BLIND | found.partial)
    bounds = budget.bounds(state.scales)
    rows = [(name, entry, leaves) for name, (entry, leaves) in found.fixed.items()]
    mutants.refuse_accepted([name for name, one, given in rows if _accepted(bounds, one, given)])
    noise = mutants.noisy(entries[1].answer, state.generator)
    if _accepted(bounds, entries[1], noise):
        blind.append("noise in 2 % of the elements")
    if "plain_weights" in state.flags and mutants.DEFAULTS in found.errors:
        blind.append(mutants.DEFAULTS)
    blind += _blind_formats(state, budget, runs)
    return Qualification(
        budget, blind, state.oracle.kind, state.forward_s, scales=state.scales, mutants=found.errors
    )


@dataclass(slots=True)
class _Mutants:
    """Wrong answers, each to the entry at which it is most wrong: a candidate is asked several times."""

    fixed: dict[str, tuple[Entry, list[Tensor]]] = field(
        default_factory=dict[str, "tuple[Entry, list[Tensor]]"]
    )
    """Those that must fail."""
    partial: set[str] = field(default_factory=set[str])
    """Names of those that are wrong in one of several outputs."""
    errors: dict[str, float] = field(default_factory=dict[str, float])
    """By name e of the worst output, of these and of models with a part left out; the mildest of a kind."""


def _mutants(state: TaskState, entries: list[Entry]) -> _Mutants:
    found = _Mutants()
    for place in range(1, min(len(entries), ASKED + 1)):
        _add_fixed(found, state, entries[place], entries[place + 1 :] + entries[:place])
        if min(found.errors.values()) > PLAIN_ERROR:
            break
    few = max(x.numel() for x in state.like.leaves) < FEW_ELEMENTS
    asked = entries[1 : ASKED + 1] if few else entries[1:2]
    for name, answers in mutants.structural(state.reference, asked, state.generator):
        pairs = zip(asked, answers, strict=False)
        error = max((_error(state, one, made.leaves) for one, made in pairs), default=None)
        if error is not None:
            found.errors[name] = min(error, found.errors.get(name, error))
    return found


def _add_fixed(found: _Mutants, state: TaskState, entry: Entry, others: list[Entry]) -> None:
    """Add the entry's wrong answers, those that are more wrong than what is known."""
    fixed, partial = mutants.answers(entry, others), mutants.remembered(entry, others[0])
    found.partial |= partial.keys()
    for name, leaves in {**fixed, **partial}.items():
        error = _error(state, entry, leaves)
        if error >= found.errors.get(name, 0.0):
            found.errors[name] = error
            if name in fixed:
                found.fixed[name] = (entry, leaves)


def bounds_of(state: TaskState, budget: Budget) -> list[Bound]:
    """Return what each output must keep to."""
    if state.plain:
        return paper_bounds(len(state.scales))
    return budget.bounds(state.scales)


def _paper_budget(policy: str) -> Budget:
    return Budget(policy, [], 1.0, {})


def _run(state: TaskState, form: Format, entries: list[Entry]) -> FormatRun | None:
    """Return the errors of the original in one format; None where it cannot run in it."""
    device = state.task.device
    if form.name == "tf32" and device == "cpu":
        return None
    if form.tf32 is not None:
        set_tf32(form.tf32)
    try:
        model = state.reference.in_format(form.cast, form.autocast)
        made = [
            (entry, forward(model, entry.draw.arguments(device), entry.draw.seed))
            for entry in entries[:RUNS]
        ]
        return _measured(state, made)
    except Exception as error:  # noqa: BLE001  the task's own code: a format it cannot run in is left out
        memory.refuse_crowded(error, device)
        return None
    finally:
        set_tf32(False)


def _measured(state: TaskState, made: list[tuple[Entry, Answer]]) -> FormatRun | None:
    outputs = range(len(state.scales))
    rows = [[_leaf_run(state, place, entry, got) for place in outputs] for entry, got in made]
    if any(row is None for line in rows for row in line):
        return None
    table = [[row for row in line if row is not None] for line in rows]
    return FormatRun(
        errors=[max(line[place][0] for line in table) for place in outputs],
        margins={
            policy: [max(line[place][1][policy] for line in table) for place in outputs]
            for policy in PRECISIONS
        },
        mismatches=[max(line[place][2] for line in table) for place in outputs],
        outliers=[max(line[place][3] for line in table) for place in outputs],
    )


def _leaf_run(
    state: TaskState, place: int, entry: Entry, got: Answer
) -> tuple[float, dict[str, float], float, float] | None:
    """Return e, w over D by policy, mismatches and outliers of one output; None if not finite alike."""
    want, mine = reals(entry.answer.leaves[place]), reals(got.leaves[place])
    scale = state.scales[place]
    if mine.shape != want.shape:
        return None
    if not want.is_floating_point():
        share = float((mine != want).double().mean()) if want.numel() else 0.0
        return 0.0, dict.fromkeys(PRECISIONS, 0.0), share, 0.0
    probe = compare("", mine, want, Bound(scale, float("inf"), float("inf"), 0.0, outliers=1.0))
    if probe.code is not None:
        return None
    return (
        probe.error_ratio,
        margins_of(mine, want, scale),
        0.0,
        outlier_share(mine.reshape(-1), want.reshape(-1), scale),
    )


def margins_of(got: Tensor, want: Tensor, scale: float) -> dict[str, float]:
    """Return by policy w over D: the largest of 1.5·|error| − r·|oracle|; both tensors of one shape.

    The error has its headroom before the part for the value's size is taken off: where that part nearly covers the
    error, what is left says nothing about how far the next draw's largest error reaches.
    """
    size = want.abs()
    error = (got.double() - want).abs_().nan_to_num_(0.0, 0.0, 0.0).mul_(HEADROOM)
    if not bool(torch.isfinite(size.sum())):
        size = size.nan_to_num_(0.0, 0.0, 0.0)
    found: dict[str, float] = {}
    for name, rules in POLICIES.items():
        largest = float(torch.sub(error, size, alpha=rules.relative).max()) if size.numel() else 0.0
        found[name] = max(0.0, largest) / scale
    return found


def _error(state: TaskState, entry: Entry, leaves: list[Tensor]) -> float:
    """Return e of a mutant's worst output."""
    found = [
        compare("", mine, want, Bound(scale, 1.0, float("inf"), 0.0)).error_ratio
        for mine, want, scale in zip(leaves, entry.answer.leaves, state.scales, strict=True)
        if want.is_floating_point() or want.is_complex()
    ]
    return max(found, default=1.0)


def _accepted(bounds: list[Bound], entry: Entry, leaves: list[Tensor]) -> bool:
    paths = paths_of(entry.answer.tree)
    rows = zip(paths, leaves, entry.answer.leaves, bounds, strict=True)
    return all(compare(*row).code is None for row in rows)


def _blind_formats(state: TaskState, budget: Budget, runs: dict[str, FormatRun]) -> list[str]:
    """Return the half casts that pass under a policy finer than half."""
    if budget.policy == "half":
        return []
    bounds = budget.bounds(state.scales)
    coarser = [form.name for form in FORMATS if form.cast and form.name in runs]
    return [
        f"{name} weights"
        for name in coarser
        if all(e <= b.budget for e, b in zip(runs[name].errors, bounds, strict=True))
    ]
