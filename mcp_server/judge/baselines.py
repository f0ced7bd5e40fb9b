# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""How fast the original runs by itself: eager, compiled, and in the precision classes of the policy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mcp_server.judge.clock import Lane, Paired, paired, rules_for
from mcp_server.judge.faults import Fault
from mcp_server.judge.qualification import Baseline, Qualification
from mcp_server.judge.station import Station, quiet
from mcp_server.judge.statistics import SPREAD_PAIRS, median, noise_floor, pair_spread
from mcp_server.judge.variants import EAGER, Variant, is_further, variants

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from mcp_server.judge.server import Server
    from mcp_server.judge.task import Task

    Fresh = Callable[[int], AbstractContextManager[list[Lane]]]
    """Holds that many processes with the original in each; they start together."""

CLASSES = ("fp32", "tf32_fp16", "bf16", "coarser")
"""Precision classes, finest first."""
HOPELESS = 3.0
"""A baseline whose first calls take this many times the best so far is not measured."""
LATENCY_FROM_S = 0.010
"""An original slower than this is judged by latency, a faster one by its time on the device.

On an H200 in a virtual machine the latency of a 1 ms call spreads by 10 to 40 %, whatever the clock: reveals,
launches and waking up are as long as the call. Events behind a spin kernel spread by less than 1 %.
"""
NOISE_ROUNDS = 80
NOISE_S = 4.0
COMPILE_DEADLINE_S = 240.0
SMALL_MS = 0.2
"""Below this, what differs between two processes that run the same is looked at."""
SPREAD_ROUNDS = 6
UNSEEN_SPREAD = 0.03
"""What two processes are taken to differ by where nobody had the time to look; an op of 5 µs showed 2 to 3 %."""


def tf32_of(precision: str) -> bool | None:
    """Return whether a policy has TF32 on; None leaves torch's defaults."""
    return {"fp32": False, "tf32": True}.get(precision)


def eager_lane(station: Station, task: Task, precision: str, deadline_s: float) -> Lane:
    """Return the original as it is, loaded and called once."""
    return _lane(station, EAGER, task, tf32_of(precision), deadline_s)


def _lane(
    station: Station, variant: Variant, task: Task, tf32: bool | None, deadline_s: float
) -> Lane:
    station.load(variant.name, variant.loading(task, tf32), 60)
    station.construct(variant.name, 60)
    lane = Lane(station, variant.name, deadline_s)
    lane.call()
    return lane


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the original is measured: two processes that run it, and turns on the device."""

    eager: Lane
    others: Station
    """The other process: eager's twin, then one variant after another."""
    server: Server
    told: Callable[[str], None]
    until: float
    """On the server's clock: what has not begun by then is left out."""

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.server.clock() > self.until


def bench(
    eager: Lane, others: Station, server: Server, told: Callable[[str], None], stage_s: float
) -> Bench:
    """Return the bench of a stage that may take so long; waiting for the device is not counted."""
    return Bench(eager, others, server, told, server.clock() + 0.7 * stage_s)


def measure(
    found: Qualification, at: Bench, task: Task, precision: str, stage_s: float, fresh: Fresh
) -> None:
    """Measure eager's noise floor and every baseline against it, into the qualification."""
    at.told("eager")
    with at.server.lease(shared=True):
        twin = _lane(at.others, EAGER, task, tf32_of(precision), at.eager.deadline_s)
    with at.server.lease():
        measure_noise(found, at.eager, twin, min(NOISE_S, stage_s))
    if found.scope == "device" and found.eager.time_ms < SMALL_MS:
        at.told("eager in fresh processes")
        _spread(found, twin, at, fresh)
    measure_more(found, variants(found.budget, task.device), at)


def _spread(found: Qualification, twin: Lane, at: Bench, fresh: Fresh) -> None:
    if at.over:  # one pair may agree by chance
        found.notes.append("eager in fresh processes: not measured, no time left")
        found.pair_spread = max(UNSEEN_SPREAD, pair_spread(_seen(found)))
        return
    with fresh(SPREAD_PAIRS - len(_seen(found))) as lanes, at.server.lease():
        measure_spread(found, [twin, *lanes])


def measure_noise(found: Qualification, eager: Lane, twin: Lane, limit_s: float = NOISE_S) -> str:
    """Measure eager in one process against eager in another, into the qualification; return the task's scope."""
    device = eager.station.state.task.device
    found.scope = _scope(device, eager.warm_up(rules_for(device, "latency")))
    _noise(found, eager, twin, limit_s)
    return found.scope


def measure_spread(found: Qualification, chain: list[Lane]) -> None:
    """Measure a chain of processes, each against the one before, into the qualification.

    A process may be off by some per cent all its life: where its memory lies. Rounds within a pair do not show it.
    """
    device = chain[0].station.state.task.device
    rules = replace(rules_for(device, found.scope), half_width=0.0, most_rounds=SPREAD_ROUNDS)
    pairs = [paired(before, lane, rules).estimate.mean for before, lane in pairwise(chain)]
    found.pair_means = [*_seen(found), *pairs]
    found.pair_spread = pair_spread(found.pair_means)


