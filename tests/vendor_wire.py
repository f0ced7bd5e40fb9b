"""What the vendors accept of a request, by the types of their own SDKs and their documented limits.

An answer is the message of a 400, or nothing. Types are those of the installed SDKs, so that a word they do not have
is wrong here as it would be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

Json = dict[str, Any]
LEAST_BUDGET = 1024
CACHE_MARKS = 4


def messages(body: Json) -> str:
    """Anthropic's Messages."""
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    return _typed(MessageCreateParamsStreaming, body) or _claude_thinking(body) or _marks(body)


def responses(body: Json) -> str:
    """OpenAI's Responses."""
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    effort = _table(body, "reasoning").get("effort")
    return _typed(ResponseCreateParamsStreaming, body) or _effort(body, effort)


def chat(body: Json) -> str:
    """OpenAI's chat completions."""
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    wrong = _typed(CompletionCreateParamsStreaming, body)
    return wrong or _effort(body, body.get("reasoning_effort"))


def gemini(path: str, model: str, body: Json) -> str:
    """Google's generateContent."""
    from google.genai import types

    config = _table(body, "generationConfig")
    try:
        types.GenerationConfig.model_validate(config)
    except ValidationError as error:
        return f"Invalid JSON payload received: {error.errors()[0]['loc']}"
    if config.get("thinkingConfig") is None:
        return ""
    # Google takes both ways of writing a name, and its SDK mixes them.
    told = types.ThinkingConfig.model_validate(config["thinkingConfig"])
    thinking = told.model_dump(exclude_none=True)
    if "/v1beta/" not in path:
        return 'Invalid JSON payload received. Unknown name "thinkingConfig"'
    if model.startswith("gemini-2.0"):
        return "Thinking is not supported by this model"
    if len(thinking) != 1 or ("thinking_level" in thinking) == model.startswith("gemini-2.5"):
        return "Thinking level is not supported for this model, or thinking budget is not"
    if model == "gemini-2.5-pro" and thinking["thinking_budget"] == 0:
        return "Budget 0 is invalid. This model only works in thinking mode."
    return ""


def _table(body: Json, name: str) -> Json:
    return cast("Json", body.get(name) or {})


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _typed(kind: Any, body: Json) -> str:
    unknown = set(body) - set(kind.__annotations__)
    if unknown:
        return f"Unknown parameter: {sorted(unknown)[0]}"
    try:
        _looked_through(_adapter(kind).validate_python(body))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""


def _looked_through(value: Any) -> None:
    """Look at what pydantic leaves to look at later: the items of an iterable."""
    if isinstance(value, dict):
        for one in cast("Json", value).values():
            _looked_through(one)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in cast("Iterable[Any]", value):
            _looked_through(one)


def _claude_thinking(body: Json) -> str:
    thinking = _table(body, "thinking")
    by_budget = bool(re.match(r"claude-(sonnet|haiku|opus)-4-5", body["model"]))
    match thinking.get("type"):
        case "enabled":
            budget = int(thinking["budget_tokens"])
            if not by_budget:
                return "thinking.type.enabled is not supported for this model; use adaptive"
            if budget < LEAST_BUDGET or budget >= body["max_tokens"]:
                return (
                    "max_tokens must be greater than thinking.budget_tokens, which is 1024 or more"
                )
        case "adaptive" if by_budget:
            return "adaptive thinking is not supported on this model"
        case _:
            pass
    if by_budget and body["max_tokens"] > 64_000:
        return "max_tokens: more than 64000, the maximum of this model"
    return ""


def _marks(body: Json) -> str:
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in cast("list[Json]", message["content"])
    ]
    if any(block.get("type") == "text" and not block["text"].strip() for block in blocks):
        return "messages: text content blocks must contain non-whitespace text"
    if sum("cache_control" in block for block in blocks) > CACHE_MARKS:
        return f"A maximum of {CACHE_MARKS} blocks with cache_control may be provided."
    return ""


def _effort(body: Json, effort: str | None) -> str:
    """OpenAI's models: which reason, and which cannot be kept from it."""
    model = str(body["model"])
    if effort is None or model == "house-model":
        return ""
    if model.startswith("gpt-4"):
        return "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    if effort == "none" and model == "gpt-5":
        return "Unsupported value: 'none' is not supported with the 'gpt-5' model (reasoning)."
    return ""
