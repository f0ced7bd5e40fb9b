"""The recorded model: answers written beforehand and shipped with the product, real kernels among them.

`sessions/recorded/README.md` says how answers are numbered; `index.json` lists them.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random
from typing import TYPE_CHECKING, Any

from sessions.models.port import Finish, ModelRefused, Reply, Request
from strategies.protocol import PromptRole

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from sessions.models.port import OnNote, OnText
    from strategies.protocol import Prompt

LATENCY_S = (0.5, 2.0)
"""An answer takes a time between these, so that a person can follow the screen."""
_CHUNKS = 12


@dataclass(frozen=True, slots=True)
class Recorded:
    """Which answer a file holds."""

    role: str
    """Of the proposal: `ideas`, `start`, `improve`; a fix is a later step of the same."""
    position: int
    step: int
    file: str


@cache
def index() -> Mapping[tuple[str, str], tuple[Recorded, ...]]:
    """Return the answers for each (task, device)."""
    path = resources.files("sessions").joinpath("recorded", "index.json")
    tasks: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(
        path.read_text(encoding="utf-8")
    )["tasks"]
    return {
        (task, device): tuple(
            Recorded(row["role"], row["position"], row["step"], row["file"]) for row in rows
        )
        for task, devices in tasks.items()
        for device, rows in devices.items()
    }


def recorded_tasks() -> list[str]:
    """Return the tasks for which answers exist, on any device."""
    return sorted({task for task, _ in index()})


def refusal(task: str, device: str) -> str:
    """Return why the model cannot answer for a task on a device; empty if it can."""
    if (task, device) in index():
        return ""
    known = " and ".join(recorded_tasks()) or "no task"
    if task in recorded_tasks():
        there = ", ".join(d for t, d in index() if t == task)
        return f"recorded answers for {task} exist for {there} only, not for {device}"
    return f"recorded answers exist for {known} only; {task} needs another model (offline needs no key)"


class RecordedModel:
    """Answers from the shipped files; it costs nothing and says that it is recorded."""

    name = "recorded"
    label = "recorded (answers written beforehand)"
    network = False
    calls_tools = False

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """`sleep` is where an answer's latency is spent."""
        self._sleep = sleep

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return 0: nothing is paid."""
        del prompt, max_tokens
        return 0.0

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Answer with the file recorded for this task, device, role, position and step.

        Raises:
            ModelRefused: nothing is recorded for this task, device or role.
        """
        del on_note
        context = request.prompt.context
        text = _text(find(request, context.task_id, context.device).file)
        await self._stream(request, text, on_text)
        return Reply(text, Finish.STOP, None, 0.0, self.name)

    async def close(self) -> None:
        """Release nothing."""

    async def _stream(self, request: Request, text: str, on_text: OnText) -> None:
        """Show the text growing; how long it takes depends on the request alone."""
        draw = Random(f"{request.proposal}/{request.step}").random()  # noqa: S311  (a latency)
        pause_s = (LATENCY_S[0] + draw * (LATENCY_S[1] - LATENCY_S[0])) / _CHUNKS
        for part in range(1, _CHUNKS + 1):
            await self._sleep(pause_s)
            on_text(text[: len(text) * part // _CHUNKS])


def find(request: Request, task: str, device: str) -> Recorded:
    """Return the answer to a request; an unrecorded fix gets the chain's last recorded step.

    Raises:
        ModelRefused: nothing is recorded for this task, device or role.
    """
    why_not = refusal(task, device)
    if why_not:
        raise ModelRefused(why_not, "unknown_model")
    role = proposal_role(request)
    same = [row for row in index()[task, device] if row.role == role]
    if not same:
        raise ModelRefused(
            f"no answer to {role!r} is recorded for {task} on {device}", "unknown_model"
        )
    position = _position(request, role) % (1 + max(row.position for row in same))
    steps = [row for row in same if row.position == position and row.step <= request.step]
    if not steps:
        raise ModelRefused(
            f"{role} {position} is not recorded for {task} on {device}", "unknown_model"
        )
    return max(steps, key=lambda row: row.step)


def proposal_role(request: Request) -> str:
    """Return the role of the proposal that a query, fix or not, belongs to."""
    match request.prompt.role:
        case PromptRole.IDEAS | PromptRole.START as role:
            return role
        case PromptRole.IMPROVE | PromptRole.CROSS:
            return PromptRole.IMPROVE
        case _:
            return PromptRole.START if request.prompt.context.idea else PromptRole.IMPROVE


def _position(request: Request, role: str) -> int:
    """Return a start's own position; improvements share seeds, so the number in the id is theirs."""
    if role == PromptRole.START and request.position is not None:
        return request.position
    number = re.search(r"\d+", request.proposal)
    return int(number.group()) if number and role != PromptRole.IDEAS else 0


@cache
def _text(file: str) -> str:
    return resources.files("sessions").joinpath("recorded", file).read_text(encoding="utf-8")
