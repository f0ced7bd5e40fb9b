"""The evaluator's answers as plain data: verdicts, tool results, codes, limits.

```
AgentView ──┬── Verdict ──── EngineResult   what the engine and people see (column "all" of the contract)
            └── KernelResult                what an agent sees
Envelope ───┴── both results                state of the job, handles on what was built
```

Flat on purpose: one JSON object, `null` where a stage was not reached. Suffixes are units: `_s`, `_ms`, `_bytes`,
`_ratio` (plain numbers). No torch, no mcp, nothing else of this package is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTRACT_VERSION = 1

SOURCE_LIMIT = 200_000
"""Characters of one candidate's source."""
WAIT_LIMIT_S = 40
"""Longest a call waits before it answers with a job id."""
SESSION_META = "pike/session"
"""In the `_meta` of `evaluate_kernel`: the name of the search it is for. The searches of one caller take turns."""
SESSION_META_LIMIT = 64
"""Characters."""
HOSTS_URI = "kernel://hosts/all"
"""The resource that lists the machines of an executor as JSON: fields of `executor.HostFacts`."""
CROWDED = "neighbour_on_gpu"
"""The code of an evaluation that found a GPU's memory held by others."""
NO_HOST = "no_host"
"""The code of a job for which no machine was left that will do: its caller should ask again later."""
RESULT_LIMIT_BYTES = 8_000
"""Serialised size of each channel of an agent's result."""
AGENT_TAIL = 1_500
"""Characters of untrusted program output in an agent's view."""
ENGINE_TAIL = 10_000
"""Characters of untrusted program output in the engine's view."""


class Status(StrEnum):
    """What became of an attempt."""

    OK = "ok"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    WRONG_RESULT = "wrong_result"
    REJECTED = "rejected"
    INFRA_ERROR = "infra_error"
    TASK_UNFIT = "task_unfit"


CODES: Mapping[Status, frozenset[str]] = {
    Status.OK: frozenset(),
    Status.COMPILE_ERROR: frozenset(
        {"syntax", "no_model_new", "import_failed", "build_failed", "flag_refused"}
    ),
    Status.RUNTIME_ERROR: frozenset(
        {
            "construct_failed",
            "state_mismatch",
            "call_raised",
            "crashed",
            "cuda_error",
            "out_of_memory",
            "memory_limit",
            "output_limit",
        }
    ),
    Status.TIMEOUT: frozenset({"build", "construct", "first_call", "call", "stage"}),
    Status.WRONG_RESULT: frozenset(
        {
            "structure",
            "shape",
            "dtype",
            "device",
            "values",
            "precision",
            "outliers",
            "nonfinite",
            "integers",
            "unrepeatable",
        }
    ),
    Status.REJECTED: frozenset(
        {
            "ended_early",
            "protocol",
            "stale_answer",
            "late_output",
            "output_changed",
            "input_changed",
            "aliased_output",
            "deferred_tensor",
            "timed_answer_wrong",
            "clock_not_confirmed",
            "faster_than_hardware",
            "disturbs_baseline",
        }
    ),
    Status.INFRA_ERROR: frozenset(
        {
            "gpu_unhealthy",
            CROWDED,
            "unstable_clock",
            "sandbox_failed",
            "disk_full",
            "worker_lost",
            NO_HOST,
            "not_checkable",
        }
    ),
    Status.TASK_UNFIT: frozenset(
        {
            "not_kernelbench",
            "reference_fails",
            "stochastic",
            "weak_signal",
            "mutant_accepted",
            "too_large",
        }
    ),
}
"""The codes that may stand beside each status; `ok` has none."""

Stage = Literal["intake", "build", "qualify", "correctness", "timing", "confirm", "report"]
Mode = Literal["quick", "full", "confirm"]
Precision = Literal["fp32", "tf32", "half"]
PrecisionClass = Literal["fp32", "tf32_fp16", "bf16", "coarser"]
Tolerance = Literal["budget", "paper"]
Scope = Literal["latency", "device"]
Decision = Literal["faster", "slower", "indistinguishable"]
SandboxLevel = Literal["bwrap", "landlock", "process"]
JobState = Literal["queued", "running", "done", "cancelled", "expired"]


