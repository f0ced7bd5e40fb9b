"""Tools in Anthropic's Messages: `tool_use` blocks, answered by `tool_result` blocks of the next user message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.models.tools import Turn, call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anthropic.types import Message

    from sessions.models.port import Request
    from sessions.models.tools import Round

_KEPT = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
}
"""The fields of each block that go back with the results."""


def options(request: Request) -> dict[str, Any]:
    """Return the parameters that offer the tools; a forced answer still names those that were used."""
    if not request.tools:
        return {}
    offered = [
        {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)}
        for t in request.tools
    ]
    return {
        "tools": offered,
        "tool_choice": {"type": "none" if request.last_round else "auto"},
    }


def messages(request: Request, prompt: Any) -> list[Any]:
    """Return the whole conversation, the prompt first; its end is marked to be kept for the next round."""
    found: list[Any] = [{"role": "user", "content": prompt}]
    for one in request.rounds:
        found += [{"role": "assistant", "content": one.turn.said}, _results(one)]
    if request.cache and request.tools:
        found[-1] = {"role": "user", "content": _kept(found[-1]["content"])}
    return found


def _kept(content: Any) -> list[dict[str, Any]]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]


def turn(message: Message) -> Turn | None:
    """Return what a message asks for; None where it calls no tool."""
    calls = [block for block in message.content if block.type == "tool_use"]
    if not calls:
        return None
    text = "".join(block.text for block in message.content if block.type == "text")
    asked = (call(b.name, b.input, b.id, n) for n, b in enumerate(calls))
    return Turn(list(_blocks(message)), tuple(asked), text)


def _blocks(message: Message) -> Iterable[dict[str, Any]]:
    for block in message.content:
        names = _KEPT.get(block.type, ())
        found = {name: getattr(block, name) for name in names}
        if found and found.get("text") != "":  # an empty text is refused
            yield {"type": block.type, **found}


def _results(one: Round) -> dict[str, Any]:
    paired = zip(one.turn.calls, one.results, strict=True)
    blocks: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": c.id, "content": r.text, "is_error": not r.ok}
        for c, r in paired
    ]
    if one.words:
        blocks.append({"type": "text", "text": one.words})
    return {"role": "user", "content": blocks}
