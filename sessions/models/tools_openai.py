"""Tools in OpenAI's two APIs: items of the Responses, and messages of chat completions.

| | a call | its result | thinking |
| --- | --- | --- | --- |
| responses | `function_call` | `function_call_output` | `reasoning`, encrypted, as nothing is stored there |
| chat | `tool_calls` of a message | a message of the role `tool` | `reasoning_details`, `reasoning_content` |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from sessions.models.tools import Turn, arguments_of, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openai.types.chat.chat_completion_chunk import ChoiceDelta
    from openai.types.responses import Response

    from sessions.models.port import Request
    from sessions.models.tools import Tool

_REASONS = re.compile(r"(.*/)?(o\d|codex|gpt-[5-9](?!.*chat))")
_ENCRYPTED = "reasoning.encrypted_content"
_THOUGHTS = ("reasoning_details", "reasoning_content")


def respond_options(request: Request, model: str) -> dict[str, Any]:
    """Return the parameters that offer the tools over the Responses."""
    if not request.tools:
        return {}
    offered = [{"type": "function", "strict": False, **_function(tool)} for tool in request.tools]
    kept = {"include": [_ENCRYPTED]} if _REASONS.match(model) else {}
    return {"tools": offered, "tool_choice": _choice(request), **kept}


def respond_input(request: Request) -> Any:
    """Return the whole conversation for the Responses: text alone before the first call."""
    if not request.rounds:
        return request.prompt.text
    found: list[Any] = [_user(request.prompt.text)]
    for one in request.rounds:
        found += one.turn.said
        found += [
            {"type": "function_call_output", "call_id": c.id, "output": r.text}
            for c, r in zip(one.turn.calls, one.results, strict=True)
        ]
        found += [_user(one.words)] if one.words else []
    return found


def respond_turn(response: Response) -> Turn | None:
    """Return what a response asks for; None where it calls no tool."""
    calls = [item for item in response.output if item.type == "function_call"]
    if not calls:
        return None
    said = [item.model_dump(mode="json", exclude_none=True) for item in response.output]
    asked = (
        call(c.name, arguments_of(c.arguments), c.call_id, place) for place, c in enumerate(calls)
    )
    return Turn(said, tuple(asked), response.output_text)


def chat_options(request: Request) -> dict[str, Any]:
    """Return the parameters that offer the tools in a chat completion."""
    if not request.tools:
        return {}
    offered = [{"type": "function", "function": _function(tool)} for tool in request.tools]
    return {"tools": offered, "tool_choice": _choice(request)}


def chat_messages(request: Request) -> list[Any]:
    """Return the whole conversation for a chat completion."""
    found: list[Any] = [_user(request.prompt.text)]
    for one in request.rounds:
        found.append(one.turn.said)
        found += [
            {"role": "tool", "tool_call_id": c.id, "content": r.text}
            for c, r in zip(one.turn.calls, one.results, strict=True)
        ]
        found += [_user(one.words)] if one.words else []
    return found


class ChatCalls:
    """The calls of a chat completion, put together from its chunks, with what a host adds of its thoughts."""

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: dict[int, dict[str, str]] = {}
        self._thoughts: dict[str, Any] = {}

    def take(self, delta: ChoiceDelta) -> None:
        """Add what a chunk holds of them."""
        for piece in delta.tool_calls or ():
            made = self._calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
            made["id"] = piece.id or made["id"]
            if piece.function is not None:
                made["name"] += piece.function.name or ""
                made["arguments"] += piece.function.arguments or ""
        for name in _THOUGHTS:
            self._think(name, (delta.model_extra or {}).get(name))

    def turn(self, text: str) -> Turn | None:
        """Return what was asked for; None where no tool was called."""
        made = [self._calls[place] for place in sorted(self._calls)]
        if not made:
            return None
        asked = [
            call(m["name"], arguments_of(m["arguments"]), m["id"], n) for n, m in enumerate(made)
        ]
        calls = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": m["name"], "arguments": _json(m["arguments"])},
            }
            for one, m in zip(asked, made, strict=True)
        ]
        said = {"role": "assistant", "content": text or None, "tool_calls": calls}
        return Turn({**said, **self._thoughts}, tuple(asked), text)

    def _think(self, name: str, piece: object) -> None:
        match piece:
            case str():
                self._thoughts[name] = f"{self._thoughts.get(name, '')}{piece}"
            case list():
                kept = cast("Sequence[Any]", self._thoughts.get(name, ()))
                self._thoughts[name] = [*kept, *cast("Sequence[Any]", piece)]
            case _:
                pass


def _json(arguments: str) -> str:
    """Return arguments as a host takes them back: some refuse a text that is no JSON."""
    return arguments if arguments_of(arguments) is not None and arguments else "{}"


def _choice(request: Request) -> str:
    return "none" if request.last_round else "auto"


def _function(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
