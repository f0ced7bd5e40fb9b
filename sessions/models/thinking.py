"""How long a reasoning model may think: what a person says, and what each vendor takes for it.

| said | means |
| --- | --- |
| `default` | whatever the vendor does by itself |
| `off` | no thinking |
| `low`, `medium`, `high` | the vendor's effort; where it has budgets only, 4,096, 16,384 or 32,000 tokens |
| a number | a budget of so many tokens, where the vendor has budgets |

Every vendor counts thinking as output, within the limit of output tokens: `room` is added to it, and so to what a
query reserves. The parameters are those of the SDKs' own types: Anthropic `thinking_config_param`,
`output_config_param`; OpenAI `reasoning_effort`; Google `ThinkingConfig`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sessions.models.port import ModelRefused

if TYPE_CHECKING:
    from sessions.models.port import LanguageModel

DEFAULT = "default"
OFF = "off"
BUDGETS = {OFF: 0, "low": 4_096, "medium": 16_384, "high": 32_000}
LEAST, MOST = 1_024, 60_000
"""Tokens of a budget that is given as a number; Anthropic's least."""
WORDS = "off, low, medium, high, a number of tokens, or default"

_CLAUDE_WITHOUT = r"claude-(v?[12]\b|instant|3-(opus|sonnet|haiku|5)).*"
_CLAUDE_BUDGETS = r"claude-(3-7-.*|(opus|sonnet|haiku)-4(-[015])?(-2\d{7})?(-latest)?)"
_CLAUDE_BUDGET_OUTPUT = 64_000
"""Output tokens that those models have at most."""
_GPT_THINKS = r"(o\d|codex|gpt-oss|gpt-(?!5-chat)[5-9]).*"
_GPT_ALWAYS = r"(o\d|codex|gpt-oss|gpt-5(?![.\d])).*"
_GEMINI_WITHOUT = r"(gemma-[1-3]|gemini-(1|2\.0|pro$|flash-1)).*"
_GEMINI_BUDGETS = r"gemini-2\.5-.*"
_GEMINI_MOST = {"pro": 32_768, "flash": 24_576}


def read(text: str) -> str:
    """Return what was said in one way of writing it; empty for `default`.

    Raises:
        ModelRefused: it is none of the words.
    """
    word = text.strip().lower().replace(",", "").replace("_", "")
    if word in (DEFAULT, ""):
        return ""
    if word in BUDGETS:
        return word
    if word.isdecimal() and len(word) < 10 and LEAST <= int(word) <= MOST:
        return str(int(word))
    if word.isdecimal():
        raise _refused(f"a thinking budget is {LEAST:,} to {MOST:,} tokens, not {word[:20]}")
    raise _refused(f"thinking is {WORDS}, not {text.strip()[:40]!r}")


@runtime_checkable
class Thinks(Protocol):
    """A model that can be told how long to think."""

    def thinking(self, level: str) -> LanguageModel:
        """Return the model, thinking so long in every query.

        Raises:
            ModelRefused: it does not have that.
        """
        ...


def bound(model: LanguageModel, level: str) -> LanguageModel:
    """Return the model, thinking so long; one that no vendor answers for stays as it is.

    Raises:
        ModelRefused: it does not have that.
    """
    return model.thinking(level) if level and isinstance(model, Thinks) else model


def room(level: str) -> int:
    """Return the output tokens that thinking may take besides the answer."""
    return BUDGETS.get(level, 0) if not level.isdecimal() else int(level)


def of_anthropic(model: str, level: str, max_tokens: int) -> dict[str, Any]:
    """Return the parameters of a Messages call, `max_tokens` among them.

    Raises:
        ModelRefused: the model has no such thinking.
    """
    if not level:
        return {"max_tokens": max_tokens}
    if re.fullmatch(_CLAUDE_WITHOUT, model):
        _need_off(model, level)
        return {"max_tokens": max_tokens}
    if level == OFF:
        return {"max_tokens": max_tokens, "thinking": {"type": "disabled"}}
    if re.fullmatch(_CLAUDE_BUDGETS, model):
        thinking = {"type": "enabled", "budget_tokens": room(level)}
        return {"max_tokens": min(max_tokens, _CLAUDE_BUDGET_OUTPUT), "thinking": thinking}
    if level.isdecimal():
        raise _no_budget(model)
    return {
        "max_tokens": max_tokens,
        "thinking": {"type": "adaptive"},
        "output_config": {"effort": level},
    }


def of_openai(model: str, level: str, *, own: bool) -> str | None:
    """Return the reasoning effort; None: not set. `own`: OpenAI answers, so that its models' names tell.

    Raises:
        ModelRefused: the model has no such thinking.
    """
    if not level:
        return None
    if own and not re.fullmatch(_GPT_THINKS, model):
        return _need_off(model, level)
    if level.isdecimal():
        raise _no_budget(model)
    if own and level == OFF and re.fullmatch(_GPT_ALWAYS, model):
        raise _always(model)
    return "none" if level == OFF else level


def of_openrouter(level: str) -> dict[str, Any]:
    """Return OpenRouter's own parameter, which it translates for the model's vendor."""
    if not level:
        return {}
    if level.isdecimal():
        return {"reasoning": {"max_tokens": int(level)}}
    return {"reasoning": {"effort": "none" if level == OFF else level}}


def of_google(model: str, level: str) -> dict[str, Any] | None:
    """Return Gemini's thinking configuration; None: not set.

    Raises:
        ModelRefused: the model has no such thinking.
    """
    if not level:
        return None
    if re.fullmatch(_GEMINI_WITHOUT, model):
        return _need_off(model, level)
    if re.fullmatch(_GEMINI_BUDGETS, model):
        return {"thinking_budget": _gemini_budget(model, level)}
    if level.isdecimal():
        raise _no_budget(model)
    if level == OFF:
        raise _always(model)
    return {"thinking_level": level.upper()}


def _gemini_budget(model: str, level: str) -> int:
    kind = "pro" if "-pro" in model else "flash"
    if level == OFF and kind == "pro":
        raise _always(model)
    most = _GEMINI_MOST[kind]
    if level.isdecimal() and int(level) > most:
        raise _refused(f"{model} thinks for at most {most:,} tokens, not {int(level):,}")
    return min(room(level), most)


def _need_off(model: str, level: str) -> None:
    if level != OFF:
        raise _refused(f"{model} is no reasoning model: leave thinking out, or name another model")


def _no_budget(model: str) -> ModelRefused:
    return _refused(f"{model} takes no thinking budget in tokens: say low, medium or high")


def _always(model: str) -> ModelRefused:
    return _refused(f"{model} always thinks; it cannot be turned off: say low")


def _refused(text: str) -> ModelRefused:
    return ModelRefused(text, "bad_settings")
