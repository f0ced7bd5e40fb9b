# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""A candidate against the original: paired rounds, the gates, and the fields of the verdict they give."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge import busy, gates, telemetry
from mcp_server.judge.baselines import strongest
from mcp_server.judge.clock import (
    ALL_FETCHED_BYTES,
    Lane,
    Paired,
    Pooled,
    Rules,
    block_calls,
    paired,
    rules_for,
)
from mcp_server.judge.faults import Fault, rejected, unstable
from mcp_server.judge.station import quiet
from mcp_server.judge.statistics import (
    LEAST_DIFFERENCE,
    Estimate,
    chained,
    deviation,
    interval,
    median,
    outcome,
    percentile,
)
from mcp_server.judge.variants import is_further

if TYPE_CHECKING:
    from mcp_server.judge.budget import Bound
    from mcp_server.judge.qualification import Qualification
    from mcp_server.judge.station import Station

SAMPLES = 12
"""Timed answers compared with the oracle, at most; at least four are."""
SAMPLE_BYTES = 256 * 1024**2
ORACLE_S = 1.5
"""About how long those comparisons may take."""
EXTRAORDINARY = 10.0


@dataclass(frozen=True, slots=True)
class Alone:
    """The original's time with no candidate beside it, in seconds."""

    median_s: float
    noise_s: float


def alone(eager: Lane, scope: str, device: str) -> Alone:
    """Time the original by itself, briefly."""
    rules = rules_for(device, scope)
    calls = block_calls(eager.call(), rules)
    if scope == "device":
        blocks = [eager.block(8, scope) for _ in range(3)]
    else:
        blocks = [eager.block(min(calls, 5), scope) for _ in range(3)]
    return Alone(median(blocks), deviation(blocks))


WARMING_SHARE = 0.03
"""Of the calls before the timing that have their answers fetched, where those are large."""


def candidate_lane(station: Station, slot: str, eager: Lane, deadline_s: float) -> Lane:
    """Return the candidate's lane; both sides have their answers fetched at one rate."""
    state = station.state
    size = sum(x.numel() * x.element_size() for x in state.like.leaves)
    share = 1.0 if size <= ALL_FETCHED_BYTES or state.forward_s > 0.02 else WARMING_SHARE
    held = SAMPLE_BYTES // max(1, size + sum(leaf.nbytes for leaf in station.sets[0].leaves))
    by_time = int(ORACLE_S / max(1e-4, 3 * state.forward_s))
    samples = max(4, min(SAMPLES, held, by_time))
    eager.check_share = share
    return Lane(station, slot, deadline_s, check_share=share, keep_samples=samples)


def time_candidate(
    eager: Lane, candidate: Lane, found: Qualification, bounds: list[Bound], rules: Rules
) -> Paired:
    """Time both in turns and pass the gates.

    Raises:
        Fault: a gate does not open.
    """
    device = eager.station.state.task.device
    margins = gates.margins_for(device)
    if device != "cpu":
        torch.cuda.empty_cache()
    watch = [monotonic()]
    timed, scope = paired(eager, candidate, rules), found.scope
    watch.append(monotonic())
    if device != "cpu":
        _both_scopes(eager, candidate, scope)
    candidate.check_share = 1.0
    doubt = _doubt(eager, candidate, scope, margins)
    if doubt is not None and scope == "device" and _waits_inside(eager, candidate, margins):
        timed, scope = _charged(eager, candidate, rules), "latency"
        doubt = _doubt(eager, candidate, scope, margins)
    if doubt is not None:
        raise _second_look(eager, candidate, scope, doubt)
    watch.append(monotonic())
    if device == "cpu":
        stale = _incremental(eager, candidate, margins, found.noise_floor)
    else:
        stale = _incremental_queued(
            eager, candidate, margins, found.noise_floor, charged=timed.charged
        )
    if stale:
        raise rejected("stale_answer", _INCREMENTAL)
    watch.append(monotonic())
    while len(candidate.samples) < 4:
        _ = candidate.batch(2) if scope == "device" else [candidate.call()]
    gates.check_samples(candidate, bounds)
    watch.append(monotonic())
    passed = (later - before for before, later in pairwise(watch))
    timed.spent_s = dict(zip(_PARTS, passed, strict=True))
    return timed


