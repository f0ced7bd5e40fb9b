"""The best candidate as a file that says where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.verdicts import kind_of
from workbench import format as fmt
from workbench import story
from workbench.plain import inert_line

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, State


def header(found: State, attempt: AttemptRecord, version: str) -> str:
    """Return comment lines: session, task, both numbers, machine, model, commit."""
    return "".join(f"# {inert_line(line, 118)}\n" for line in _lines(found, attempt, version))


def again(attempt: AttemptRecord) -> str:
    """Return what the measurement after the search said; empty if there was none."""
    if not attempt.remeasured:
        return ""
    again = attempt.remeasured
    return f"measured again: {story.verdict(kind_of(again), again)}"


def _lines(found: State, attempt: AttemptRecord, version: str) -> list[str]:
    opened, verdict = found.opened, attempt.verdict
    lines = [
        f"{attempt.id} of session {found.name}, written by pike {version}",
        f"task: {opened.task}, sha256 {opened.task_sha256[:16]}" if opened else "",
        f"speedup: {story.headline(verdict)}",
        _eager(verdict),
        again(attempt),
        f"machine: {_machine(verdict)}",
        f"strategy: {opened.strategy}, model: {_models(found)}" if opened else "",
        f"commit {attempt.commit} on {attempt.branch}, {fmt.utc(attempt.at)}"
        if attempt.commit
        else "",
        f"confirmed in a fresh pair of processes: {'yes' if attempt.confirmed else 'no'}",
    ]
    return [line for line in lines if line]


def _eager(verdict: dict[str, Any]) -> str:
    value = verdict.get("speedup_eager_ratio")
    between = fmt.interval(
        verdict.get("speedup_eager_lo_ratio"), verdict.get("speedup_eager_hi_ratio")
    )
    return f"over eager: {fmt.speedup(value)}{f' ({between})' if between else ''}" if value else ""


def _machine(verdict: dict[str, Any]) -> str:
    parts = [
        verdict.get("device_name") or verdict.get("device"),
        f"torch {verdict['torch']}" if verdict.get("torch") else "",
        f"CUDA {verdict['cuda']}" if verdict.get("cuda") else "",
        f"driver {verdict['driver']}" if verdict.get("driver") else "",
        f"sandbox {verdict['sandbox_level']}" if verdict.get("sandbox_level") else "",
        f"precision policy {verdict['policy_effective']}"
        if verdict.get("policy_effective")
        else "",
    ]
    return ", ".join(str(part) for part in parts if part)


def _models(found: State) -> str:
    return ", ".join(dict.fromkeys(found.answering.values()))