class AgentView(BaseModel):
    """The fields of a verdict that any agent may see (column A)."""

    model_config = ConfigDict(extra="ignore")

    job_id: str | None = None
    evidence_id: str | None = None
    attempt_id: str | None = None
    """The caller's own name for the attempt, echoed."""
    task: str | None = None
    device: str | None = None
    device_name: str | None = None
    status: Status | None = None
    code: str | None = None
    stage: Stage | None = None
    """The last stage reached."""
    cause: str | None = None
    """One sentence; never a seed, an element's position or a threshold."""
    flags: list[str] = Field(default_factory=list[str])
    sandbox_missing: list[str] = Field(default_factory=list[str])
    mode: Mode | None = None
    sandbox_level: SandboxLevel | None = None
    build_s: float | None = None
    build_cached: bool | None = None
    registers_max: int | None = None
    spill_bytes: int | None = None
    build_log: str | None = None
    """Last characters of the compiler's output; untrusted."""
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    correct: bool | None = None
    tolerance: Tolerance | None = None
    precision_policy: Precision | None = None
    policy_effective: Precision | None = None
    precision_class: PrecisionClass | None = None
    weights_mode: Literal["by_name", "noisy_construction", "none"] | None = None
    oracle: Literal["fp64", "fp32"] | None = None
    error_over_budget_ratio: float | None = None
    """The worst output's error over what it may be; two digits."""
    max_abs_diff: list[float] | None = None
    """One entry per output, in pytree order, as the three lists below."""
    output_shapes: list[str] | None = None
    output_dtypes: list[str] | None = None
    worst_output: str | None = None
    """Path in the output's pytree."""
    worst_got: float | None = None
    worst_want: float | None = None
    scope: Scope | None = None
    runtime_ms: float | None = None
    """Median in the headline scope, in milliseconds."""
    p95_ms: float | None = None
    latency_ms: float | None = None
    device_ms: float | None = None
    first_call_ms: float | None = None
    prepare_ms: float | None = None
    timer_confirmed: bool | None = None
    launch_bound: bool | None = None
    batched: bool | None = None
    confirmed: bool | None = None
    """Measured again in a fresh process pair, with the same outcome."""
    baseline: str | None = None
    """The strongest baseline of the candidate's precision class or a finer one."""
    baseline_ms: float | None = None
    eager_ms: float | None = None
    compile_ms: float | None = None
    tf32_ms: float | None = None
    half_ms: float | None = None
    """The fastest half-precision baseline that stays within the task's budget."""
    max_autotune_ms: float | None = None
    graphed_ms: float | None = None
    """The original as one CUDA graph, inputs and answers copied."""
    tensorrt_ms: float | None = None
    baseline_names: list[str] | None = None
    """Every baseline measured, with its class and time in the two lists below."""
    baseline_classes: list[str] | None = None
    baseline_times_ms: list[float] | None = None
    speedup_ratio: float | None = None
    """Over `baseline`, with its interval in the two fields below."""
    speedup_lo_ratio: float | None = None
    speedup_hi_ratio: float | None = None
    speedup_eager_ratio: float | None = None
    speedup_eager_lo_ratio: float | None = None
    speedup_eager_hi_ratio: float | None = None
    outcome: Decision | None = None
    outcome_eager: Decision | None = None
    noise_floor_ratio: float | None = None
    quick_speedup_ratio: float | None = None
    paper_speedup_ratio: float | None = None
    """Mean eager latency over mean candidate latency, as in the paper; null on failure, never clamped here."""
    floor_ms: float | None = None
    roofline_ratio: float | None = None
    bound: Literal["launch", "memory", "compute", "unknown"] | None = None
    own_share_ratio: float | None = None
    library_share_ratio: float | None = None
    framework_share_ratio: float | None = None
    summary: list[str] = Field(default_factory=list[str])
    """Of a profile: what holds the candidate back and what is left, a sentence each."""
    hottest: list[str] = Field(default_factory=list[str])
    """Of a profile: the costliest kernels, share, time and calls of one call; names are untrusted."""
    profiler: str | None = None
    idle_share_ratio: float | None = None
    """Of a profile: how much of a call the GPU waits."""
    launches_per_call: float | None = None
    do_bench_ms: float | None = None
    """Of a profile: what triton.testing.do_bench says in the worker; the next is eager's."""
    eager_do_bench_ms: float | None = None
    peak_memory_bytes: int | None = None
    baseline_peak_memory_bytes: int | None = None