_PARTS = ("rounds", "gates", "new_inputs", "answers")
"""What the timing spends its seconds on."""


@quiet()
def _waits_inside(eager: Lane, candidate: Lane, margins: gates.Margins) -> bool:
    """Return whether batches of two are as they should be: then in longer ones the host is waited for between calls.

    Whoever asks the GPU for a number in the midst of a call cannot be queued; that is no trick, and costs it time.
    """
    _look_again(eager, candidate, "device", calls=2)
    return _doubt(eager, candidate, "device", margins) is None


def _charged(eager: Lane, candidate: Lane, rules: Rules) -> Paired:
    """Time the candidate by the judge's clock around each call: all that it makes anybody wait for is in that."""
    timed = paired(eager, candidate, rules, charged=True)
    eager.check_share = 1.0
    with quiet():
        eager.block(CHARGED_CALLS, "latency")
    return timed


CHARGED_CALLS = 12
"""Of the original, so that the gates of latencies have something to compare with."""


def _both_scopes(eager: Lane, candidate: Lane, scope: str) -> None:
    """Measure, briefly, the scope that is not the headline's."""
    for lane in (eager, candidate):
        if scope == "device":
            lane.block(10, "latency")
        else:
            lane.batch(4)


def _doubt(eager: Lane, candidate: Lane, scope: str, margins: gates.Margins) -> str | None:
    """Return the code of the first gate that these calls do not pass."""
    if scope == "device":
        confirmed = gates.batches_confirmed(candidate, eager, margins)
        return None if confirmed else "clock_not_confirmed"
    gaps, usual = gates.clock_gaps(candidate), gates.clock_gaps(eager)
    if not gates.clock_confirmed(gaps, candidate.raw_s, margins, usual):
        return "clock_not_confirmed"
    call_s = median(candidate.latencies_s)
    saved_s = _saved_s(eager, candidate)
    if gates.late(candidate.fetches_s, eager.fetches_s, call_s, margins, saved_s):
        return "late_output"
    return None


BULK_CALLS = 8
LEAST_BULK_CALLS = 4
BULK_S = 1.0
LOOKS_AT_BULK = 2
"""Calls whose whole input is new: in each look at most that many, for about that long; a doubt is looked at twice."""
_INCREMENTAL = "It is faster only where most of its input is what it was in an earlier call."


def _saved_s(eager: Lane, candidate: Lane) -> float:
    """Return what the candidate saves in a call, in seconds; on a GPU no more than it saves there.

    What is saved on the GPU may not be seen by who waits for the launches, and what the host saves is noisy.
    """
    saved_s = median(eager.raw_s) - median(candidate.raw_s)
    if not eager.device_s or not candidate.device_s:
        return saved_s
    return min(saved_s, _saved_on_device_s(eager, candidate))


def _saved_on_device_s(eager: Lane, candidate: Lane) -> float:
    """Return what the candidate saves in a call by the GPU's events, in seconds."""
    return median(eager.device_s) - median(candidate.device_s)


@quiet()
def _incremental(eager: Lane, candidate: Lane, margins: gates.Margins, noise_floor: float) -> bool:
    """Return whether the candidate saves little where all of its input is new: it keeps what it computed before.

    Whole inputs cost a copy, so the usual calls change only a part; a few of these show whether that matters.
    Who saves no more than the clock may be off by is not called faster either.
    """
    saved_s = _saved_s(eager, candidate)
    unsure_s = max(LEAST_DIFFERENCE, noise_floor) * median(eager.raw_s)
    if saved_s <= max(margins.least_s, unsure_s) or eager.station.sources.replaces:
        return False
    original_s, mine_s = list[float](), list[float]()
    for _ in range(LOOKS_AT_BULK):
        until = monotonic() + BULK_S
        for _ in range(BULK_CALLS):
            original_s.append(eager.bulk())
            mine_s.append(candidate.bulk())
            if monotonic() > until and len(mine_s) >= LEAST_BULK_CALLS:
                break
        if not gates.incremental(mine_s, original_s, saved_s, margins, unsure_s):
            return False
    return True


