"""The last stage: a judge's answer and the server's own facts become one verdict."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from mcp_server import build, clean, cubins, neighbours, qualify
from mcp_server.contract import CODES, ENGINE_TAIL, Status, Verdict
from mcp_server.executor import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.clean import Cleaner
    from mcp_server.evaluate import Conversation
    from mcp_server.executor import Work
    from mcp_server.intake import Intake
    from mcp_server.link import Message
    from mcp_server.rehearsal import Rehearsed
    from mcp_server.sandbox import Sandbox

log = logging.getLogger(__name__)

_CAUSE_LIMIT = 600


def unread(work: Work, intake: Intake) -> Outcome:
    """Return the verdict on a text that cannot be a candidate."""
    facts = _intake_facts(work, intake)
    facts |= {"status": intake.status, "code": intake.code, "cause": intake.cause}
    return Outcome(Verdict.model_validate({**facts, "stage": "intake"}))


def lost(work: Work, intake: Intake, sandbox: Sandbox | None, code: str, cause: str) -> Outcome:
    """Return the verdict when a process of ours failed: never the candidate's fault."""
    facts = _intake_facts(work, intake) | (_sandbox_facts(sandbox) if sandbox else {})
    facts |= {"status": Status.INFRA_ERROR, "code": code, "cause": cause, "stage": "report"}
    return Outcome(Verdict.model_validate(facts))


def unbuilt(work: Work, intake: Intake, sandbox: Sandbox, rehearsed: Rehearsed) -> Outcome:
    """Return the verdict on a candidate whose build did not end."""
    what = "Compiling" if rehearsed.late == "build" else "Importing the candidate"
    facts = _intake_facts(work, intake) | _sandbox_facts(sandbox)
    facts |= {"status": Status.TIMEOUT, "code": "build", "cause": f"{what} took too long."}
    facts |= {"stage": "build", "cpu_s": rehearsed.cpu_s}
    facts["build_s"] = round(sum(built.seconds for built in rehearsed.builds), 3)
    return Outcome(Verdict.model_validate(facts))


def decided(talk: Conversation, said: Message, intake: Intake, cleaner: Cleaner) -> Outcome:
    """Return the verdict of a judge, with what the server knows beside it."""
    judged = _judged(said.get("verdict"))
    streams = _streams(talk, cleaner)
    facts = judged.model_dump(exclude_none=True)
    facts |= _intake_facts(talk.work, intake) | _sandbox_facts(talk.pool.sandbox)
    facts |= _process_facts(talk, facts) | _machine_facts(talk.judge.hello)
    facts |= _output_facts(facts, streams, talk.builds.objects(talk.build_key))
    facts["flags"] = sorted({*judged.flags, *intake.flags, *_own_flags(talk)})
    if judged.runtime_ms is not None and _has_neighbours(talk):
        facts["flags"] = sorted({*facts["flags"], "neighbour_on_gpu"})
    if facts.get("cause"):
        facts["cause"] = cleaner(str(facts["cause"]), talk.scratches)[:_CAUSE_LIMIT]
    if talk.overdue:
        facts |= _overdue_facts(talk.overdue)
    facts = {name: None if _endless(value) else value for name, value in facts.items()}
    evidence: object = said.get("evidence")
    log_text = streams["build_log"]
    output = "\n".join(t for t in (streams["stdout"], streams["stderr"]) if t)
    kept = cast("Message", evidence) if isinstance(evidence, dict) else {}
    return Outcome(Verdict.model_validate(facts), log_text, output, kept)


def _endless(value: object) -> bool:
    """Return whether JSON has no word for a value: infinity, or no number."""
    if isinstance(value, list):
        return any(_endless(part) for part in cast("list[object]", value))
    return isinstance(value, float) and not math.isfinite(value)


def _judged(said: object) -> Verdict:
    """Return the judge's fields if they are a verdict at all, else an infrastructure error."""
    try:
        verdict = Verdict.model_validate(said)
        if verdict.status is not None and (verdict.code or None) in {None, *CODES[verdict.status]}:
            return verdict
        problem = f"status {verdict.status} with code {verdict.code}"
    except ValidationError as error:
        problem = str(error.errors()[0]["loc"]) + " " + error.errors()[0]["msg"]
    log.error("the judge's answer is no verdict: %s", problem)
    cause = "The judge's answer was not a verdict: the evaluator is at fault, not the candidate."
    return Verdict(status=Status.INFRA_ERROR, code="worker_lost", cause=cause, stage="report")


