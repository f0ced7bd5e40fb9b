"""Session folders with a made-up search in them, recorded through the real journal: for tests, pictures, benchmarks.

Not a fixture of one test: `build(folder, attempts=30)` writes about thirty attempts of every kind (right, wrong,
suspect, rejected, broken, timed out, unavailable), with fixes, lineages, steers and a live row.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.fold import fold
from sessions.journal import Journal, key_of
from sessions.summary import summarise

if TYPE_CHECKING:
    from pathlib import Path

START = 1_764_500_000.0
"""When the made-up search began; tests freeze the clock a little after its last fact."""

ORIGINAL = '''"""A row-wise softmax with scale and mask."""

import torch
from torch import nn


class Model(nn.Module):
    """Softmax over the last dimension of a scaled, masked score."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores = x * self.scale
        scores = scores.masked_fill(mask, float("-inf"))
        return torch.softmax(scores, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    x = torch.randn(2048, 4096)
    return [x, torch.rand(2048, 4096) > 0.9]


def get_init_inputs() -> list[float]:
    return [0.125]
'''

_KERNEL = '''# change: {change}
import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <cuda_runtime.h>
#include <torch/extension.h>

__global__ void softmax_rows(const float* x, const bool* mask, float* out, int n, float scale) {{
    __shared__ float partial[{threads}];
    const float* row = x + blockIdx.x * n;
    float top = -INFINITY;
    #pragma unroll {unroll}
    for (int i = threadIdx.x; i < n; i += {threads}) {{
        float v = mask[blockIdx.x * n + i] ? -INFINITY : row[i] * scale;
        top = fmaxf(top, v);
    }}
    partial[threadIdx.x] = top;
    __syncthreads();
    for (int s = {half}; s > 0; s >>= 1) {{
        if (threadIdx.x < s) partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + s]);
        __syncthreads();
    }}
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += {threads}) sum += __expf(row[i] * scale - partial[0]);
    out[blockIdx.x * n + threadIdx.x] = sum;  // {note}
}}
"""


class ModelNew(nn.Module):
    """The same softmax, one kernel a row."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.rows = load_inline("softmax_rows", "", CUDA, functions=["softmax_rows"])

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        self.rows.softmax_rows(x, mask, out, x.shape[-1], self.scale)
        return out