QUEUED_LEAST_S = 3e-6
"""What events on a GPU may be off by."""
LOOKS_ANEW = 3
"""All of them have to tell the same, before a candidate is refused for it."""
SETS_ANEW = 2
"""Sets whose inputs are all new in a look, before the clock starts."""
USUAL_CALLS = 6
"""Single calls that tell what one takes usually, where the batches of the timing do not."""


def _incremental_queued(
    eager: Lane, candidate: Lane, margins: gates.Margins, noise_floor: float, *, charged: bool
) -> bool:
    """Return whether that is so by the GPU's events, which the copy of the input is no part of.

    By the judge's clock the copy of 64 MiB scatters by more than a call of 0.1 ms takes. Two ways are looked at: the
    input new within the request, so that nobody can have begun before the clock, and new before it, so that what the
    events say of a batch is held against the judge's clock.
    """
    saved_s, least_s = _saved_on_device_s(eager, candidate), QUEUED_LEAST_S
    if charged:  # its batches wait for the host in between: single calls are compared
        mine_s = median([candidate.batch(1)[0] for _ in range(USUAL_CALLS)])
        saved_s, least_s = median(eager.device_s) - mine_s, margins.least_s
    unsure_s = max(LEAST_DIFFERENCE, noise_floor) * median(eager.device_s)
    if saved_s <= max(least_s, unsure_s) or eager.station.sources.replaces:
        return False
    limit_s = max(least_s, unsure_s, gates.RETURNED * saved_s)
    looks = (_lost_anew(eager, candidate, saved_s, charged) for _ in range(LOOKS_ANEW))
    return all(lost_s > limit_s for lost_s in looks)


def _lost_anew(eager: Lane, candidate: Lane, saved_s: float, charged: bool) -> float:
    """Return the seconds of what a call saves that are lost where all of its input is new.

    The original's calls are made in the same circumstances, so that what those cost takes no part.
    """
    within_s = candidate.queued_anew() - eager.queued_anew()
    if charged:
        return within_s + saved_s
    count = min(SETS_ANEW, len(candidate.station.sets))
    candidate.station.stage_anew(count)
    mine, theirs = candidate.queue(count), eager.queue(count)
    before_s = median(mine.device_s) - median(theirs.device_s)
    by_clock_s = (mine.took_s - theirs.took_s) / count
    # Less than that may be the machine's; what is more, the events should have told.
    doubtful_s = (10 * gates.GPU.clock_s + 3 * gates.spread_beside(eager)) / count
    by_clock_s = by_clock_s if by_clock_s + saved_s > doubtful_s else -saved_s
    return max(within_s, before_s, by_clock_s) + saved_s


LOOK_ROUNDS = 10
"""Rounds of a second look at a doubt."""


def _second_look(eager: Lane, candidate: Lane, scope: str, doubt: str) -> Fault:
    """Measure again what a gate doubted: seen twice it is the candidate's doing, else the machine's.

    Neither is an answer to rely on: a candidate that behaves only now gains nothing.
    """
    began, waited_s = monotonic(), busy.waited_s()
    with quiet():
        _look_again(eager, candidate, scope, calls=4 if scope == "device" else 2)
    share = (busy.waited_s() - waited_s) / (monotonic() - began)
    margins = gates.margins_for(eager.station.state.task.device)
    if _doubt(eager, candidate, scope, margins) != doubt:
        return unstable("A gate of the timing did not open, then did: the machine was too busy.")
    if share > busy.BUSY:
        return unstable(
            "A gate of the timing did not open, and the machine was too busy to say why: "
            f"the judge waited for a core {100 * share:.0f} % of the time."
        )
    return rejected(doubt, _DOUBTS[doubt])


def _look_again(eager: Lane, candidate: Lane, scope: str, *, calls: int) -> None:
    """Make some more calls of both in turns, and keep only what these show."""
    eager.forget()
    candidate.forget()
    eager.check_share = 1.0
    for _ in range(LOOK_ROUNDS):
        for lane in (eager, candidate):
            lane.block(calls, scope)


_DOUBTS = {
    "clock_not_confirmed": "The candidate's time is not confirmed by both clocks.",
    "late_output": "The answer was not finished when it was given.",
}