def _intake_facts(work: Work, intake: Intake) -> Message:
    return {
        "job_id": work.id,
        "attempt_id": work.attempt_id,
        "task": work.task.id,
        "task_sha256": work.task.sha256,
        "candidate_sha256": intake.sha256,
        "evaluator_sha256": qualify.evaluator_sha256(),
        "mode": work.mode,
        "tolerance": work.tolerance,
        "precision_policy": work.precision,
        "flags": sorted({*intake.flags, *(("agent_task",) if work.task.by_agent else ())}),
    }


def _sandbox_facts(sandbox: Sandbox) -> Message:
    device = sandbox.device
    return {
        "sandbox_level": sandbox.level,
        "sandbox_missing": list(sandbox.missing),
        "device": device.name,
        "device_name": device.title,
        "device_uuid": device.uuid,
    }


def _machine_facts(hello: Message) -> Message:
    known = {name: hello.get(name) for name in ("torch", "cuda", "driver")}
    known |= {name: hello[name] for name in ("device_name",) if hello.get(name)}
    return {name: str(value) for name, value in known.items() if value}


def _process_facts(talk: Conversation, judged: Message) -> Message:
    spent = talk.spent_s
    facts: Message = {
        "queue_s": talk.queue_s,
        "lease_s": talk.lease_s,
        "cpu_s": talk.cpu_s,
        "build_cached": talk.build_reused,
    }
    if talk.compiled_s:
        facts["build_s"] = round(talk.compiled_s, 3)
    names = {"build_s": "build", "qualify_s": "qualify", "correctness_s": "correctness"}
    names |= {"timing_s": "timing", "confirm_s": "confirm"}
    for name, stage in names.items():
        if judged.get(name) is None and stage in spent:
            facts[name] = round(spent[stage], 3)
    facts["artifact_sha256"] = talk.builds.artifact_sha256(talk.build_key)
    return facts


def _has_neighbours(talk: Conversation) -> bool:
    """Return whether somebody else has a context on the GPU, now that it was timed."""
    device = talk.pool.sandbox.device
    return device.is_gpu and bool(neighbours.foreign(device.uuid))


def _own_flags(talk: Conversation) -> set[str]:
    named = {"agent_task": talk.work.task.by_agent, "header_shim": talk.stand_in}
    return {name for name, is_so in named.items() if is_so}


def _streams(talk: Conversation, cleaner: Cleaner) -> dict[str, str]:
    cleaned = [
        (cleaner(e.stdout, talk.scratches), cleaner(e.stderr, talk.scratches)) for e in talk.endings
    ]
    first = cleaned[0] if cleaned else ("", "")
    compiled = tuple(cleaner(text, talk.scratches) for text in dict.fromkeys(talk.build_logs))
    final = cleaned[-1] if cleaned else ("", "")
    return {
        "build_log": "\n".join(t for t in (*compiled, *first) if t.strip()),
        "stdout": final[0],
        "stderr": final[1],
    }


def _output_facts(facts: Message, streams: dict[str, str], objects: Sequence[Path]) -> Message:
    shown: Message = {
        "stdout_tail": clean.last(streams["stdout"], ENGINE_TAIL),
        "stderr_tail": clean.last(streams["stderr"], ENGINE_TAIL),
    }
    if facts.get("build_log"):
        streams["build_log"] = clean.printable(str(facts["build_log"]))
    printed, read = build.usage(streams["build_log"]), cubins.usage(objects)
    shown["build_log"] = clean.last(streams["build_log"], ENGINE_TAIL)
    if facts.get("registers_max") is None:
        used = printed if printed.registers_max is not None else read
        shown |= {"registers_max": used.registers_max, "spill_bytes": used.spill_bytes}
    return shown


def _overdue_facts(stage: str) -> Message:
    if stage == "qualify":
        cause = "The original did not finish its qualification in time."
        return {"status": Status.TASK_UNFIT, "code": "too_large", "cause": cause}
    code = "build" if stage == "build" else "stage"
    cause = f"Stage {stage} did not end within its limit."
    return {"status": Status.TIMEOUT, "code": code, "cause": cause}
