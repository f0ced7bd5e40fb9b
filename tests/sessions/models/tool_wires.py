"""How each vendor words a reply that asks for tools, with its thoughts, as its stream has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.fake_vendor import Write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]
Asked = tuple[str, str]
"""A tool's name and its arguments as text: what a model writes need not be JSON."""
SIGNATURE = "c2lnbmF0dXJl"
THOUGHT = "first a look"
SAID = "Let me check it."


def anthropic(calls: Sequence[Asked], *, stop: str = "tool_use") -> Write:
    """Thinking with its signature, words, then a `tool_use` block for each call."""
    usage: Json = {"input_tokens": 100, "output_tokens": 1}
    message: Json = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    blocks: list[tuple[Json, list[Json]]] = [
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": THOUGHT},
                {"type": "signature_delta", "signature": SIGNATURE},
            ],
        ),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": SAID}]),
    ]
    for number, (name, arguments) in enumerate(calls):
        block: Json = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        pieces = [arguments[:7], arguments[7:]]
        blocks.append((block, [{"type": "input_json_delta", "partial_json": p} for p in pieces]))
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50}})
    return Write((*events, {"type": "message_stop"}))


def responses(calls: Sequence[Asked]) -> Write:
    """An encrypted `reasoning` item, a message, then a `function_call` item for each call."""
    part: Json = {"type": "output_text", "text": SAID, "annotations": []}
    output: list[Json] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]},
    ]  # fmt: skip
    output += [
        {
            "type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": name,
            "arguments": arguments, "status": "completed",
        }
        for n, (name, arguments) in enumerate(calls)
    ]  # fmt: skip
    usage = {
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 150,
    }  # fmt: skip
    whole: Json = {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5",
        "output": output, "parallel_tool_calls": True, "tools": [], "tool_choice": "auto", "usage": usage,
    }  # fmt: skip
    return Write(({"type": "response.completed", "sequence_number": 9, "response": whole},))


def chat(calls: Sequence[Asked]) -> Write:
    """Pieces of words and of each call, and what some hosts add of their thoughts."""
    frame: Json = {
        "id": "chat_1",
        "created": 1,
        "model": "gpt-5",
        "object": "chat.completion.chunk",
    }
    deltas: list[Json] = [
        {"role": "assistant", "content": SAID},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": SIGNATURE}]},
    ]
    for index, (name, arguments) in enumerate(calls):
        head = {"name": name, "arguments": ""}
        opened = {"index": index, "id": f"call_{index}", "type": "function", "function": head}
        deltas.append({"tool_calls": [opened]})
        pieces = [{"arguments": piece} for piece in (arguments[:7], arguments[7:])]
        deltas += [{"tool_calls": [{"index": index, "function": piece}]} for piece in pieces]
    chunks = [
        {**frame, "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas
    ]
    last: Json = {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return Write((*chunks, last), "data: [DONE]\n\n")


def google(calls: Sequence[Asked]) -> Write:
    """Words in two pieces, then `functionCall` parts, the first with the signature of the thoughts."""
    parts: list[Json] = [{"text": THOUGHT, "thought": True}, {"text": SAID[:5]}, {"text": SAID[5:]}]
    for number, (name, arguments) in enumerate(calls):
        signed = {"thoughtSignature": SIGNATURE} if number == 0 else {}
        parts.append({"functionCall": {"name": name, "args": json.loads(arguments)}, **signed})
    chunks: list[Json] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]}
        for part in parts
    ]
    last: Json = {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": "STOP"}
        ]
    }
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 40, "totalTokenCount": 140}
    return Write((*chunks, {**last, "usageMetadata": usage, "modelVersion": "gemini-2.5-pro"}))


ASKS: dict[str, Callable[[Sequence[Asked]], Write]] = {
    "anthropic": anthropic,
    "responses": responses,
    "chat": chat,
    "google": google,
}
