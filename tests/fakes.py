"""A world with known fates: a model and an evaluator behind the product's own interfaces.

Every answer's fate is drawn from (seed, proposal, step) and written into the candidate's source, where the scripted
evaluator reads it. So no schedule changes an outcome, and a whole search runs in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from sessions.errors import EvaluatorAbsent, EvaluatorLost, JobUnknown
from sessions.models.port import Finish, ModelFailed, ModelRefused, Reply, Usage
from sessions.models.tools import Call, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sessions.evaluator import Ask, OnStage
    from sessions.models.port import OnNote, OnText, Request
    from strategies.protocol import Prompt

TASK = "local/twice"
SOURCE = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.rand(4, 4)]


def get_init_inputs():
    return []
"""
FATES = ("ok", "ok", "ok", "compile_error", "wrong_result", "timeout", "rejected", "unusable")
EAGER_MS = 2.0


def fate_of(seed: int, proposal: str, step: int, fates: Sequence[str] = FATES) -> str:
    """Return what becomes of an answer."""
    return Random(f"fate/{seed}/{proposal}/{step}").choice(list(fates))


def speed_of(seed: int, proposal: str, step: int) -> float:
    """Return how many times faster than eager it is, if it works."""
    return round(0.8 + 2.0 * Random(f"speed/{seed}/{proposal}/{step}").random(), 4)


def answer_text(seed: int, proposal: str, step: int, fates: Sequence[str] = FATES) -> str:
    """Return a model's whole answer."""
    fate = fate_of(seed, proposal, step, fates)
    if fate == "unusable":
        return f"I would rather not, {proposal} {step}."
    return f"Here it is.\n\n```python\n{source_of(seed, proposal, step, fates)}```\n"


def source_of(seed: int, proposal: str, step: int, fates: Sequence[str] = FATES) -> str:
    """Return the file of a model's answer, or that it tried before it refused to answer."""
    drawn = fate_of(seed, proposal, step, fates)
    fate = "compile_error" if drawn == "unusable" else drawn
    return (
        f"# change: {proposal} step {step}\n# fate: {fate} {speed_of(seed, proposal, step)}\n"
        f"{SOURCE.replace('class Model(', 'class ModelNew(')}"
    )


def _step(request: Request) -> str:
    """Return the step of a query, and which of its rounds where there are several."""
    return f"{request.step}.{request.round}" if request.round > 1 else str(request.step)


@dataclass(eq=False)
class FatedModel:
    """A language model whose answers follow from (seed, proposal, step)."""

    seed: int = 0
    fates: Sequence[str] = FATES
    name: str = "fated"
    label: str = "fated (for tests)"
    network: bool = True
    price_usd: float | None = 0.0
    estimate: float | None = 0.0
    ideas: int = 5
    yields: Callable[[], int] = lambda: 0
    """How often an answer gives way to others before it arrives."""
    delay_s: float = 0.0
    fail: Callable[[Request], Exception | None] = lambda _request: None
    log: Path | None = None
    """One line per answer paid for, kept over processes."""
    asked: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    hold: asyncio.Event | None = None
    """Answers wait for it."""
    calls_tools: bool = True
    rounds: Callable[[Request], int] = lambda _request: 0
    """How often it calls tools before it answers, where it may."""
    talks: list[Request] = field(default_factory=list["Request"])
    """All that it was asked."""

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        del prompt, max_tokens
        return self.estimate

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        del on_note
        self.asked.append((request.proposal, request.step, request.sample))
        self.talks.append(request)
        for _ in range(self.yields()):
            await asyncio.sleep(0)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.hold is not None:
            await self.hold.wait()
        error = self.fail(request)
        if error is not None:
            raise error
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(f"{request.proposal} {_step(request)} {request.sample}\n")
        turn = self._turn(request)
        text = turn.text if turn else self._text(request)
        on_text(text)
        return Reply(text, Finish.STOP, Usage(100, 0, 0, 50), self.price_usd, self.name, turn)

    async def close(self) -> None:
        pass

    def _turn(self, request: Request) -> Turn | None:
        """Ask for two tools at once: a look at the file that the answer will hold, and one that there is not."""
        if not 0 < request.round <= self.rounds(request):
            return None
        source = source_of(self.seed, request.proposal, request.step, self.fates)
        said = f"{request.proposal} step {request.step} round {request.round}"
        tool = ("check_kernel", "benchmark_kernel")[request.round % 2]
        calls = (Call("a", tool, {"source": source}), Call("b", "guess_kernel", {}))
        return Turn([{"said": said, "signature": "c2ln"}], calls, said)

    def _text(self, request: Request) -> str:
        if request.prompt.role == "ideas":
            return "\n".join(f"{n}. idea number {n}" for n in range(1, self.ideas + 1))
        return answer_text(self.seed, request.proposal, request.step, self.fates)


def refused() -> ModelRefused:
    return ModelRefused("the key was refused; set FATED_API_KEY", "bad_key")


