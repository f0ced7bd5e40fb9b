# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Paired timing: A B B A rounds of blocks of calls, on the judge's clock, every call with new data.

| scope | time of a call |
| --- | --- |
| `latency` | from the reveal to the synchronised answer, less what such a message costs |
| `device` | between events on the GPU, several calls queued behind a spin kernel |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from mcp_server.judge import telemetry
from mcp_server.judge.oracle import secret
from mcp_server.judge.station import quiet
from mcp_server.judge.statistics import LOOKS, Estimate, estimate, median, round_log_ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from mcp_server.judge.inputs import Patch, Staged
    from mcp_server.judge.station import Station
    from mcp_server.judge.telemetry import Sample as GpuSample
    from mcp_server.judge.worker_link import Called, Fetched

SPIN_HZ = 2.0e9
"""Upper estimate of the GPU's clock, for spins long enough."""
LONGEST_QUEUE_S = 1e-3
SMALLEST_S = 1e-7
SINGLE_S = 0.040
"""Calls longer than this are timed one by one."""
ALL_FETCHED_BYTES = 1024**2
QUEUED_STAGE_S = 5.0
"""Of a quick timing by events: an interval that is still wide then says so itself, and others wait for the device."""
QUICK_CALLS = 4
"""Of a block that warms up what is timed by events."""
LARGE_SHARE = 0.125
"""Of the calls whose answers are large, at most that many have them fetched."""
MOST_CHARGED = 10
"""Calls of a block of latencies beside one of the GPU's times."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How long to time, and how sure to be."""

    scope: str = "latency"
    half_width: float = 0.03
    side_s: float = 1.0
    """Time on each side after which rounds stop."""
    stage_s: float = 15.0
    least_calls: int = 1
    warm_agreement: float = 0.02
    warm_s: float = 3.0
    looks: tuple[int, ...] = LOOKS
    """Numbers of rounds after which the interval is looked at."""
    most_rounds: int = LOOKS[-1]


FULL_LOOKS = (12, 16, 20, 24)
FULL_SIDE_S = 3.3
"""Of each pair; three pairs make the ten seconds of full mode."""


def full_rules(device: str, scope: str, stage_s: float) -> Rules:
    """Return the rules of one pair of processes in full mode."""
    return replace(
        rules_for(device, scope, stage_s),
        half_width=0.005,
        stage_s=stage_s,
        side_s=FULL_SIDE_S,
        looks=FULL_LOOKS,
        most_rounds=FULL_LOOKS[-1],
    )


