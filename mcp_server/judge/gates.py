"""Rules that a timing must pass before it is believed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server.judge.compare import differences, worst_of
from mcp_server.judge.faults import Fault, rejected
from mcp_server.judge.statistics import deviation, median, percentile
from mcp_server.judge.structure import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.judge.budget import Bound
    from mcp_server.judge.clock import Lane


@dataclass(frozen=True, slots=True)
class Margins:
    """How far two measurements may differ before one is doubted: seconds, and shares of the larger."""

    clock_s: float
    clock_ratio: float
    late_s: float
    late_ratio: float
    drift_ratio: float
    least_s: float
    """Less than that is noise, whatever share of a saving it is."""


GPU = Margins(
    clock_s=15e-6, clock_ratio=0.03, late_s=50e-6, late_ratio=0.03, drift_ratio=0.03, least_s=50e-6
)
CPU = Margins(
    clock_s=300e-6, clock_ratio=0.10, late_s=1e-3, late_ratio=0.25, drift_ratio=0.25, least_s=300e-6
)
"""A shared CPU wakes the judge late now and then."""
ALWAYS = 0.2
"""What a trick does, it does in every call: so the best calls are looked at, which noise spares."""


def margins_for(device: str) -> Margins:
    """Return the margins of a device."""
    return CPU if device == "cpu" else GPU


def clock_gaps(lane: Lane) -> list[float]:
    """Return by how much the worker's clock lies below the judge's, call by call, in seconds."""
    trip = lane.station.round_trip
    pairs = zip(lane.raw_s, lane.own_s, strict=True)
    return [(mine - trip.median_s) - (theirs - trip.own_s) for mine, theirs in pairs]


def clock_confirmed(
    gaps: Sequence[float],
    raw_s: Sequence[float],
    margins: Margins,
    usual_gaps: Sequence[float] = (),
) -> bool:
    """Return whether the worker's clock agrees with the judge's in either half of the calls.

    `usual_gaps`: the original's in the same rounds. Its worker is ours: what its clock lacks, the machine took.
    """
    middle = len(gaps) // 2
    usual_s = max(0.0, median(usual_gaps)) if usual_gaps else 0.0
    halves = ((gaps[:middle], raw_s[:middle]), (gaps[middle:], raw_s[middle:]))
    return any(_agrees(gap, raw, margins, usual_s) for gap, raw in halves if gap)


def _agrees(
    gaps: Sequence[float], raw_s: Sequence[float], margins: Margins, usual_s: float
) -> bool:
    limit = max(3 * deviation(raw_s), margins.clock_s, margins.clock_ratio * median(raw_s))
    return percentile(gaps, ALWAYS) <= limit + usual_s


def batches_confirmed(lane: Lane, eager: Lane, margins: Margins) -> bool:
    """Return whether what the GPU's events say fits what the judge saw of whole batches.

    What a batch takes beside its events (spin, flushes, the message) is alike for the original and the candidate. So is
    how often the machine holds up a single call: what the original meets, the candidate may meet.
    """
    usual = _uneven(eager.device_s, margins)
    chance = max(1, len(lane.device_s) // UNEVEN_ONE_IN) + 3 * math.sqrt(usual)
    even = _uneven(lane.device_s, margins) <= usual + chance
    fits = all(events <= took for took, _, events in lane.batches)
    mine, theirs = _beside(lane), _beside(eager)
    events_s = median([events for _, _, events in eager.batches])
    limit = max(3 * deviation(theirs), 10 * margins.clock_s, 0.25 * events_s)
    return even and fits and percentile(mine, ALWAYS) - median(theirs) <= limit


UNEVEN_ONE_IN = 100
"""Calls of which one may take far longer than usual; less than half of them cannot move a median."""


def _uneven(device_s: Sequence[float], margins: Margins) -> int:
    """Return how many calls took more than thrice the usual time."""
    typical = median(device_s)
    return sum(value > 3 * typical + margins.clock_s for value in device_s)


def _beside(lane: Lane) -> list[float]:
    """Return what each batch took beside its events, in seconds."""
    return [took - events for took, _, events in lane.batches]


def spread_beside(lane: Lane) -> float:
    """Return by how much what batches take beside their events scatters, in seconds."""
    return deviation(_beside(lane))


def late(
    fetches_s: Sequence[float],
    baseline_s: Sequence[float],
    call_s: float,
    margins: Margins,
    saved_s: float = 0.0,
) -> bool:
    """Return whether answers take longer to deliver than the original's, which are as large.

    `saved_s`: what each call saves. Whoever saves anything may not give half of it back on delivery.
    """
    if len(fetches_s) < 3 or len(baseline_s) < 3:
        return False
    usual = median(baseline_s)
    allowed_s = max(margins.late_s, margins.late_ratio * max(usual, call_s))
    if saved_s > 0:
        allowed_s = min(allowed_s, max(margins.least_s, RETURNED * saved_s))
    return percentile(fetches_s, ALWAYS) - usual > max(3 * deviation(baseline_s), allowed_s)


RETURNED = 0.5
"""Share of what a candidate saves that it may lose again where its work shows elsewhere."""
MEDIANS_ERROR = 1.4826 * math.sqrt(math.pi / 2)
"""Standard error of the median of one value, in median absolute deviations."""


def incremental(
    mine_s: Sequence[float],
    original_s: Sequence[float],
    saved_s: float,
    margins: Margins,
    unsure_s: float = 0.0,
) -> bool:
    """Return whether a saving is lost where all of the input is new, seen in calls made in turns.

    Both sides copy the same input in those calls, so that what they differ by is still what is saved. The median is
    looked at, beyond what the original's own calls scatter by: a candidate that scatters helps itself to nothing.
    `unsure_s`: what the saving itself may be off by.
    """
    if saved_s <= 0 or not mine_s:
        return False
    lost = [b - a + saved_s for a, b in zip(original_s, mine_s, strict=True)]
    noise_s = 3 * MEDIANS_ERROR * math.sqrt(2 / len(lost)) * deviation(original_s)
    return median(lost) > max(margins.least_s, RETURNED * saved_s, noise_s, unsure_s)


def disturbed(
    alone_s: float, beside_s: float, afterwards_s: float, noise_s: float, margins: Margins
) -> bool:
    """Return whether the original is slower only while this candidate lives."""
    limit = max(3 * noise_s, margins.drift_ratio * alone_s)
    back = abs(afterwards_s - alone_s) <= limit / 2
    return back and beside_s - alone_s > limit


LEAST_CPU_S = 0.25
"""Less is too little to slow anything, and hardly more than the system's own ticks."""
IDLE_SHARE = 0.2
"""Share of its idle time that a process may compute in: pools of threads spin for a while after work."""


def competed(cpu_s: float, asked_s: float, held_s: float, threads: int) -> bool:
    """Return whether a process computed while nothing was asked of it, as seen from outside.

    `cpu_s`: what it used in a while; `asked_s`: how long requests were open then; `held_s`: how long the while was.
    """
    idle_s = max(0.0, held_s - asked_s)
    return cpu_s - threads * asked_s > max(LEAST_CPU_S, IDLE_SHARE * idle_s)


def check_samples(lane: Lane, bounds: list[Bound]) -> int:
    """Compare the secret sample of timed answers with the oracle; return how many there were.

    Raises:
        Fault: one is wrong.
    """
    state = lane.station.state
    last = [lane.latest] if lane.latest is not None and lane.latest not in lane.samples else []
    for sample in [*lane.samples, *last]:
        try:
            got = decode(sample.fetched, state.like, state.task.device)
        except Fault as fault:
            raise _timed_wrong() from fault
        want = state.oracle.answer(sample.staged.draw, sample.content)
        worst = worst_of(differences(got, want, bounds))
        if worst is not None and worst.code is not None:
            raise _timed_wrong()
    return len(lane.samples)


def _timed_wrong() -> Fault:
    return rejected("timed_answer_wrong", "An answer given while the clock ran is wrong.")
