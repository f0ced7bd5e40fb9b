"""The initial brainstorming agent: context to the prompt that asks for ideas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.agents import blocks, measured
from strategies.protocol import Agent, Context, Prompt, PromptRole

if TYPE_CHECKING:
    from strategies.templates import Templates


def ideas(context: Context, templates: Templates) -> Prompt:
    """Ask for at most ten separate ideas, best first."""
    values = blocks.shared(context, templates)
    values["known"] = measured.known(context, measured.FOR_IDEAS)
    text = templates.fill(PromptRole.IDEAS, values)
    return Prompt(PromptRole.IDEAS, Agent.IBA, text, context)
