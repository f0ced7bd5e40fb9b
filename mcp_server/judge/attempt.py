# pyright: reportUnknownVariableType=false
"""One worker that holds a candidate: built, made, checked, timed, ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from mcp_server.judge import floor, gates, hardware, timing
from mcp_server.judge.baselines import tf32_of
from mcp_server.judge.budget import class_of
from mcp_server.judge.clock import full_rules, rules_for
from mcp_server.judge.faults import Fault, WorkerEnded, rejected
from mcp_server.judge.held import Held, Keeper, Resident, call_deadline_s
from mcp_server.judge.oracle import secret
from mcp_server.judge.probes import Examination, Report
from mcp_server.judge.qualification import Qualification, bounds_of
from mcp_server.judge.station import Loading, Station
from mcp_server.judge.statistics import median, percentile
from mcp_server.judge.worker_link import Worker, worker_threads

if TYPE_CHECKING:
    from mcp_server.judge.budget import Budget
    from mcp_server.judge.clock import Lane, Paired, Pooled
    from mcp_server.judge.request import Request
    from mcp_server.judge.server import GivenWorker, Printed, Server
    from mcp_server.judge.state import TaskState

SLOT = "candidate"
TAIL = 10_000
_ENDED_BY = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_LIMITS = {
    "memory_limit": ("memory_limit", "The candidate used more memory than it may."),
    "output_limit": ("output_limit", "The candidate printed more than it may."),
    "disk_full": ("crashed", "The candidate filled its disk."),
}


_COMPETES = (
    "The candidate computes while nothing is asked of it, or in more threads than the original has."
)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a worker has used by a moment."""

    cpu_s: float | None
    """Processor seconds, seen from outside; None where nobody looked."""
    asked_s: float
    """How long requests were open."""
    at: float


@dataclass(slots=True)
class Findings:
    """The verdict as it grows, and the raw evidence beside it."""

    verdict: dict[str, Any] = field(default_factory=dict[str, Any])
    evidence: dict[str, Any] = field(default_factory=dict[str, Any])
    flags: list[str] = field(default_factory=list[str])

    def flag(self, name: str) -> None:
        """Add a flag once."""
        if name not in self.flags:
            self.flags.append(name)