def rules_for(device: str, scope: str, stage_s: float = 15.0) -> Rules:
    """Return the rules of a device: shared CPU machines need blocks of at least five calls."""
    if device == "cpu":
        return Rules(
            "latency", 0.03, stage_s=stage_s, least_calls=5, warm_agreement=0.05, warm_s=1.0
        )
    if scope == "device":
        return Rules(scope, 0.01, stage_s=min(stage_s, QUEUED_STAGE_S))
    return Rules(scope, stage_s=stage_s)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A timed call whose answer was taken for checking."""

    staged: Staged
    content: list[Tensor]
    fetched: Fetched


@dataclass(slots=True)
class Lane:
    """One model in one worker, and what its timed calls have shown."""

    station: Station
    slot: str
    deadline_s: float
    check_share: float = LARGE_SHARE
    """Share of the calls whose answers are fetched; drawn after the answer."""
    keep_samples: int = 0
    """Answers to keep for checking."""
    latencies_s: list[float] = field(default_factory=list[float])
    own_s: list[float] = field(default_factory=list[float])
    raw_s: list[float] = field(default_factory=list[float])
    fetches_s: list[float] = field(default_factory=list[float])
    device_s: list[float] = field(default_factory=list[float])
    batches: list[tuple[float, float, float]] = field(
        default_factory=list[tuple[float, float, float]]
    )
    """Of each batch the judge's, the worker's and the events' seconds."""
    samples: list[Sample] = field(default_factory=list[Sample])
    """Of all fetched answers, each with the same chance."""
    latest: Sample | None = None
    """The last one fetched: where laziness that begins late shows."""
    timed: int = 0
    queue_s: float = LONGEST_QUEUE_S
    """How long queueing one call may take the host; the same on both sides, so that their batches compare."""

    def call(self) -> float:
        """Make one call; return its latency in seconds, less the message's cost."""
        station = self.station
        staged, patch = station.reveal(station.next_set())
        called = station.call(self.slot, staged, patch, self.deadline_s)
        trip_s = station.round_trip.median_s
        latency = max(SMALLEST_S, 0.05 * trip_s, called.took_s - trip_s)
        self._note(called, latency)
        self._take_answer(called, staged)
        return latency

    def bulk(self) -> float:
        """Make one call whose whole input is new; return its seconds, the copy of the input among them."""
        staged, patch = self.station.replace(self.station.next_set())
        called = self.station.call(self.slot, staged, patch, self.deadline_s)
        self._take_answer(called, staged)
        return called.took_s

    def _note(self, called: Called, latency: float) -> None:
        self.timed += 1
        self.latencies_s.append(latency)
        self.raw_s.append(called.took_s)
        self.own_s.append(called.own_s)

    def _take_answer(self, called: Called, staged: Staged) -> None:
        station = self.station
        drawn = secret(station.generator) % 1000 < self.check_share * 1000
        flush = station.flush_bytes
        fetched = station.worker.fetch(called.number, want=drawn, flush=flush)
        if fetched is None:
            return
        self.fetches_s.append(fetched.took_s)
        self._sample(staged, fetched)

    def _sample(self, staged: Staged, fetched: Fetched) -> None:
        """Keep an answer with its input."""
        if self.keep_samples == 0:
            return
        self.latest = one = Sample(staged, staged.snapshot(), fetched)
        if len(self.samples) < self.keep_samples:
            self.samples.append(one)
            return
        place = secret(self.station.generator) % max(1, len(self.fetches_s))
        if place < self.keep_samples:
            self.samples[place] = one

    def batch(self, count: int) -> list[float]:
        """Queue that many calls on the GPU; return the seconds of each by events."""
        return self.queue(count).device_s

    def queue(self, count: int) -> Called:
        """Queue that many calls on the GPU; return what both clocks say of them, and keep it."""
        called = self._queued(count, self.station.reveal)
        self.device_s += called.device_s
        self.batches.append((called.took_s, called.own_s, sum(called.device_s)))
        return called

    def queued_anew(self) -> float:
        """Queue one call whose whole input is new; return its seconds by events: the copy is no part of them."""
        return self._queued(1, self.station.replace).device_s[0]

    def _queued(self, count: int, change: Callable[[Staged], tuple[Staged, Patch]]) -> Called:
        station = self.station
        most = min(count, len(station.sets), station.state.batch_limit)
        sets = [station.next_set() for _ in range(most)]
        drawn = [change(staged) for staged in sets]
        spin = int(SPIN_HZ * min(0.05, 5e-4 + len(drawn) * self.queue_s))
        called = station.worker.batch(
            self.deadline_s,
            [(staged.number, patch) for staged, patch in drawn],
            slot=self.slot,
            seed=secret(station.generator) % 2**31,
            spin_cycles=spin,
            flush=station.flush_bytes,
        )
        self.timed += len(drawn)
        for place, (staged, _) in enumerate(drawn):
            number = called.number * 1000 + place
            wanted = secret(station.generator) % 1000 < self.check_share * 1000
            fetched = station.worker.fetch(number, want=wanted)
            if fetched is not None:
                self._sample(staged, fetched)
        return called

    def block(self, calls: int, scope: str) -> float:
        """Return the median seconds of a block, after one call that does not count."""
        if scope == "device":
            return max(SMALLEST_S, median(self.batch(calls)))
        if calls > 1:
            self.call()
        return median([self.call() for _ in range(calls)])

    @quiet()
    def warm_up(self, rules: Rules) -> float:
        """Call until two block medians agree; return the latency of a call, in seconds.

        Of queued calls the events' medians have to agree: latencies on a GPU scatter by more, however warm it is.
        """
        self.call()
        latency = before = self.call()
        if rules.scope == "device":
            latency = self.block(QUICK_CALLS, "latency")
            before = self.block(QUICK_CALLS, rules.scope)
        began = monotonic()
        while True:
            calls = block_calls(before, rules)
            now = self.block(max(2, min(calls, 10)), rules.scope)
            agree = abs(now - before) <= rules.warm_agreement * max(now, before)
            if agree or monotonic() - began > rules.warm_s:
                return latency if rules.scope == "device" else now
            before = now

    def forget(self) -> None:
        """Drop what the calls so far have shown: they were not timed in earnest."""
        for values in (self.latencies_s, self.own_s, self.raw_s, self.fetches_s, self.device_s):
            values.clear()
        self.batches.clear()
        self.samples.clear()
        self.latest = None
        self.timed = 0


def block_calls(call_s: float, rules: Rules) -> int:
    """Return how many calls make a block of about 10 ms; one where a call is long."""
    if call_s > SINGLE_S:
        return 1
    return max(rules.least_calls, min(50, math.ceil(0.010 / max(call_s, SMALLEST_S))))


@dataclass(slots=True)
class Paired:
    """Rounds of block medians of two lanes, in seconds."""

    rounds: list[tuple[float, float, float, float]] = field(
        default_factory=list[tuple[float, float, float, float]]
    )
    """A1, B1, B2, A2 of each round."""
    calls_per_block: int = 1
    samples: list[GpuSample | None] = field(default_factory=list["GpuSample | None"])
    """The GPU's telemetry at the end of each round."""
    dropped: int = 0
    """Rounds left out because the GPU was not as usual."""
    restless: bool = False
    """Whether it was so in so many rounds that none was left out."""
    charged: bool = False
    """Whether B is charged its latency where A's time is the GPU's."""
    spent_s: dict[str, float] = field(default_factory=dict[str, float])
    """What measuring it and passing the gates took, by part."""

    @property
    def log_ratios(self) -> list[float]:
        """R of each round."""
        return [round_log_ratio(*row) for row in self.rounds]

    @property
    def estimate(self) -> Estimate:
        """log(A / B) with its error."""
        return estimate(self.log_ratios)

    @property
    def a_s(self) -> list[float]:
        """Block medians of A."""
        return [x for a1, _, _, a2 in self.rounds for x in (a1, a2)]

    @property
    def b_s(self) -> list[float]:
        """Block medians of B."""
        return [x for _, b1, b2, _ in self.rounds for x in (b1, b2)]


