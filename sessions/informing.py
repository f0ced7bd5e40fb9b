"""What the evaluator knows of device and task, asked once, after the original was measured (`informed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.errors import EvaluatorError
from strategies.options import held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.model import State
    from sessions.parts import Parts

LINES = 20
"""Of each kind; more would crowd every prompt."""


def due(state: State) -> bool:
    """Return whether prompts tell it, and it was not asked for."""
    asked = bool(state.opened and held(state.opened.settings).informed)
    return asked and state.informed is None


async def ask(parts: Parts) -> f.Informed:
    """Return what the evaluator tells; an evaluator that cannot tell stops no search."""
    try:
        page = await parts.evaluator.task(parts.opened.task)
    except EvaluatorError as error:
        return f.Informed([], [], parts.redactor.text(str(error)))
    return f.Informed(_lines(page, "machine"), _lines(page, "floors"))


def _lines(page: Mapping[str, object], name: str) -> list[str]:
    found = page.get(name)
    return [str(line) for line in found[:LINES]] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- JSON
