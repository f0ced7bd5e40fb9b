"""The agents' tools as a model is offered them, and what was said and answered in the rounds before.

```
prompt ─▶ Turn (calls) ─▶ Result of each call ─▶ Turn (calls) ─▶ … ─▶ the answer: a turn without calls
          └──────────── one Round ─────────────┘
```
A turn keeps the vendor's own pieces as they came: thinking, with its signature, must go back with the results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CALLS_LIMIT = 16
"""Calls of one turn that are carried out; each of the others gets a sentence."""
_ID_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of an object."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a model asks for; all of it is foreign."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    """None: what came was no JSON object."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said in one round in which it asked for tools."""

    said: Any
    """The vendor's own pieces as JSON, to be given back as they are."""
    calls: tuple[Call, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to."""

    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Round:
    """A turn and the results of its calls, in their order."""

    turn: Turn
    turn_key: str
    results: tuple[Result, ...]
    words: str = ""
    """What is said to the model besides: by the person who steers, or that this was the last round."""


def arguments_of(text: str) -> dict[str, Any] | None:
    """Return the arguments that a vendor wrote as text; None where that is no JSON object."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def call(name: object, arguments: object, identity: object, place: int) -> Call:
    """Return a call as a vendor told it; one without an id gets its place as its id."""
    known = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else None
    return Call(str(identity or f"call_{place}")[:_ID_LIMIT], str(name or ""), known)


def as_text(turn: Turn) -> str:
    """Return a turn as it is kept."""
    return json.dumps(asdict(turn), ensure_ascii=False, sort_keys=True)


def of_text(text: str) -> Turn:
    """Return a kept turn."""
    found: dict[str, Any] = json.loads(text)
    calls: Sequence[dict[str, Any]] = found["calls"]
    return Turn(found["said"], tuple(Call(**one) for one in calls), str(found.get("text") or ""))