def _seen(found: Qualification) -> list[float]:
    """Return what the pair differs by in which the noise was measured."""
    rounds = found.noise_rounds
    return [sum(rounds) / len(rounds)] if rounds else []


def measure_more(found: Qualification, wanted: list[Variant], at: Bench) -> None:
    """Measure further baselines into the qualification; what is not measured is noted with the reason."""
    best_s = min(row.time_ms for row in found.baselines) / 1e3
    for variant in wanted:
        if at.over:
            found.notes.append(f"{variant.name}: not measured, no time left")
            continue
        at.told(variant.name)
        found.tried.append(variant.name)
        row = _measured(variant, found, at, best_s)
        if isinstance(row, str):
            found.notes.append(f"{variant.name}: {row}")
        else:
            found.baselines.append(row)
            best_s = min(best_s, row.time_ms / 1e3)


def _scope(device: str, eager_s: float) -> str:
    return "device" if device != "cpu" and eager_s < LATENCY_FROM_S else "latency"


def _noise(found: Qualification, eager: Lane, twin: Lane, limit_s: float) -> None:
    """A/A: eager in one process against eager in another."""
    device = eager.station.state.task.device
    rules = replace(
        rules_for(device, found.scope),
        half_width=0.0,
        side_s=limit_s / 2,
        stage_s=limit_s / 0.8,
        most_rounds=NOISE_ROUNDS,
    )
    same = paired(eager, twin, rules)
    found.noise_rounds = same.log_ratios
    found.noise_floor = noise_floor(same.log_ratios)
    time_ms = median(same.a_s) * 1e3
    mean_ms = _mean(eager.latencies_s) * 1e3
    row = Baseline("eager", "fp32", time_ms, mean_ms or time_ms, 0.0, 0.0, len(same.rounds))
    found.baselines = [row]


def _measured(variant: Variant, found: Qualification, at: Bench, best_s: float) -> Baseline | str:
    """Return the baseline, or why there is none; it is compiled before the device is taken alone."""
    task = at.eager.station.state.task
    try:
        plain = replace(variant, name=f"{variant.name}_probe", compile=False, mode=None)
        if variant.form:
            slowness = _slowness(_ready(plain, found, at), found, at, found.eager.time_ms / 1e3)
            if slowness > HOPELESS:
                # Compared with eager: compiling may gain as much here as it did there.
                return f"{slowness:.1f} × eager before it is compiled, not compiled"
        lane = _ready(variant, found, at)
        slowness = _slowness(lane, found, at, best_s)
        if slowness > HOPELESS:
            return f"{slowness:.1f} × the best so far, not measured further"
        with at.server.lease():
            timed = paired(at.eager, lane, rules_for(task.device, found.scope))
    except Fault as fault:
        if fault.code == "protocol":
            raise
        return f"{fault.cause}"
    return _row(variant, timed, lane, found.eager.time_ms)


def _ready(variant: Variant, found: Qualification, at: Bench) -> Lane:
    """Return a variant, loaded, compiled and called once."""
    tf32 = False if found.budget.policy == "fp32" else None
    with at.server.lease(shared=True):
        return _lane(at.others, variant, at.others.state.task, tf32, COMPILE_DEADLINE_S)


def _slowness(lane: Lane, found: Qualification, at: Bench, other_s: float) -> float:
    """Return a variant's time over another time."""
    with at.server.lease(), quiet():
        calls_s = [lane.call() for _ in range(3)] if found.scope == "latency" else lane.batch(4)
    return min(calls_s) / other_s


def _row(variant: Variant, timed: Paired, lane: Lane, eager_ms: float) -> Baseline:
    """Return the baseline in units of the eager time: paired, so that drift cancels."""
    ratio = timed.estimate
    time_ms = eager_ms / math.exp(ratio.mean)
    mean_ms = _mean(lane.latencies_s) * 1e3 or time_ms
    return Baseline(
        variant.name,
        variant.precision_class,
        time_ms,
        mean_ms,
        ratio.mean,
        ratio.error,
        len(timed.rounds),
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def strongest(found: Qualification, precision_class: str, *, further: bool = False) -> Baseline:
    """Return the fastest baseline of that class or a finer one.

    `further`: those that only a profile or full mode measures, too. Else one session's headlines would be over
    another baseline from the moment on that somebody asked for a profile.
    """
    allowed = CLASSES[: CLASSES.index(precision_class) + 1]
    rows = [row for row in found.baselines if further or not is_further(row.name)]
    return min((row for row in rows if row.precision_class in allowed), key=lambda row: row.time_ms)
