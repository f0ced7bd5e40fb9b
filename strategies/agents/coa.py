"""The code optimization agent: context to the prompt that asks for a faster candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.agents import blocks, measured
from strategies.protocol import Agent, Candidate, Context, Prompt, PromptRole

if TYPE_CHECKING:
    from strategies.templates import Templates

_FREE = "No idea is given: carry out the change that you expect the most from."
_NO_PARENT = (
    "No correct candidate is known yet, so the program to improve is the original itself, above."
)
_PARENT = "This candidate is correct: the evaluator checked it against the original. Improve on it."
_UNSCORED = (
    "This candidate has no score: it failed in the evaluator, or was not timed. Look for its faults "
    "too, and improve on it."
)


def prompt(role: PromptRole, context: Context, templates: Templates) -> Prompt:
    """Ask for one candidate: from the original and an idea, from a parent, or from several."""
    values = blocks.shared(context, templates) | {
        "idea": context.idea or _FREE,
        "parent": _parent(context),
        "inspirations": _inspirations(context),
        "known": measured.known(context, measured.FOR_CODE),
        "notes": measured.parent_notes(context),
    }
    return blocks.filled(role, Agent.COA, context, templates, values)


def _parent(context: Context) -> str:
    parent = context.parent
    if parent is None or parent.id == context.original.id:
        return _NO_PARENT
    told = _PARENT if parent.runtime_ms else _UNSCORED
    return f"{told}\n\n{blocks.code(parent)}"


def _inspirations(context: Context) -> str:
    """Return the parent's score, then every inspiration in full with its score."""
    parent = context.parent or context.original
    shown = [
        f"Candidate {candidate.id} {_score(candidate)}:\n\n{blocks.code(candidate)}"
        for candidate in context.inspirations
    ]
    return "\n\n".join([f"The program to improve {_score(parent)}.", *shown])


def _score(candidate: Candidate) -> str:
    if not candidate.runtime_ms:
        return "has no score"
    return f"takes {candidate.runtime_ms:.4g} ms (score {1 / candidate.runtime_ms:.4g})"
