"""Results in both channels: some clients show a model only structured content, others only text, so both say the same.

Each channel has at most 8,000 bytes in an agent's view: untrusted tails shrink first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from mcp.types import CallToolResult, TextContent

from mcp_server import build
from mcp_server.clean import last
from mcp_server.contract import (
    AGENT_TAIL,
    RESULT_LIMIT_BYTES,
    EngineResult,
    KernelResult,
    Status,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from mcp_server.link import Message

TAILS = ("build_log", "stdout_tail", "stderr_tail")
_SHORTEST_TAIL = 100
_WORD_LIMIT = 120
"""Characters of one entry of a list, where a result is too large."""


def verdict_reply(
    result: EngineResult, *, whole: bool, beside: Message | None = None
) -> CallToolResult:
    """Return a verdict in both channels: whole for the engine, else an agent's view.

    `beside`: what an agent's view tells of the attempt's place in a session.
    """
    if whole:
        return _both(_dump(result), headline(result))
    shown = KernelResult.model_validate({**_agents(result), **(beside or {})})
    return _both(_fitted(_dump(shown), headline(result)), headline(result))


def plain_reply(result: BaseModel, title: str) -> CallToolResult:
    """Return any other result in both channels."""
    return _both(result.model_dump(mode="json", exclude_none=True), title)


def fits(result: BaseModel, title: str) -> bool:
    """Return whether a result that is no verdict has no more bytes than a channel may have."""
    data = result.model_dump(mode="json", exclude_none=True)
    return _size(data, title) <= RESULT_LIMIT_BYTES


def headline(result: EngineResult) -> str:
    """Return the verdict in one line."""
    if result.state != "done":
        return f"{result.state}: job {result.job_id}, stage {result.stage or 'not begun'}"
    if result.status is Status.OK:
        if result.speedup_ratio is None:
            return f"ok: {result.stage} passed"
        return (
            f"ok: {result.speedup_ratio:.3g}x over {result.baseline} "
            f"({result.outcome or 'not compared'}), {_over_eager(result)}"
        )
    code = f"/{result.code}" if result.code else ""
    return f"{result.status}{code} at {result.stage}: {result.cause or 'no cause given'}"


def _over_eager(result: EngineResult) -> str:
    ratio = result.speedup_eager_ratio
    return f"{ratio:.3g}x over eager" if ratio is not None else "eager not measured"


def _agents(result: EngineResult) -> Message:
    """Return an agent's view: shorter tails, and of a failed build its errors."""
    data = result.model_dump()
    for name in TAILS:
        data[name] = last(data[name] or "", AGENT_TAIL)
    if result.status is Status.COMPILE_ERROR and result.build_log:
        errors = build.compiler_errors(result.build_log)
        data["build_log"] = errors[:AGENT_TAIL] if errors else data["build_log"]
    return data


def _dump(result: BaseModel) -> Message:
    data = result.model_dump(mode="json")
    return {k: v for k, v in data.items() if k == "ok" or (v is not None and v != [])}


def _fitted(data: Message, title: str) -> Message:
    """Shorten the longest tail until both channels fit."""
    while _size(data, title) > RESULT_LIMIT_BYTES:
        longest = max(TAILS, key=lambda name: len(data.get(name) or ""))
        tail = str(data.get(longest) or "")
        if len(tail) <= _SHORTEST_TAIL:
            data = _without_lists(data)
            break
        data[longest] = tail[-len(tail) * 2 // 3 :]
    return data


def _without_lists(data: Message) -> Message:
    """Cut what a model with very many outputs reports of each, and long words in lists."""
    return {k: _cut(cast("list[object]", v)) if isinstance(v, list) else v for k, v in data.items()}


def _cut(values: list[object]) -> list[object]:
    return [v[:_WORD_LIMIT] if isinstance(v, str) else v for v in values[:10]]


def _size(data: Message, title: str) -> int:
    return max(len(json.dumps(data).encode()), len(_text(data, title).encode()))


def _both(data: Message, title: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=_text(data, title))], structured_content=data
    )


def _text(data: Message, title: str) -> str:
    return "\n".join([title, *(f"{name}: {_shown(value)}" for name, value in data.items())])


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    if isinstance(value, list):
        items = cast("list[object]", value)
        if items and all(isinstance(item, str) for item in items):
            return "".join(f"\n- {item}" for item in items)
    return json.dumps(value, ensure_ascii=False)
