"""One candidate through the stages: build, correctness, timing, confirm."""

from __future__ import annotations

from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING

from mcp_server.judge import memory, profiling, timing
from mcp_server.judge.attempt import SLOT, Attempt, Findings, fault_of_end
from mcp_server.judge.clock import Pooled
from mcp_server.judge.faults import Fault, WorkerEnded
from mcp_server.judge.floor import floors_of
from mcp_server.judge.oracle import secret
from mcp_server.judge.qualification import Qualification, qualify
from mcp_server.judge.state import TaskState
from mcp_server.judge.statistics import SPREAD_QUANTILE

if TYPE_CHECKING:
    from mcp_server.judge.budget import Budget
    from mcp_server.judge.held import Held, Keeper, Resident
    from mcp_server.judge.request import Request
    from mcp_server.judge.server import GivenWorker, Server

MOVED = 0.03
"""How far the original may be from its kept time before its worker is replaced."""
FULL_PAIRS = 3
"""Pairs of fresh processes in full mode."""
PROFILE_S = 120.0
"""How long a profile may take."""
ALONE_LASTS_S = 60.0
"""How long the original's time by itself is taken as known."""
VALUE_CODES = ("values", "precision", "outliers")


class Evaluation:
    """All stages of one request."""

    def __init__(self, server: Server, keeper: Keeper, held: Held, request: Request) -> None:
        self.server = server
        self.keeper = keeper
        self.held = held
        self.request = request
        self.findings = Findings()
        self.stage = "intake"
        self.spare: GivenWorker | None = None
        """The original's worker of the confirmation, until it is in use."""
        self.began = monotonic()

    def run(self) -> Findings:
        """Judge the candidate; the verdict says how far it came."""
        verdict = self.findings.verdict
        try:
            found = self._qualified()
            self._first(found)
            verdict |= {"status": "ok", "code": None, "cause": None}
        except Fault as fault:
            self._note(fault)
        finally:
            self._finish()
        return self.findings

    def _enter(self, stage: str, detail: str = "") -> None:
        self.server.check_cancelled()
        self.stage = stage
        self.findings.verdict["stage"] = stage
        self.server.stage(stage, detail)

    def _note(self, fault: Fault) -> None:
        fault = self._probed(self._excused(self._crowded_out(fault)))
        if fault.code == "worker_lost":
            self.keeper.release(self.held)
        self.findings.verdict |= {
            "status": fault.status,
            "code": fault.code,
            "cause": fault.cause,
            **fault.details,
        }

    def _crowded_out(self, fault: Fault) -> Fault:
        """Blame nobody for memory that others hold: those who measure the original here are asked to let go first."""
        if not memory.ran_out(fault) and fault.code != "out_of_memory":
            return fault
        self.keeper.release(self.held)
        return memory.crowded(MemoryError(fault.cause), self.request.place) or fault

    def _excused(self, fault: Fault) -> Fault:
        """Replace what Triton's interpreter gets wrong: bf16."""
        words = self.request.source + self.held.task.source
        if not self.request.interpreted or fault.code not in (
            *VALUE_CODES,
            "nonfinite",
            "stale_answer",
        ):
            return fault
        if "bfloat16" not in words:
            return fault
        cause = "Not checkable on CPU: Triton's interpreter computes bf16 wrongly. Use fp32 there."
        return Fault("infra_error", "not_checkable", cause)

    def _probed(self, fault: Fault) -> Fault:
        """Blame a candidate for a CUDA error only where the original still runs in a fresh process."""
        if fault.code != "cuda_error":
            return fault
        self.server.stage(self.stage, "is the device well?")
        try:
            probe = self.keeper.baseline(self.held, self.request.precision)
            self.server.drop(probe.given)
        except Fault:
            self.keeper.release(self.held)
            cause = "The device answers nobody any more: see `nvidia-smi`; the candidate may be the reason."
            return Fault("infra_error", "gpu_unhealthy", cause)
        return fault

    def _finish(self) -> None:
        verdict = self.findings.verdict
        status = verdict.get("status")
        reached = "calls_checked" in verdict
        if status == "ok" and self.request.wants("correctness"):  # a build alone shows nothing
            verdict["correct"] = True
        elif status == "wrong_result" or (reached and status == "rejected"):
            verdict["correct"] = False
        verdict["task_sha256"] = self.held.task.sha256
        if status == "compile_error":
            verdict["build_log"] = verdict.get("stderr_tail")
        verdict["wall_s"] = monotonic() - self.began

    def _qualified(self) -> Qualification:
        self._enter("qualify")
        began = monotonic()
        found = self.keeper.qualification(self.held, self.request)
        state = self.held.state
        for name in state.flags:
            self.findings.flag(name)
        self.findings.evidence["seed"] = state.seed_of_seeds
        self.findings.verdict |= {
            "policy_effective": found.budget.policy,
            "oracle": state.oracle.kind,
            "blind_to": found.blind_to,
            "output_shapes": [str(list(x.shape)) for x in state.like.leaves],
            "output_dtypes": [str(x.dtype).removeprefix("torch.") for x in state.like.leaves],
            "qualify_s": monotonic() - began,
        }
        if found.baselines:
            self.findings.verdict |= timing.baseline_fields(found)
        return found

    def _first(self, found: Qualification) -> Attempt:
        named = bool(self.held.state.reference.weights)
        self.findings.verdict["weights_mode"] = "by_name" if named else "none"
        try:
            attempt = self._attempt(found, self.held.state, found.budget, confirm=False)
        except Fault as fault:
            if not self._may_retry(fault):
                raise
            attempt = self._retried(found, fault)
        if self.request.mode == "full" and self.request.wants("timing"):
            self._full(found, attempt)
        elif self._needs_confirm():
            self._confirm(found, attempt)
        return attempt

    def _full(self, found: Qualification, first: Attempt) -> None:
        """Measure in several pairs of fresh processes: what they differ by is in the interval."""
        verdict = self.findings.verdict
        if "speedup_ratio" not in verdict:
            return
        quick, said = verdict["speedup_ratio"], verdict["outcome"]
        made: list[Attempt] = []
        for _ in range(FULL_PAIRS):
            self.spare = self.keeper.spare(self.held)
            try:
                made.append(self._attempt(found, first.state, first.budget, confirm=True))
            finally:
                self._drop_spare()
        made[-1].tell(Pooled([one.timed for one in made], found.pair_spread))
        verdict["quick_speedup_ratio"] = quick
        verdict["confirmed"] = verdict["outcome"] == said
        verdict["mode"] = "full"

    def _may_retry(self, fault: Fault) -> bool:
        """Whether the weights, not the arithmetic, may be why it failed."""
        if self.held.state.plain or not self.held.state.reference.weights:
            return False
        return fault.code in ("state_mismatch", *VALUE_CODES)

    def _retried(self, found: Qualification, fault: Fault) -> Attempt:
        """Try once more with weights that are the same however they are created."""
        self.server.stage("correctness", "noisy construction")
        try:
            state, budget = self._noisy()
        except Fault:
            raise fault from None
        kept = dict(self.findings.verdict)
        try:
            attempt = self._attempt(found, state, budget, confirm=False)
        except Fault:
            self.findings.verdict.clear()
            self.findings.verdict |= kept
            raise fault from None
        self.findings.verdict["weights_mode"] = "noisy_construction"
        self.findings.flag("weights_folded")
        return attempt

    def _noisy(self) -> tuple[TaskState, Budget]:
        """Return the task with weights keyed by shape, qualified too."""
        held = self.held
        if held.noisy is None or held.noisy_budget is None:
            with self.server.lease(shared=True):
                noise = secret(held.state.generator)
                held.noisy = TaskState(held.task, plain=False, noise=noise)
                held.noisy_budget = qualify(held.noisy, self.request.precision).budget
        return held.noisy, held.noisy_budget

    def _attempt(
        self, found: Qualification, state: TaskState, budget: Budget, *, confirm: bool
    ) -> Attempt:
        attempt = Attempt(
            self.server,
            self.keeper,
            self.held,
            found,
            self.request,
            self.findings,
            state=state,
            budget=budget,
        )
        attempt.thorough = confirm and self.request.mode == "full"
        try:
            self._stages(attempt, found, confirm=confirm)
        except WorkerEnded:
            raise fault_of_end(attempt.drop()) from None
        finally:
            attempt.drop()
        return attempt

    def _stages(self, attempt: Attempt, found: Qualification, *, confirm: bool) -> None:
        request = self.request
        self._enter("confirm" if confirm else "build")
        timed = request.wants("timing") and not request.interpreted
        attempt.take()  # now, so that it starts while the original's does
        resident = self._opponent(found, confirm=confirm) if timed else None
        try:
            attempt.build()
            if not (request.wants("correctness") or request.wants("timing")):
                return
            with self.server.lease(shared=True):
                self._checked(attempt, confirm=confirm)
            if resident is not None:
                with self.server.lease():
                    self._timed(attempt, resident, found, confirm=confirm)
            elif request.interpreted:
                self.findings.flag("interpreted")
            attempt.census()
        finally:
            if confirm and resident is not None:
                self.server.drop(resident.given)
                self.spare = None

    def _profile(self, attempt: Attempt, resident: Resident, found: Qualification) -> None:
        """Look at where the time goes, of the candidate and of the original."""
        self._enter("timing", "profiling")
        if attempt.given is None:  # it was ended, to see the original without it
            self.findings.flag("profile_failed")
            return
        try:
            eager = profiling.examine(resident.lane.station, resident.lane.slot, "", PROFILE_S)
            own = profiling.examine(attempt.station, SLOT, self.request.source, PROFILE_S)
        except (Fault, WorkerEnded):  # no part of the verdict, so it changes none
            self.findings.flag("profile_failed")
            self.keeper.release(self.held)
            return
        self.keeper.release(self.held)  # a profiler leaves its hooks in the process
        cost, facts = self.held.cost, self.keeper.facts
        self.findings.evidence["profile"] = {
            "candidate": own,
            "original": eager,
            "cost": asdict(cost),
            "floors": floors_of(cost, facts),
            "facts": facts.to_json(),
            "notes": found.notes,
        }

    def _checked(self, attempt: Attempt, *, confirm: bool) -> None:
        began = monotonic()
        if not confirm:
            self._enter("correctness")
        attempt.state.refresh()
        missing = attempt.construct()
        if missing:
            raise Fault(
                "runtime_error",
                "state_mismatch",
                f"ModelNew has no weight of that name and shape: {', '.join(missing[:5])}.",
            )
        attempt.check()
        self.findings.verdict["correctness_s"] = monotonic() - began

    def _timed(
        self, attempt: Attempt, resident: Resident, found: Qualification, *, confirm: bool
    ) -> None:
        began = monotonic()
        if not confirm:
            self._enter("timing")
        assert resident.alone is not None
        try:
            attempt.time(resident, resident.alone)
        finally:
            if self.request.wants("profile") and not confirm:
                self._profile(attempt, resident, found)
        self.findings.verdict["confirm_s" if confirm else "timing_s"] = monotonic() - began

    def _drop_spare(self) -> None:
        if self.spare is not None:
            self.server.drop(self.spare)
            self.spare = None

    def _opponent(self, found: Qualification, *, confirm: bool) -> Resident:
        """Return the original's worker, timed by itself before the candidate's code is run."""
        precision = self.request.precision
        if confirm:
            resident = self.keeper.baseline(self.held, precision, self.spare)
        else:
            resident = self.keeper.resident(self.held, precision)
        if resident.alone is None or monotonic() - resident.alone_at > ALONE_LASTS_S:
            with self.server.lease():
                resident.alone = timing.alone(resident.lane, found.scope, self.request.place)
            resident.alone_at = monotonic()
            if not confirm and self._moved(resident, found):
                return self._anew(resident, found)
        return resident

    def _moved(self, resident: Resident, found: Qualification) -> bool:
        """Return whether the original is no longer as fast as when its baselines were measured."""
        if self.request.place == "cpu" or not found.baselines or resident.alone is None:
            return False
        kept_s, now_s = found.eager.time_ms / 1e3, resident.alone.median_s
        limit = max(MOVED, 2 * found.noise_floor, SPREAD_QUANTILE * found.pair_spread)
        return abs(now_s / kept_s - 1) > limit

    def _anew(self, resident: Resident, found: Qualification) -> Resident:
        """Return another worker of the original; if it is off as well, a reader should know."""
        self.keeper.release(self.held)
        resident = self.keeper.resident(self.held, self.request.precision)
        with self.server.lease():
            resident.alone = timing.alone(resident.lane, found.scope, self.request.place)
        resident.alone_at = monotonic()
        if self._moved(resident, found):
            self.findings.flag("baseline_moved")
        return resident

    def _needs_confirm(self) -> bool:
        if not self.request.wants("confirm") or not self.request.wants("timing"):
            return False
        lo = self.findings.verdict.get("speedup_lo_ratio")
        if lo is None:
            return False
        return lo > (self.request.beat if self.request.beat is not None else 1.0)

    def _confirm(self, found: Qualification, first: Attempt) -> None:
        """Measure again in a fresh process pair: the second measurement is the one reported."""
        verdict = self.findings.verdict
        quick, said = verdict["speedup_ratio"], verdict["outcome"]
        # Asked for now, so that it starts while the candidate's worker does.
        self.spare = self.keeper.spare(self.held)
        try:
            self._attempt(found, first.state, first.budget, confirm=True)
        finally:
            self._drop_spare()
        verdict["quick_speedup_ratio"] = quick
        verdict["confirmed"] = verdict["outcome"] == said
        verdict["mode"] = "confirm"