'''

CHANGES = (
    "one block a row, the maximum kept in shared memory",
    "warp shuffles instead of a shared-memory tree",
    "vectorised loads, four floats at a time",
    "online softmax: one pass over the row instead of two",
    "256 threads a block, two rows in flight",
    "fp16 accumulators with an fp32 final sum",
    "persistent blocks, a row queue per SM",
)

HOSTILE = (
    "a [/foo] b [bold]x[/] [@click=app.quit]y[/]",
    "\x1b]52;c;aGVsbG8=\x07 and \x1b[31mred\x1b[0m",
    "if access\u202e \u2066# nobody\u2069 \u2066is_admin\u202c:",
    "nul \x00 bell \x07 c1 \x9b31m del \x7f",
)
"""Texts that would break or deceive a terminal program that trusts them."""

PTXAS = "ptxas error   : Entry function 'softmax_rows' uses too much shared data (0x10800 bytes, 0xc000 max)"

_FAILURES: tuple[tuple[str, str, str, str], ...] = (
    ("error", "compile_error", "build_failed", "ptxas: too much shared data (66 KB > 48 KB)"),
    ("wrong", "wrong_result", "values", "output 0 differs: 3.1 times the error it may have"),
    ("error", "runtime_error", "cuda_error", "an illegal memory access was encountered"),
    ("timeout", "timeout", "first_call", "the first call took longer than 60 s"),
    ("rejected", "rejected", "stale_answer", "the answer did not follow the inputs"),
    ("unavailable", "infra_error", "worker_lost", "the worker died before its first call"),
)


def kernel(change: str, threads: int, unroll: int, note: str = "row sum") -> str:
    """Return the source of a made-up candidate."""
    return _KERNEL.format(
        change=change, threads=threads, unroll=unroll, half=threads // 2, note=note
    )


@dataclass
class Script:
    """The facts of a made-up search, in order, and the texts they name."""

    seed: int = 7
    at: float = START
    steps: list[tuple[float, list[f.Body], list[str]]] = field(
        default_factory=list[tuple[float, list[f.Body], list[str]]]
    )
    queries: int = 0
    sources: dict[str, str] = field(default_factory=dict[str, str])
    lineage_of: dict[str, str] = field(default_factory=dict[str, str])
    right: list[str] = field(default_factory=list[str])
    speed: dict[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def add(self, bodies: list[f.Body], texts: list[str] | None = None, after: float = 1.0) -> None:
        """Record facts `after` seconds later."""
        self.at += after
        self.steps.append((self.at, bodies, texts or []))


def opened(session: str = "gpt-block", queries: int = 300) -> f.Opened:
    """Return the first fact of a session."""
    return f.Opened(
        session=session,
        task="starter/softmax",
        task_sha256="5" * 64,
        source_key=key_of(ORIGINAL),
        strategy="pike-b",
        strategy_version=1,
        settings={"width": 5, "fixes": 5, "queries": queries, "places": 4},
        seed=7,
        models={"ideas": "strong", "improve": "strong", "fix": "cheap"},
        limits={"queries": queries, "cost_usd": 10.0, "hours": 12.0},
        device="cuda:0",
        precision="fp32",
        tolerance="budget",
        sandbox="bwrap",
        python="",
        places=4,
        template_hash="t" * 16,
        product_version="0.1.0",
    )


def baseline() -> f.Baseline:
    """Return the measurement of the original."""
    return f.Baseline(
        verdict={"status": "ok", "runtime_ms": 2.05},
        device="cuda:0",
        device_name="NVIDIA H200",
        scope="device",
        eager_ms=2.05,
        names=["eager", "compile", "tf32 + compile", "bf16 + compile"],
        classes=["fp32", "fp32", "tf32_fp16", "bf16"],
        times_ms=[2.05, 0.31, 0.28, 0.244],
    )


def verdict_of(speedup: float, precision_class: str, **more: Any) -> dict[str, Any]:
    """Return the verdict of a candidate that works."""
    base = {"fp32": 0.31, "tf32_fp16": 0.28, "bf16": 0.244}[precision_class]
    names = {"fp32": "compile", "tf32_fp16": "tf32 + compile", "bf16": "bf16 + compile"}
    runtime = base / speedup
    verdict: dict[str, Any] = {
        "status": "ok",
        "correct": True,
        "stage": "report",
        "mode": "full",
        "sandbox_level": "bwrap",
        "device_name": "NVIDIA H200",
        "precision_class": precision_class,
        "precision_policy": "fp32",
        "tolerance": "budget",
        "error_over_budget_ratio": 0.21,
        "build_s": 13.2,
        "runtime_ms": runtime,
        "p95_ms": runtime * 1.02,
        "baseline": names[precision_class],
        "baseline_ms": base,
        "eager_ms": 2.05,
        "speedup_ratio": speedup,
        "speedup_lo_ratio": speedup - 0.02,
        "speedup_hi_ratio": speedup + 0.02,
        "speedup_eager_ratio": 2.05 / runtime,
        "speedup_eager_lo_ratio": 2.03 / runtime,
        "speedup_eager_hi_ratio": 2.07 / runtime,
        "outcome": "faster"
        if speedup > 1.02
        else "slower"
        if speedup < 0.98
        else "indistinguishable",
        "outcome_eager": "faster",
        "noise_floor_ratio": 0.004,
        "confirmed": True,
        "flags": [],
        "pairs": 24,
        "rounds": 6,
        "torch": "2.13.0",
        "cuda": "13.0",
        "driver": "580.65",
    }
    return verdict | more


def failure(kind: str, status: str, code: str, cause: str) -> tuple[str, dict[str, Any]]:
    """Return the kind and the verdict of a candidate that does not work."""
    log = f"{PTXAS}\n{HOSTILE[0]}\nninja: build stopped: subcommand failed.\n"
    verdict: dict[str, Any] = {
        "status": status,
        "code": code,
        "cause": cause,
        "stage": "build" if status == "compile_error" else "correctness",
        "sandbox_level": "bwrap",
        "device_name": "NVIDIA H200",
        "build_s": 13.2,
        "build_log": log,
        "stderr_tail": f"Traceback (most recent call last):\n  {HOSTILE[1]}\nRuntimeError: {cause}\n",
        "flags": [],
    }
    return kind, verdict


def _proposal(script: Script, number: int, role: str, parent: str) -> str:
    proposal = f"p{number}"
    script.add(
        [
            f.Proposed(
                [
                    {
                        "id": proposal,
                        "role": role,
                        "parent": parent,
                        "inspirations": [],
                        "idea": "use tensor cores for the row sum" if role == "start" else None,
                        "meta": {"phase": 1 + number // 12},
                    }
                ],
                {"phase": 1},
            )
        ]
    )
    return proposal


def _query(
    script: Script, proposal: str, step: int, agent: str, reply: str, steers: list[str]
) -> str:
    script.queries += 1
    query = f"q{script.queries}"
    role = (
        "fix-error"
        if agent.startswith("EFA")
        else "ideas"
        if agent.startswith("IBA")
        else "improve"
    )
    prompt = f"# Task\nMake the model faster.\n\nquery {query}, step {step}\n\n```python\n{ORIGINAL}```\n"
    script.add(
        [
            f.QuerySent(
                query, proposal, step, role, agent, "strong", key_of(prompt), 0, 0.05, steers
            ),
        ],
        [prompt],
    )
    cost = round(0.01 + script.random.random() * 0.03, 4)
    script.add(
        [f.QueryDone(query, key_of(reply), "stop", 4200, 1000, 1800, cost, 21.5)], [reply], after=20
    )
    return query


def _attempt(
    script: Script,
    proposal: str,
    step: int,
    parent: str,
    agent: str,
    source: str,
    steers: list[str],
) -> str:
    change = source.split("\n", 1)[0].removeprefix("# change: ")
    query = _query(
        script, proposal, step, agent, f"Here it is.\n\n```python\n{source}```\n", steers
    )
    candidate = f"c{query[1:]}"
    lineage = script.lineage_of.get(parent) or f"{len(set(script.lineage_of.values())) + 1:03}"
    script.sources[candidate] = source
    script.lineage_of[candidate] = lineage
    script.add(
        [
            f.AttemptMade(
                candidate,
                parent,
                proposal,
                step,
                lineage,
                key_of(source),
                query,
                agent.split("-")[0],
                change,
            ),
            f.EvaluationSent(candidate, agent, "evaluate_kernel", "local", f"job-{candidate}", 1),
        ],
        [source],
    )
    return candidate


def _judge(script: Script, candidate: str, agent: str, kind: str, verdict: dict[str, Any]) -> None:
    built = verdict.get("code") != "build_failed"
    tools: list[f.Body] = [f.ToolCalled(candidate, agent, "compile_kernel", built, 13.2)]
    if built:
        tools.append(f.ToolCalled(candidate, agent, "check_kernel", kind == "correct", 2.1))
    if kind == "correct":
        tools.append(f.ToolCalled(candidate, agent, "benchmark_kernel", ok=True, seconds=8.4))
    script.add(
        [*tools, f.VerdictReached(candidate, kind, verdict.get("runtime_ms"), verdict)], after=24
    )
    lineage = script.lineage_of[candidate]
    script.add([f.Committed(candidate, key_of(candidate)[:40], f"lineage/{lineage}")], after=0.1)


def _right(script: Script, number: int, parent: str) -> dict[str, Any]:
    if number % 17 == 11:
        return verdict_of(9.8, "bf16", flags=["extraordinary"], confirmed=False)
    klass = ("fp32", "tf32_fp16", "bf16")[number % 3]
    ceiling = 0.7 + 0.75 * (1 - 1 / (1 + number / 9))
    speedup = round(
        max(
            0.85,
            script.speed.get(parent, 0.95) * 0.4
            + ceiling * 0.62
            + script.random.uniform(-0.12, 0.05),
        ),
        3,
    )
    return verdict_of(speedup, klass, confirmed=number % 4 != 1)


def _trajectory(script: Script, number: int, steers: list[str]) -> None:
    role = "start" if number < 7 else "improve"
    parent = "c0" if role == "start" else script.random.choice(script.right[-8:] or ["c0"])
    proposal = _proposal(script, number, role, parent)
    place = 1 + number % 4
    lineage = script.lineage_of.get(parent, "")
    script.add([f.Started(proposal, lineage)])
    change = CHANGES[number % len(CHANGES)]
    source = kernel(change, 128 << (number % 3), 1 + number % 4, f"row sum {number}")
    candidate = _attempt(script, proposal, 0, parent, f"COA-{place}", source, steers)
    if number % 2 == 0:
        kind, verdict = failure(*_FAILURES[(number // 2) % len(_FAILURES)])
        _judge(script, candidate, f"COA-{place}", kind, verdict)
        if number % 4 == 2:
            script.add([f.Closed(proposal, "gave_up")])
            return
        fixed = kernel(f"half the shared memory of {candidate}", 64, 2, f"fixed {number}")
        agent = f"EFA-{place}"
        candidate = _attempt(script, proposal, 1, candidate, agent, fixed, steers)
    else:
        agent = f"COA-{place}"
    verdict = _right(script, number, parent)
    _judge(script, candidate, agent, "correct", verdict)
    if "extraordinary" not in verdict["flags"]:
        script.right.append(candidate)
        script.speed[candidate] = float(verdict["speedup_ratio"])
    script.add([f.Closed(proposal, "works", candidate)])


def _ideas(script: Script) -> None:
    proposal = _proposal(script, 1, "ideas", "c0")
    script.add([f.Started(proposal, "")])
    _query(
        script, proposal, 0, "IBA-1", "1. shared memory\n2. warp shuffles\n3. online softmax", []
    )
    script.add(
        [f.Closed(proposal, "works", "", ["shared memory", "warp shuffles", "online softmax"])]
    )


def _steers(script: Script, *, hostile: bool) -> None:
    guide = {"text": "keep the attention in fp16", "scope": "session", "last": None}
    text = f"no atomics {HOSTILE[0]}" if hostile else "no atomics"
    waiting = {"text": text, "scope": "lineage:003", "last": 10}
    script.add(
        [
            f.Steered("s1", 901, "guide", guide, "ann", applied=True),
            f.Steered(
                "s2",
                902,
                "pin",
                {"candidate": "c4"},
                "ann",
                applied=False,
                why="c4 is not correct, so it cannot be pinned",
            ),
        ]
    )
    script.add([f.Steered("s3", 903, "guide", waiting, "ann", applied=True)])


def _hostile(script: Script, number: int) -> None:
    """Record an attempt whose every foreign text is an attack."""
    proposal = _proposal(script, number, "improve", "c0")
    script.add([f.Started(proposal, "001")])
    text = " ".join(HOSTILE)
    source = (
        f"# change: {text}\n" + "\n".join(HOSTILE) + "\n" + kernel("x", 64, 1) + "#" + "w" * 3000
    )
    candidate = _attempt(script, proposal, 0, "c0", f"COA-1 {HOSTILE[0]}", source, ["s1"])
    _, verdict = failure("error", "runtime_error", "call_raised", text)
    verdict["stdout_tail"] = text
    _judge(script, candidate, "COA-1", "error", verdict)
    script.add([f.Closed(proposal, "gave_up")])


def script(attempts: int = 30, *, hostile: bool = True, session: str = "gpt-block") -> Script:
    """Return a made-up search of about so many attempts, still running."""
    made = Script()
    made.add([opened(session, max(300, attempts * 2))], [ORIGINAL])
    made.add([baseline()], after=30)
    _ideas(made)
    number = 2
    while len(made.sources) < attempts - 3:
        _trajectory(made, number, ["s1"] if number > 12 else [])
        if number == 12:
            _steers(made, hostile=hostile)
        if number == 14 and hostile:
            number += 1
            _hostile(made, number)
        number += 1
    _unfinished(made, number)
    return made


def _unfinished(made: Script, number: int) -> None:
    """Leave one evaluation and two queries in flight."""
    parent = made.right[-1]
    lost = _proposal(made, number, "improve", parent)
    made.add([f.Started(lost, made.lineage_of[parent])])
    source = kernel("tensor-core dot instead of a scalar sum", 256, 4)
    _attempt(made, lost, 0, parent, "COA-2", source, ["s1"])
    for offset, agent in ((1, "COA-1"), (2, "EFA-3")):
        proposal = _proposal(made, number + offset, "improve", made.right[-offset - 1])
        made.add([f.Started(proposal, "002")])
        made.queries += 1
        query = f"q{made.queries}"
        made.add(
            [
                f.QuerySent(
                    query, proposal, 0, "improve", agent, "strong", key_of(source), 0, 0.05, ["s1"]
                )
            ]
        )


def live_row(made: Script) -> dict[str, Any]:
    """Return what the engine would show as going on now."""
    running = f"c{made.queries - 2}"
    now = made.at
    return {
        "agents": [
            {
                "name": "COA-1",
                "doing": "writing",
                "target": f"p{made.queries}",
                "since": now - 14,
                "note": "",
            },
            {
                "name": "COA-2",
                "doing": "evaluating",
                "target": running,
                "since": now - 12,
                "note": "",
            },
            {"name": "EFA-3", "doing": "fixing", "target": "c30", "since": now - 3, "note": "2/5"},
        ],
        "evaluations": [
            {
                "candidate": running,
                "stage": "timing",
                "detail": "round 6",
                "since": now - 12,
                "agent": "COA-2",
            }
        ],
        "waiting": 3,
        "gpu": {
            "name": "NVIDIA H200",
            "util": 87,
            "temp": 61,
            "mem_used": 41e9,
            "mem_total": 141e9,
        },
        "stream": {"agent": "COA-1", "text": "The row sum is bound by shared memory, so"},
        "waits_for": "",
        "heartbeat": now,
    }


def build(
    folder: Path,
    attempts: int = 30,
    *,
    hostile: bool = True,
    end: tuple[f.Body, ...] = (),
    session: str | None = None,
) -> Script:
    """Write a session folder and return its script; `end` adds last facts, such as `Finished`."""
    name = session or folder.name
    made = script(attempts, hostile=hostile, session=name)
    if end:
        made.add(list(end))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "engine.log").write_text(
        f"INFO engine: started\nWARNING engine: {HOSTILE[1]}\n", encoding="utf-8"
    )
    asyncio.run(write(folder / "journal.db", made))
    return made


async def write(path: Path, made: Script) -> None:
    """Record a script, with its live row and its summary."""
    journal = await Journal.open(path, wal=True)
    try:
        for at, bodies, texts in made.steps:
            await journal.record(at, bodies, texts=texts)
        await journal.live(made.at, live_row(made))
        await journal.summarise(summarise(fold(await journal.facts())))
        await journal.checkpoint()
    finally:
        await journal.close()


async def append(
    path: Path, at: float, bodies: list[f.Body], texts: list[str] | None = None
) -> None:
    """Record more facts, as a running engine would."""
    journal = await Journal.open(path, wal=True)
    try:
        await journal.record(at, bodies, texts=texts or [])
    finally:
        await journal.close()