@dataclass(frozen=True, slots=True)
class Pooled:
    """Several pairs of fresh processes as one measurement: what they differ by is its error."""

    pairs: list[Paired]
    spread: float = 0.0
    """What a pair is off by itself, as qualification saw it; an error less than that is chance."""

    @property
    def estimate(self) -> Estimate:
        """log(A / B) with its error over the pairs."""
        means = estimate([pair.estimate.mean for pair in self.pairs])
        return replace(means, error=max(means.error, self.spread / math.sqrt(len(self.pairs))))

    @property
    def rounds(self) -> list[tuple[float, float, float, float]]:
        """All rounds."""
        return [row for pair in self.pairs for row in pair.rounds]

    @property
    def charged(self) -> bool:
        """Whether the candidate is charged its latency in any pair."""
        return any(pair.charged for pair in self.pairs)

    @property
    def samples(self) -> list[GpuSample | None]:
        """All telemetry."""
        return [one for pair in self.pairs for one in pair.samples]

    @property
    def dropped(self) -> int:
        """Rounds left out, of all pairs."""
        return sum(pair.dropped for pair in self.pairs)

    @property
    def b_s(self) -> list[float]:
        """Block medians of B."""
        return [x for pair in self.pairs for x in pair.b_s]


@quiet()
def paired(a: Lane, b: Lane, rules: Rules, *, warm: bool = True, charged: bool = False) -> Paired:
    """Time two lanes in turns, until the interval is narrow or the time is spent.

    `charged`: B is charged its latency, whatever A is timed by.
    """
    began = monotonic()
    call_s = max(a.warm_up(rules), b.warm_up(rules)) if warm else max(a.call(), b.call())
    calls = block_calls(call_s, rules) if rules.scope == "latency" else _batch_calls(a, b)
    looks = (3, *rules.looks) if call_s > SINGLE_S else rules.looks
    if rules.scope == "device":
        a.queue_s = b.queue_s = _queue_s(a, b)
        if not charged:
            _fetch_enough(a, b, 2 * looks[0] * calls)
    a.forget()
    b.forget()
    found = Paired(calls_per_block=calls, charged=charged)
    mine, theirs = (calls, rules.scope), (calls, rules.scope)
    if charged:
        theirs = (min(calls, MOST_CHARGED), "latency")
    while len(found.rounds) < rules.most_rounds:
        a1, b1 = a.block(*mine), b.block(*theirs)
        b2, a2 = b.block(*theirs), a.block(*mine)
        found.rounds.append((a1, b1, b2, a2))
        found.samples.append(telemetry.look(a.station.state.task.device))
        if len(found.rounds) in looks and found.estimate.half_width <= rules.half_width:
            break
        if len(found.rounds) >= looks[0] and _spent(found, rules, began):
            break
    return _kept(found)


LEAST_FETCHED = 4


def _fetch_enough(a: Lane, b: Lane, calls: int) -> None:
    """Have about as many large answers of these calls fetched as are kept, alike on both sides.

    Each call has the same chance. An answer of 64 MiB takes a tenth of a second to fetch, and those beyond the ones
    that are kept would be thrown away.
    """
    if min(a.check_share, b.check_share) == 1.0:
        return
    wanted = max(LEAST_FETCHED, a.keep_samples, b.keep_samples)
    a.check_share = b.check_share = min(LARGE_SHARE, wanted / calls)


def _kept(found: Paired) -> Paired:
    """Leave out the rounds in which the GPU was not as usual, where most of them were."""
    good = telemetry.steady(found.samples)
    bad = good.count(False)
    found.restless = bad > telemetry.MOST_DROPPED * len(good)
    if bad and not found.restless:
        found.rounds = [row for row, fine in zip(found.rounds, good, strict=True) if fine]
        found.dropped = bad
    return found


def _spent(found: Paired, rules: Rules, began: float) -> bool:
    a_s = sum(found.a_s) * found.calls_per_block
    b_s = sum(found.b_s) * found.calls_per_block
    return min(a_s, b_s) >= rules.side_s or monotonic() - began > 0.8 * rules.stage_s


def _queue_s(a: Lane, b: Lane) -> float:
    """Return how long the host may take to queue one call: what a call waited for takes, twice."""
    seen = [median(lane.latencies_s) for lane in (a, b) if lane.latencies_s]
    return min(LONGEST_QUEUE_S, 2 * max(seen, default=LONGEST_QUEUE_S) + 5e-5)


def _batch_calls(a: Lane, b: Lane) -> int:
    """Return how many queued calls take at least 2 ms on both sides."""
    fastest = min(median(a.batch(8)), median(b.batch(8)))
    return max(2, min(64, math.ceil(0.002 / max(fastest, SMALLEST_S))))
