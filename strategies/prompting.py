"""Context to prompt, whichever agent answers. Pure: `sessions` reads the templates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from strategies.agents import coa, efa, iba
from strategies.errors import ContextRefused
from strategies.protocol import Agent, Context, Prompt, PromptRole
from strategies.templates import TOOLS

if TYPE_CHECKING:
    from strategies.templates import Templates


def build(role: PromptRole, context: Context, templates: Templates) -> Prompt:
    """Return the finished prompt of one query.

    Raises:
        ContextRefused: the context lacks what this prompt must show.
    """
    prompt = _built(role, context, templates)
    if not context.tool_rounds or prompt.agent is Agent.IBA or role is PromptRole.AGAIN:
        return prompt  # what `again` repeats tells of the tools
    told = templates.fill(TOOLS, {"rounds": str(context.tool_rounds)})
    return replace(prompt, text=f"{prompt.text.rstrip()}\n\n{told}")


def _built(role: PromptRole, context: Context, templates: Templates) -> Prompt:
    match role:
        case PromptRole.IDEAS:
            return iba.ideas(context, templates)
        case PromptRole.START | PromptRole.IMPROVE | PromptRole.CROSS:
            return coa.prompt(role, context, templates)
        case (
            PromptRole.FIX_ERROR
            | PromptRole.FIX_WRONG
            | PromptRole.FIX_REJECTED
            | PromptRole.FIX_UNCHECKED
        ):
            return efa.fix(role, context, templates)
        case PromptRole.AGAIN:
            return _again(context, templates)
        case _:
            assert_never(role)


def _again(context: Context, templates: Templates) -> Prompt:
    """Return the prompt that went unanswered, with what was wrong with the reply."""
    if context.again_of is None or context.again_of is PromptRole.AGAIN:
        raise ContextRefused("An again prompt repeats another one; `again_of` must say which.")
    first = build(context.again_of, context, templates)
    values = {"prompt": first.text.rstrip(), "fault": context.reply_fault}
    text = templates.fill(PromptRole.AGAIN, values)
    return Prompt(PromptRole.AGAIN, first.agent, text, context, first.stable)