def fields(
    timed: Paired | Pooled, eager: Lane, candidate: Lane, found: Qualification, precision_class: str
) -> dict[str, Any]:
    """Return the verdict's fields of timing and speedup."""
    # Over several pairs the spread is in the estimate itself.
    spread = 0.0 if isinstance(timed, Pooled) else found.pair_spread
    over_eager = interval(timed.estimate, spread)
    baseline = strongest(found, precision_class, further=isinstance(timed, Pooled))
    if baseline.name == "eager":
        over_best = over_eager
    else:
        known = Estimate(baseline.log_ratio, baseline.error, baseline.rounds)
        over_best = chained(timed.estimate, known, spread, found.pair_spread)
    floor = found.noise_floor
    return {
        **_times(timed, eager, candidate, "latency" if timed.charged else found.scope),
        **baseline_fields(found),
        "baseline": baseline.name,
        "baseline_ms": baseline.time_ms,
        "speedup_ratio": over_best.ratio,
        "speedup_lo_ratio": over_best.lo,
        "speedup_hi_ratio": over_best.hi,
        "outcome": outcome(over_best, floor),
        "speedup_eager_ratio": over_eager.ratio,
        "speedup_eager_lo_ratio": over_eager.lo,
        "speedup_eager_hi_ratio": over_eager.hi,
        "outcome_eager": outcome(over_eager, floor),
        "paper_speedup_ratio": _paper(eager, candidate),
    }


def _times(timed: Paired | Pooled, eager: Lane, candidate: Lane, scope: str) -> dict[str, Any]:
    latencies, on_device = candidate.latencies_s, candidate.device_s
    values = on_device if scope == "device" else latencies
    trip = candidate.station.round_trip
    return {
        "scope": scope,
        "runtime_ms": median(timed.b_s) * 1e3,
        "p95_ms": percentile(values, 0.95) * 1e3,
        "iqr_ms": (percentile(values, 0.75) - percentile(values, 0.25)) * 1e3,
        "latency_ms": median(latencies) * 1e3 if latencies else None,
        "device_ms": median(on_device) * 1e3 if on_device else None,
        "round_trip_ms": trip.median_s * 1e3,
        "clock_gap_ms": median(gates.clock_gaps(candidate)) * 1e3 if latencies else None,
        "calls_timed": candidate.timed,
        "pairs": len(timed.pairs) if isinstance(timed, Pooled) else 1,
        "rounds": len(timed.rounds),
        "rounds_dropped": timed.dropped,
        **telemetry.fields(timed.samples),
        "timer_confirmed": True,
        "batched": scope == "device",
        "launch_bound": _launch_bound(latencies, on_device),
    }


def _launch_bound(latencies: list[float], on_device: list[float]) -> bool | None:
    if not latencies or not on_device:
        return None
    return median(on_device) < 0.7 * median(latencies)


def baseline_fields(found: Qualification) -> dict[str, Any]:
    """Return what the verdict says of the original by itself."""
    times = {row.name: row.time_ms for row in found.baselines}
    halves = [
        row.time_ms
        for row in found.baselines
        if row.name.startswith(("fp16", "bf16")) and not is_further(row.name)
    ]
    return {
        "eager_ms": times.get("eager"),
        "compile_ms": times.get("compile"),
        "tf32_ms": times.get("tf32_compile"),
        "half_ms": min(halves, default=None),
        "max_autotune_ms": _least(times, "max_autotune", "max_autotune_graphed"),
        "graphed_ms": times.get("graphed"),
        "tensorrt_ms": times.get("tensorrt"),
        "baseline_names": [row.name for row in found.baselines],
        "baseline_classes": [row.precision_class for row in found.baselines],
        "baseline_times_ms": [row.time_ms for row in found.baselines],
        "noise_floor_ratio": found.noise_floor,
    }


def _least(times: dict[str, float], *names: str) -> float | None:
    return min((times[name] for name in names if name in times), default=None)


def _paper(eager: Lane, candidate: Lane) -> float | None:
    mine, theirs = candidate.latencies_s, eager.latencies_s
    if not mine or not theirs:
        return None
    return (sum(theirs) / len(theirs)) / (sum(mine) / len(mine))
