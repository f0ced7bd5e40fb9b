"""What the tests of models ask."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.models.port import Request
from strategies.protocol import Agent, Candidate, Context, Language, Prompt, PromptRole

COMPILERS = (Language("extern-c", 1.0), Language("triton", 1.0))


def context(source: str = "", **more: Any) -> Context:
    given: dict[str, Any] = {
        "task_id": "starter/softmax",
        "device": "cpu",
        "device_name": "two cores",
        "languages": COMPILERS,
        "precision": "half",
        "tolerance": "budget",
    }
    return Context(original=Candidate("c0", "", source, None), **{**given, **more})


def prompt(role: PromptRole, context: Context, text: str = "make it fast") -> Prompt:
    return Prompt(role, Agent.COA, text, context)


def request(
    role: PromptRole = PromptRole.START,
    text: str = "make it fast",
    *,
    about: Context | None = None,
    proposal: str = "p2",
    step: int = 0,
    position: int | None = 0,
    sample: int = 0,
    **more: Any,
) -> Request:
    asked = prompt(role, about or context(), text)
    return Request(asked, proposal, step, position, sample, **more)


def approx(value: float, rel: float = 1e-9) -> Any:
    """`pytest.approx`, whose own types are incomplete."""
    return pytest.approx(value, rel=rel)  # pyright: ignore[reportUnknownMemberType]


async def no_sleep(seconds: float) -> None:
    del seconds


def ignore(text: str) -> None:
    del text
