"""The scripted model: answers and faults written down beforehand, by role, proposal and step.

A line applies where all that it names agrees with the request; the most specific line wins, then the first.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sessions.models.port import Finish, ModelFailed, ModelRefused, Reply, Request, Usage
from sessions.models.tools import Turn, call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from sessions.models.port import OnNote, OnText
    from strategies.protocol import Prompt


class Fault(StrEnum):
    """What may go wrong with a scripted answer."""

    NONE = ""
    CUT_OFF = "cut off"
    """Half of the text arrives, finish reason `length`."""
    EMPTY = "empty"
    ERROR = "error"
    """No answer after all tries."""
    BAD_KEY = "bad key"
    NEVER = "never"
    """The answer does not come."""


@dataclass(frozen=True, slots=True)
class Line:
    """One scripted answer; an unset key matches any request."""

    text: str = ""
    role: str | None = None
    """A `PromptRole`."""
    proposal: str | None = None
    step: int | None = None
    latency_s: float = 0.0
    fault: Fault = Fault.NONE
    cost_usd: float = 0.0
    round: int | None = None
    """1.. within the step, where tools are offered; 0 where they are not."""
    calls: Sequence[Mapping[str, Any]] = ()
    """Tools that it asks for: `{"tool": NAME, "arguments": {…}}`."""

    def agrees(self, request: Request) -> bool:
        """Tell whether this line may answer the request."""
        asked = {
            "role": request.prompt.role,
            "proposal": request.proposal,
            "step": request.step,
            "round": request.round,
        }
        return all(getattr(self, key) in (None, value) for key, value in asked.items())

    @property
    def specific(self) -> int:
        """How much of a request the line names."""
        named = (self.role, self.proposal, self.step, self.round)
        return sum(key is not None for key in named)


class ScriptedModel:
    """A language model whose answers are known; it counts what it was asked."""

    def __init__(
        self,
        lines: Sequence[Line],
        *,
        name: str = "scripted",
        network: bool = True,
        price_usd: float | None = 0.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Answer from `lines`; `network` as a vendor's model would be, so that stores are used."""
        self.name = name
        self.label = f"{name} (scripted)"
        self.network = network
        self.calls_tools = True
        self.asked: list[Request] = []
        self.counts: dict[tuple[str, int], int] = defaultdict(int)
        """Times asked, by (proposal, step)."""
        self._lines = tuple(lines)
        self._price_usd = price_usd
        self._sleep = sleep

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return the price given at the start, whatever the prompt."""
        del prompt, max_tokens
        return self._price_usd

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Answer from the script, late or faulty where it says so.

        Raises:
            ModelFailed: the line says `error`, or no line agrees.
            ModelRefused: the line says `bad key`.
        """
        self.asked.append(request)
        self.counts[request.proposal, request.step] += 1
        line = self._line(request)
        if line.latency_s:
            on_note(f"thinking for {line.latency_s:g} s")
            await self._sleep(line.latency_s)
        reply = await _spoken(line)
        on_text(reply.text)
        return reply

    async def close(self) -> None:
        """Release nothing."""

    def _line(self, request: Request) -> Line:
        agreeing = [line for line in self._lines if line.agrees(request)]
        if not agreeing:
            where = f"{request.prompt.role}, proposal {request.proposal}, step {request.step}"
            raise ModelFailed(f"the script of {self.name} has no line for {where}", "other")
        return max(agreeing, key=lambda line: line.specific)


async def _spoken(line: Line) -> Reply:
    match line.fault:
        case Fault.ERROR:
            raise ModelFailed("the script says: no answer after all tries", "server")
        case Fault.BAD_KEY:
            raise ModelRefused("the script says: the key is not accepted", "bad_key")
        case Fault.NEVER:
            await asyncio.Event().wait()
        case Fault.CUT_OFF:
            return _reply(line, line.text[: len(line.text) // 2], Finish.LENGTH)
        case Fault.EMPTY:
            return _reply(line, "", Finish.STOP)
        case Fault.NONE:
            pass
    return _reply(line, line.text, Finish.STOP)


def _reply(line: Line, text: str, finish: Finish) -> Reply:
    usage = Usage(100, 0, 0, max(1, len(text) // 4))
    return Reply(text, finish, usage, line.cost_usd, "scripted", _turn(line))


def _turn(line: Line) -> Turn | None:
    asked = [
        call(one.get("tool"), one.get("arguments"), None, n) for n, one in enumerate(line.calls)
    ]
    return Turn([], tuple(asked), line.text) if asked else None


def read_script(path: Path) -> list[Line]:
    """Read lines from a JSON file: a list of objects with the fields of `Line`.

    Raises:
        ModelRefused: the file is missing or is not such a list; the message says which.
    """
    try:
        rows: Any = json.loads(path.read_text(encoding="utf-8"))
        return [_read_line(row) for row in rows]
    except OSError as error:
        raise ModelRefused(
            f"cannot use the script {path}: {error.strerror}", "bad_settings"
        ) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelRefused(f"cannot use the script {path}: {error}", "bad_settings") from error


def _read_line(row: dict[str, Any]) -> Line:
    known = {field.name for field in fields(Line)}
    unknown = sorted(row.keys() - known)
    if unknown:
        raise ValueError(
            f"a line has no field {unknown[0]!r}; its fields: {', '.join(sorted(known))}"
        )
    return replace(Line(**row), fault=Fault(row.get("fault", "")))