class Attempt:
    """One worker that holds the candidate, from its start to its end."""

    def __init__(
        self,
        server: Server,
        keeper: Keeper,
        held: Held,
        found: Qualification,
        request: Request,
        findings: Findings,
        *,
        state: TaskState,
        budget: Budget,
    ) -> None:
        self.server = server
        self.keeper = keeper
        self.held = held
        self.found = found
        self.request = request
        self.findings = findings
        self.state = state
        self.budget = budget
        self.bounds = bounds_of(state, budget)
        self.given: GivenWorker | None = None
        self.precision_class = "fp32"
        self.thorough = False
        """Whether it is one of full mode's pairs."""

    # --- stages

    def take(self) -> None:
        """Ask for a worker, which may still be starting."""
        request = self.request
        self.given = self.server.worker(
            "candidate",
            request.sha256[:32],
            gpu=request.place != "cpu",
            interpret=request.interpreted,
        )
        self.findings.verdict.setdefault("sandbox_level", self.given.level)

    def build(self) -> None:
        """Stage the worker's inputs, then import the candidate without the lease."""
        request = self.request
        assert self.given is not None
        self.worker = Worker(self.given.socket, self.state.sizes, request.place)
        with self.server.lease(shared=True):
            self.station = Station(self.worker, self.state, measured=False)
        loading = Loading(
            request.source,
            "ModelNew",
            tf32=tf32_of(request.precision),
            interpret=request.interpreted,
            noise=self.state.reference.noise,
        )
        build_s = self.station.load(SLOT, loading, request.deadline_s("build"), self._built)
        self.findings.verdict["build_s"] = build_s

    def _built(self, folder: str) -> dict[str, Any]:
        if self.given is None:
            raise WorkerEnded
        return self.server.built(self.given, folder)

    def construct(self) -> list[str]:
        """Make the model; return the names of weights that it does not have."""
        deadline_s = self.request.deadline_s("construct")
        answer = self.station.construct(SLOT, deadline_s, self._built)
        prepare_s = answer.get("prepare_s")
        if isinstance(prepare_s, int | float):
            self.findings.verdict["prepare_ms"] = prepare_s * 1e3
        missing = answer.get("missing")
        if not isinstance(missing, list):
            raise rejected("protocol", "The worker's answer is not one of the protocol.")
        names: list[object] = missing
        return [str(name)[:200] for name in names]

    def check(self) -> Report:
        """Call it with secret changes and compare."""
        few = self.request.interpreted
        calls = 6 if few else 6 + secret(self.state.generator) % 5
        later_s = call_deadline_s(self.state.forward_s) * (12 if few else 1)
        deadlines = (self.request.deadline_s("first_call"), later_s)
        runs = self.budget.runs
        if self.state.plain:
            calls = 4
        self.examination = Examination(self.station, SLOT, self.bounds, runs)
        try:
            report = self.examination.run(calls, deadlines)
        finally:
            self._note_report(self.examination.report)
        return report

    def _note_report(self, report: Report) -> None:
        verdict = self.findings.verdict
        verdict["calls_checked"] = verdict.get("calls_checked", 0) + report.calls
        verdict["first_call_ms"] = report.first_call_s * 1e3 if report.calls else None
        verdict["max_abs_diff"] = report.max_abs or None
        if not report.seen:
            return
        worst = max(report.seen, key=lambda one: (one.code is not None, one.over_budget))
        largest = max(one.error_ratio for one in report.seen)
        verdict["error_ratio"] = worst.error_ratio
        verdict["budget_ratio"] = None if self.state.plain else worst.budget_ratio
        if not self.state.plain:
            verdict["error_over_budget_ratio"] = float(f"{worst.over_budget:.2g}")
        verdict["wrong_share_ratio"] = worst.wrong_share
        verdict["worst_output"] = worst.path
        if self.state.plain:
            verdict["worst_got"], verdict["worst_want"] = worst.got, worst.want
        self.precision_class = class_of(largest, self.budget.runs)
        verdict["precision_class"] = self.precision_class
        if largest > 0.1 and not self.state.plain:
            self.findings.flag("coarse")

    def time(self, resident: Resident, before: timing.Alone) -> Paired:
        """Time it against the original and pass the gates."""
        eager = resident.lane
        deadline_s = call_deadline_s(self.state.forward_s)
        # What a message costs is asked of the original's worker, where no candidate can have a say in it.
        self.station.round_trip = eager.station.measure_round_trip()
        lane = timing.candidate_lane(self.station, SLOT, eager, deadline_s)
        chosen = full_rules if self.thorough else rules_for
        rules = chosen(self.request.place, self.found.scope, self.request.deadline_s("timing"))
        self.before = self._usage()
        timed = timing.time_candidate(eager, lane, self.found, self.bounds, rules)
        self.lane, self.eager, self.timed = lane, eager, timed
        self._refuse_competing()
        self._refuse_disturbing(eager, timed, before)
        self._refuse_impossible(timed)
        self.findings.evidence.setdefault("timings", []).append(_raw(timed, eager, lane))
        self.tell(timed)
        if timed.restless:
            self.findings.flag("clock_moved")
        if timed.charged:
            self.findings.flag("charged_latency")
        return timed

    def tell(self, timed: Paired | Pooled) -> None:
        """Write what was timed into the verdict."""
        verdict = timing.fields(timed, self.eager, self.lane, self.found, self.precision_class)
        least = floor.floor_of(self.held.cost, self.keeper.facts, self.precision_class)
        verdict |= floor.fields(least, verdict["runtime_ms"], launch_bound=verdict["launch_bound"])
        self.findings.verdict |= verdict
        if verdict["roofline_ratio"] > 1.1 and self.request.place != "cpu":
            self.findings.flag("below_roofline")
        if verdict["speedup_ratio"] > timing.EXTRAORDINARY:
            self.findings.flag("extraordinary")

    def _refuse_disturbing(self, eager: Lane, timed: Paired, before: timing.Alone) -> None:
        margins = gates.margins_for(self.request.place)
        beside_s = percentile(timed.a_s, gates.ALWAYS)
        if beside_s - before.median_s <= margins.drift_ratio * before.median_s:
            return
        # On a CPU it has been refused already if it computed unasked; beside an idle one the original is alone.
        guilty = self.request.place != "cpu"
        if guilty:
            self.census()
            self.drop()
        after = timing.alone(eager, self.found.scope, self.request.place)
        noise_s = max(before.noise_s, after.noise_s, self.found.noise_floor * before.median_s)
        if not gates.disturbed(before.median_s, beside_s, after.median_s, noise_s, margins):
            return
        if guilty:
            raise rejected("disturbs_baseline", "The original was slower beside this candidate.")
        self.findings.flag("machine_busy")

    def _usage(self) -> Usage:
        """Return what the worker has used by now, as the server sees it; on a GPU nobody looks."""
        seen = None if self.request.place != "cpu" else self.given
        cpu_s = self.server.cpu_s(seen) if seen is not None else None
        return Usage(cpu_s, self.worker.asked_s, monotonic())

    def _refuse_competing(self) -> None:
        """Refuse what computes unasked while the original is timed, or on more cores than the original has.

        Only the timing counts: whoever slept while it was being imported has saved up nothing.
        """
        if self._competed(self._usage()):
            raise rejected("disturbs_baseline", _COMPETES)

    def _competed(self, now: Usage) -> bool:
        if now.cpu_s is None or self.before.cpu_s is None:
            return False
        asked_s, held_s = now.asked_s - self.before.asked_s, now.at - self.before.at
        return gates.competed(now.cpu_s - self.before.cpu_s, asked_s, held_s, worker_threads())

    def _refuse_impossible(self, timed: Paired) -> None:
        size = sum(x.numel() * x.element_size() for x in self.state.like.leaves)
        if median(timed.b_s) < size / hardware.write_limit(
            self.request.place, self.keeper.facts.bandwidth
        ):
            cause = "The time is shorter than writing the answer takes."
            raise rejected("faster_than_hardware", cause)

    def census(self) -> None:
        """Ask the worker what it has become, and flag what is not as it was."""
        if self.given is None:
            return
        try:
            answer = self.worker.request("END", 5)
        except (Fault, WorkerEnded):
            return
        seen = {
            "threads_changed": answer.get("torch_threads") != worker_threads(),
            "threads_alive": answer.get("threads") != 1,
            "children_alive": answer.get("children") != 0,
            "matmul_precision_set": answer.get("matmul_precision") != "highest",
            "cudnn_tuning_set": answer.get("tuning") is True,
            "tf32_allowed": answer.get("tf32") is True,
            "deterministic_set": answer.get("deterministic") is True,
            "default_dtype_changed": answer.get("dtype") != "float32",
        }
        for name in (name for name, is_so in seen.items() if is_so):
            self.findings.flag(name)
        peak = answer.get("peak_bytes")
        if isinstance(peak, int):
            self.findings.verdict["peak_memory_bytes"] = peak

    def drop(self) -> Printed | None:
        """End the worker; keep what it printed."""
        if self.given is None:
            return None
        given, self.given = self.given, None
        printed = self.server.drop(given)
        self.findings.verdict["stdout_tail"] = printed.stdout[-TAIL:] or None
        self.findings.verdict["stderr_tail"] = printed.stderr[-TAIL:] or None
        return printed


def fault_of_end(printed: Printed | None) -> Fault:
    """Return the verdict on a worker that ended by itself."""
    if printed is not None and printed.cause in _LIMITS:
        code, cause = _LIMITS[printed.cause]
        return Fault("runtime_error", code, cause)
    code = printed.exit if printed is not None else None
    number = -code if code is not None and code < 0 else (code or 0) - 128
    if number in _ENDED_BY:
        name = signal.Signals(number).name
        return Fault("runtime_error", "crashed", f"The candidate's process died of {name}.")
    return rejected("ended_early", "The candidate's process ended before it had answered.")


def _raw(timed: Paired, eager: Lane, lane: Lane) -> dict[str, Any]:
    return {
        "rounds_s": timed.rounds,
        "calls_per_block": timed.calls_per_block,
        "spent_s": timed.spent_s,
        "eager_latencies_s": eager.latencies_s[:2000],
        "candidate_latencies_s": lane.latencies_s[:2000],
        "candidate_own_s": lane.own_s[:2000],
        "candidate_device_s": lane.device_s[:2000],
        "fetches_s": lane.fetches_s[:500],
    }