class Verdict(AgentView):
    """The evaluator's answer to one attempt, whole: for the engine, the evidence and people."""

    contract_version: int = CONTRACT_VERSION
    task_sha256: str | None = None
    candidate_sha256: str | None = None
    artifact_sha256: str | None = None
    evaluator_sha256: str | None = None
    evidence_sha256: str | None = None
    """Of the raw evidence, which is kept under this name in the state folder."""
    device_uuid: str | None = None
    driver: str | None = None
    cuda: str | None = None
    torch: str | None = None
    calls_checked: int | None = None
    error_ratio: float | None = None
    """e of the worst output: RMS error over the output's own variation D."""
    budget_ratio: float | None = None
    """B of the worst output: the e it may have."""
    wrong_share_ratio: float | None = None
    iqr_ms: float | None = None
    warm_ms: float | None = None
    round_trip_ms: float | None = None
    clock_gap_ms: float | None = None
    """Judge's clock minus the worker's."""
    calls_timed: int | None = None
    pairs: int | None = None
    rounds: int | None = None
    rounds_dropped: int | None = None
    sm_clock_mhz: float | None = None
    clock_drift_ratio: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: bool | None = None
    """Whether heat, hardware or a power brake held the GPU back while it was timed."""
    blind_to: list[str] = Field(default_factory=list[str])
    """Mutants that this task cannot tell from the policy's own error."""
    qualify_s: float | None = None
    correctness_s: float | None = None
    timing_s: float | None = None
    confirm_s: float | None = None
    queue_s: float | None = None
    lease_s: float | None = None
    cpu_s: float | None = None
    wall_s: float | None = None


class Envelope(BaseModel):
    """What surrounds a result: the job's state, and handles on what was kept."""

    state: JobState = "done"
    ok: bool | None = None
    """True or false once decided; null while the job runs."""
    candidate_id: str | None = None
    build_log_id: str | None = None
    output_id: str | None = None
    advice: str | None = None
    """The next step worth taking, or a cheaper way to build."""


class KernelResult(Envelope, AgentView):
    """What an agent's tool returns: one model for every tool that can become a job."""

    session_id: str | None = None
    commit: str | None = None
    lineage: str | None = None
    is_best: bool | None = None
    attempts_left: int | None = None
    guidance: str | None = None


class EngineResult(Envelope, Verdict):
    """What `evaluate_kernel` returns: the whole verdict."""


class SessionsRefused(Exception):
    """The caller's mistake about a session, or a state it must wait out: one sentence that ends with the remedy."""


@dataclass(frozen=True, slots=True)
class SessionCaller:
    """Who asks about sessions."""

    name: str
    """`local` on stdio, else the client that owns the token."""
    everything: bool
    """Whether it may see sessions that others opened."""
    client: str = ""
    """What its program calls itself; it proves nothing."""


@dataclass(frozen=True, slots=True)
class SessionWish:
    """A session that an agent wants to drive."""

    task_id: str
    title: str = ""
    attempts: int = 50
    hours: float = 4.0
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One attempt that an agent hands in."""

    session_id: str
    source: str
    idea: str
    parent_id: str = ""
    """Empty: the caller's last attempt that was judged."""
    model: str = ""
    """As claimed."""


class SessionGateway(Protocol):
    """What external agents may do to sessions; `sessions` implements it, `pike mcp` hands it over.

    Answers are plain JSON; every method raises `SessionsRefused`.
    """

    async def sessions(self, caller: SessionCaller) -> list[dict[str, Any]]:
        """Return a row for each session that the caller may see, as session lists show them."""
        ...

    async def session(self, caller: SessionCaller, session_id: str) -> dict[str, Any]:
        """Return a session: its state, what is left, its best, a line per attempt, a person's guidance."""
        ...

    async def attempt(
        self, caller: SessionCaller, session_id: str, attempt_id: str
    ) -> dict[str, Any]:
        """Return an attempt: what `submitted` returns, and its `source`."""
        ...

    async def open(self, caller: SessionCaller, wish: SessionWish) -> dict[str, Any]:
        """Open a session that the caller drives; return `session_id` and how a person watches it."""
        ...

    async def submit(self, caller: SessionCaller, handed: HandedIn) -> str:
        """Hand an attempt in; return its job's id, the same for the same source on the same parent."""
        ...

    async def submitted(self, caller: SessionCaller, job_id: str) -> dict[str, Any]:
        """Return how an attempt stands: `state`, and once it is done its `verdict`, commit and place."""
        ...

    async def prompts(
        self, caller: SessionCaller, session_id: str, number: int, lease_s: float
    ) -> list[dict[str, Any]]:
        """Return up to `number` prompts that nobody else works on, each leased to the caller."""
        ...

    async def reply(
        self, caller: SessionCaller, prompt_id: str, text: str, model: str
    ) -> dict[str, Any]:
        """Take the answer to a leased prompt, once; return what is left."""
        ...


def is_ok(verdict: Verdict | AgentView) -> bool:
    """Return whether the attempt was built, right and timed."""
    return verdict.status is Status.OK


def agent_view(verdict: Verdict) -> dict[str, object]:
    """Return the fields of a verdict that an agent may see, without nulls and empty lists."""
    data = verdict.model_dump(mode="json", exclude_none=True)
    return {k: v for k, v in data.items() if k in AgentView.model_fields and v != []}
