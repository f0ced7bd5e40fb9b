"""Four vendors' wire formats, as far as a scripted model needs them: tools and results in, one call or a word out.

| class | path | client |
| --- | --- | --- |
| `Messages` | `/v1/messages` | Claude Code |
| `Responses` | `/v1/responses` | Codex |
| `Chat` | `/v1/chat/completions` | opencode |
| `Generate` | `…/models/NAME:generateContent` | Gemini CLI |
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol

Json = dict[str, Any]
Event = tuple[str, Json | str]
"""The event's name, which may be empty, and its data."""


@dataclass(frozen=True)
class Asked:
    """What a model is shown."""

    offered: list[str]
    """Names of the tools."""
    results: list[Any]
    """Of the tools called so far, as the vendor's items."""


@dataclass(frozen=True)
class Turn:
    """What the model says: a call, or words where `tool` is empty."""

    number: int
    tool: str = ""
    arguments: Json = field(default_factory=dict[str, Any])
    words: str = "Done."


class Format(Protocol):
    """One vendor's."""

    def read(self, body: Json) -> Asked:
        """Return what a request shows the model."""
        ...

    def whole(self, body: Json, turn: Turn) -> Json:
        """Return an answer in one piece."""
        ...

    def stream(self, body: Json, turn: Turn) -> list[Event]:
        """Return an answer in events."""
        ...


class Messages:
    """Anthropic's Messages."""

    def read(self, body: Json) -> Asked:
        blocks = [
            b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]
        ]
        results = [b for b in blocks if b.get("type") == "tool_result"]
        return Asked([str(t.get("name")) for t in body.get("tools", [])], results)

    def whole(self, body: Json, turn: Turn) -> Json:
        usage = {"input_tokens": 10, "output_tokens": 5}
        usage |= {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        stop = "tool_use" if turn.tool else "end_turn"
        head = {"id": f"msg_{turn.number}", "type": "message", "role": "assistant"}
        told = {"model": body.get("model"), "content": [self._block(turn)], "stop_reason": stop}
        return {**head, **told, "stop_sequence": None, "usage": usage}

    def stream(self, body: Json, turn: Turn) -> list[Event]:
        whole, block = self.whole(body, turn), self._block(turn)
        if turn.tool:
            delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
            block["input"] = {}
        else:
            delta = {"type": "text_delta", "text": turn.words}
            block["text"] = ""
        ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        events: list[Json] = [
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": whole["usage"]},
            {"type": "message_stop"},
        ]
        return [(event["type"], event) for event in events]

    def _block(self, turn: Turn) -> Json:
        if not turn.tool:
            return {"type": "text", "text": turn.words}
        call = {"type": "tool_use", "id": f"toolu_{turn.number}"}
        return {**call, "name": turn.tool, "input": turn.arguments}


class Responses:
    """OpenAI's Responses, where a server's tools may stand in a namespace."""

    def read(self, body: Json) -> Asked:
        offered: list[str] = []
        for tool in body.get("tools", []):
            is_space = tool.get("type") == "namespace"
            inner: list[Json] = tool["tools"] if is_space else []
            names = [f"{tool['name']}__{t.get('name')}" for t in inner]
            offered += names if is_space else [str(tool.get("name"))]
        items: list[Json] = body["input"] if isinstance(body.get("input"), list) else []
        return Asked(offered, [i for i in items if str(i.get("type")).endswith("_call_output")])

    def whole(self, body: Json, turn: Turn) -> Json:
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}}
        usage |= {"output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}}
        head = {"id": f"resp_{turn.number}", "object": "response", "created_at": 1}
        told = {"model": body.get("model"), "output": [self._item(body, turn)]}
        return {**head, "status": "completed", **told, "usage": {**usage, "total_tokens": 15}}

    def stream(self, body: Json, turn: Turn) -> list[Event]:
        whole = self.whole(body, turn)
        item = whole["output"][0]
        begun: Json = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: list[Json] = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return [(event["type"], event) for event in events]

    def _item(self, body: Json, turn: Turn) -> Json:
        if not turn.tool:
            words: Json = {"type": "output_text", "text": turn.words, "annotations": []}
            head = {"type": "message", "id": f"msg_{turn.number}", "role": "assistant"}
            return {**head, "status": "completed", "content": [words]}
        call = {
            "type": "function_call",
            "id": f"fc_{turn.number}",
            "call_id": f"call_{turn.number}",
        }
        call |= {"status": "completed", "arguments": json.dumps(turn.arguments), "name": turn.tool}
        for tool in body.get("tools", []):
            if tool.get("type") == "namespace" and turn.tool.startswith(f"{tool['name']}__"):
                call |= {"namespace": tool["name"], "name": turn.tool[len(tool["name"]) + 2 :]}
        return call


class Chat:
    """OpenAI's Chat Completions, which many hosts speak."""

    def read(self, body: Json) -> Asked:
        offered = [t["function"]["name"] for t in body.get("tools", []) if "function" in t]
        return Asked(offered, [m for m in body["messages"] if m["role"] == "tool"])

    def whole(self, body: Json, turn: Turn) -> Json:
        choice = {"index": 0, "message": self._message(turn), "finish_reason": self._stop(turn)}
        return {**self._head(body, turn), "object": "chat.completion", "choices": [choice]}

    def stream(self, body: Json, turn: Turn) -> list[Event]:
        said: Json = {"index": 0, "delta": self._message(turn), "finish_reason": None}
        ended: Json = {"index": 0, "delta": {}, "finish_reason": self._stop(turn)}
        head = {**self._head(body, turn), "object": "chat.completion.chunk"}
        chunks: list[Event] = [("", {**head, "choices": [c]}) for c in (said, ended)]
        return [*chunks, ("", "[DONE]")]

    def _head(self, body: Json, turn: Turn) -> Json:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return {"id": f"c{turn.number}", "created": 1, "model": body.get("model"), "usage": usage}

    def _stop(self, turn: Turn) -> str:
        return "tool_calls" if turn.tool else "stop"

    def _message(self, turn: Turn) -> Json:
        if not turn.tool:
            return {"role": "assistant", "content": turn.words}
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": f"call_{turn.number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


class Generate:
    """Google's generateContent."""

    def read(self, body: Json) -> Asked:
        tools = body.get("tools", [])
        offered = [f["name"] for t in tools for f in t.get("functionDeclarations", [])]
        parts = [p for c in body.get("contents", []) for p in c.get("parts", [])]
        return Asked(offered, [p["functionResponse"] for p in parts if "functionResponse" in p])

    def whole(self, body: Json, turn: Turn) -> Json:
        call = {"name": turn.tool, "args": turn.arguments, "id": f"fc{turn.number}"}
        part = {"functionCall": call} if turn.tool else {"text": turn.words}
        said = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [said], "usageMetadata": usage}

    def stream(self, body: Json, turn: Turn) -> list[Event]:
        return [("", self.whole(body, turn))]


def spoken_at(path: str) -> Format | None:
    """Return the format of a path, or None where no model is."""
    plain: dict[str, Format] = {
        "/v1/messages": Messages(),
        "/v1/responses": Responses(),
        "/v1/chat/completions": Chat(),
    }
    is_gemini = "/models/" in path and ":" in path
    return Generate() if is_gemini else plain.get(path)
