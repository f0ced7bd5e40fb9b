"""Tools in Google's API: `functionCall` parts, answered by `functionResponse` parts; thoughts leave signatures."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The SDK's types name packages that are not installed.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.models.tools import Turn, call

if TYPE_CHECKING:
    from google.genai import types

    from sessions.models.port import Request
    from sessions.models.tools import Round


def options(request: Request) -> dict[str, Any]:
    """Return the parts of the configuration that offer the tools."""
    if not request.tools:
        return {}
    offered = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters_json_schema": dict(tool.parameters),
        }
        for tool in request.tools
    ]
    mode = "NONE" if request.last_round else "AUTO"
    return {
        "tools": [{"function_declarations": offered}],
        "tool_config": {"function_calling_config": {"mode": mode}},
    }


def contents(request: Request) -> Any:
    """Return the whole conversation: text alone before the first call."""
    if not request.rounds:
        return request.prompt.text
    found: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": request.prompt.text}]}]
    for one in request.rounds:
        found.append({"role": "model", "parts": one.turn.said})
        found.append({"role": "user", "parts": [*_results(one), *_words(one)]})
    return found


class Parts:
    """The parts of a streamed answer, as they must go back."""

    def __init__(self) -> None:
        """Begin with none."""
        self._parts: list[dict[str, Any]] = []

    def take(self, chunk: types.GenerateContentResponse) -> None:
        """Add a chunk's; words that follow words are one part, unless a signature belongs to them."""
        for candidate in (chunk.candidates or [])[:1]:
            for part in (candidate.content.parts if candidate.content else None) or []:
                self._add(part.model_dump(mode="json", exclude_none=True))

    def turn(self, text: str) -> Turn | None:
        """Return what was asked for; None where no tool was called."""
        asked = [part["function_call"] for part in self._parts if part.get("function_call")]
        if not asked:
            return None
        calls = (
            call(c.get("name"), c.get("args") or {}, c.get("id"), n) for n, c in enumerate(asked)
        )
        return Turn(self._parts, tuple(calls), text)

    def _add(self, part: dict[str, Any]) -> None:
        if part.get("thought") and not part.get("thought_signature"):
            return
        last = self._parts[-1] if self._parts else {}
        if set(part) == set(last) == {"text"}:
            last["text"] += part["text"]
        elif part:
            self._parts.append(part)


def _results(one: Round) -> list[dict[str, Any]]:
    """Return an answer to each call; the vendor's own id, where there was one, goes with it."""
    own = [part["function_call"].get("id") for part in one.turn.said if part.get("function_call")]
    return [
        {
            "function_response": {
                "name": c.name,
                "response": {"output" if r.ok else "error": r.text},
                **({"id": identity} if identity else {}),
            }
        }
        for c, r, identity in zip(one.turn.calls, one.results, own, strict=True)
    ]


def _words(one: Round) -> list[dict[str, Any]]:
    return [{"text": one.words}] if one.words else []