def unanswered() -> ModelFailed:
    return ModelFailed("no answer after 5 tries: HTTP 503", "server")


@dataclass(eq=False)
class FatedEvaluator:
    """An evaluator that reads a candidate's fate from its source."""

    endpoint: str = "scripted"
    places: int = 4
    unfit: str = ""
    delay_s: float = 0.0
    yields: Callable[[], int] = lambda: 0
    absent: int = 0
    """Calls that find no evaluator."""
    faults: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Attempt to the codes of `infra_error` its turns end with; `died`: the evaluator is lost."""
    jobs: dict[str, Ask] = field(default_factory=dict[str, "Ask"])
    judged: list[str] = field(default_factory=list[str])
    cancelled: list[str] = field(default_factory=list[str])
    hold: asyncio.Event | None = None
    running: int = 0
    most: int = 0

    async def start(self, ask: Ask) -> str:
        if self.absent > 0:
            self.absent -= 1
            raise EvaluatorAbsent("no evaluator here")
        job = f"job-{len(self.jobs) + 1}"
        self.jobs[job] = ask
        return job

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        if job not in self.jobs:
            raise JobUnknown(job)
        ask = self.jobs[job]
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return await self._judge(ask, on_stage)
        finally:
            self.running -= 1

    async def cancel(self, job: str) -> None:
        self.cancelled.append(self.jobs[job].attempt)

    async def task(self, task: str) -> dict[str, Any]:
        return {
            "task_id": task,
            "machine": ["memory: copy 20 GB/s"],
            "floors": ["fp32: 0.5 ms, set by memory", "bf16: 0.4 ms, set by memory"],
        }

    async def close(self) -> None:
        pass

    async def _judge(self, ask: Ask, on_stage: OnStage) -> dict[str, Any]:
        for stage in ("build", "correctness", "timing"):
            on_stage(stage, "")
            for _ in range(self.yields()):
                await asyncio.sleep(0)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.hold is not None and ask.attempt != "c0":
            await self.hold.wait()
        self.judged.append(ask.attempt)
        turns = self.faults.get(ask.attempt, [])
        if turns:
            code = turns.pop(0)
            if code == "died":
                raise EvaluatorLost("the evaluator's process ended")
            return {"status": "infra_error", "code": code, "cause": "not the candidate's fault"}
        if ask.attempt == "c0":
            return self._original()
        if ask.tool:
            return self._shown(ask)
        return verdict_on(ask.source)

    def _shown(self, ask: Ask) -> dict[str, Any]:
        """Return what a tool says, as an agent sees it: the same for the same file."""
        status = verdict_on(ask.source)["status"]
        text = f"{status}: as {ask.tool} found\ncandidate_id: cand_of_the_evaluator"
        return {"status": status, "shown": text}

    def _original(self) -> dict[str, Any]:
        if self.unfit:
            return {"status": "task_unfit", "code": self.unfit, "cause": "its outputs are random"}
        found = verdict_on("# fate: ok 1.0\n")
        return {**found, "baseline_names": ["eager"], "baseline_classes": ["fp32"]} | {
            "baseline_times_ms": [EAGER_MS]
        }


def verdict_on(source: str) -> dict[str, Any]:
    """Return the verdict on the fate that a source holds."""
    line = next((x for x in source.splitlines() if x.startswith("# fate: ")), "# fate: ok 1.0")
    fate, speed = line.removeprefix("# fate: ").split()
    common = {"device": "cpu", "device_name": "a test CPU", "ok": fate == "ok", "status": fate}
    if fate == "ok":
        return {**common, **_timing(float(speed))}
    codes = {
        "compile_error": ("build_failed", "build"),
        "wrong_result": ("values", "correctness"),
        "timeout": ("call", "correctness"),
        "rejected": ("stale_answer", "timing"),
        "runtime_error": ("call_raised", "correctness"),
        "not_checkable": ("not_checkable", "correctness"),
    }
    code, stage = codes[fate]
    status = "infra_error" if fate == "not_checkable" else fate
    return {
        **common,
        "status": status,
        "code": code,
        "stage": stage,
        "cause": f"as scripted: {fate}",
    }


def _timing(speed: float) -> dict[str, Any]:
    return {
        "stage": "report",
        "build_s": 0.1,
        "correctness_s": 0.2,
        "timing_s": 0.3,
        "correct": True,
        "precision_class": "fp32",
        "scope": "latency",
        "eager_ms": EAGER_MS,
        "baseline": "eager",
        "baseline_ms": EAGER_MS,
        "runtime_ms": EAGER_MS / speed,
        "speedup_ratio": speed,
        "speedup_lo_ratio": speed * 0.99,
        "speedup_hi_ratio": speed * 1.01,
        "speedup_eager_ratio": speed,
        "speedup_eager_lo_ratio": speed * 0.99,
        "speedup_eager_hi_ratio": speed * 1.01,
        "confirmed": True,
        "outcome": "faster" if speed > 1.01 else "slower",
    }


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
