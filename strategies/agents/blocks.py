"""The blocks that several agents' prompts share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from strategies.protocol import Prompt
from strategies.templates import JUDGING, RULES, LanguageGuide, Templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.protocol import Agent, Candidate, Context, Language, PromptRole

LANGUAGES_SHOWN = 3
"""Languages with worked examples: the cheapest to build. All are listed; examples cost tokens."""
_PLAIN = "pytorch"

_PRECISION = {
    "fp32": (
        "fp32: as accurate as the original in fp32 with TF32 off. "
        "Accumulate in fp32; no half precision, no TF32 inside."
    ),
    "tf32": (
        "tf32: matrix products and convolutions may use TF32; everything else stays in fp32. "
        "The result must be as accurate as the original run with TF32 on."
    ),
    "half": (
        "half: fp16 or bf16 inside is allowed, accumulating in fp32; outputs keep the original's "
        "dtype. The result must be as accurate as the original run in half precision."
    ),
}
_PAPER = "Checked against the original with atol = rtol = 1e-2."


def filled(
    role: PromptRole,
    agent: Agent,
    context: Context,
    templates: Templates,
    values: Mapping[str, str],
) -> Prompt:
    """Return a finished prompt, which knows how much of it other prompts of the session begin with."""
    stable, rest = templates.parts(role, values)
    return Prompt(role, agent, stable + rest, context, len(stable))


def fenced(text: str, language: str = "") -> str:
    """Return the text as a block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def code(candidate: Candidate) -> str:
    """Return a candidate's file as a Python block."""
    return fenced(candidate.source, "python")


def shared(context: Context, templates: Templates) -> dict[str, str]:
    """Return the values that any template may show."""
    return {
        "machine": machine(context),
        "languages": languages(context, templates),
        "examples": examples(context, templates),
        "original": code(context.original),
        "people": people(context),
        "precision": precision(context),
        "rules": templates.fill(RULES, {}).rstrip(),
        "judging": templates.fill(JUDGING, {"precision": precision(context)}).rstrip(),
    }


def machine(context: Context) -> str:
    """Return where the candidate will run."""
    kind = "one GPU, through CUDA" if context.device == "cuda" else "the CPU alone; there is no GPU"
    return f"Task `{context.task_id}`, on {context.device_name} ({kind})."


def precision(context: Context) -> str:
    """Return what accuracy is asked of the candidate."""
    policy = _PRECISION.get(context.precision, context.precision)
    return f"{policy} {_PAPER}" if context.tolerance == "paper" else policy


def languages(context: Context, templates: Templates) -> str:
    """Return what this machine can build, one line each, in the order given: cheapest first."""
    return "\n".join(_line(language, templates) for language in context.languages)


def _line(language: Language, templates: Templates) -> str:
    guide = templates.languages.get(language.name)
    cost = "" if language.seconds is None else f", about {language.seconds:g} s to build"
    about = [guide.summary] if guide else []
    note = [language.note] if language.note else []
    return " ".join([f"* **{language.name}**{cost}.", *about, *note])


def examples(context: Context, templates: Templates) -> str:
    """Return the worked examples of the cheapest languages that this device runs."""
    fitting = [
        [example for example in guide.examples if example.device in (context.device, "any")]
        for guide in _own_kernels(context, templates)
    ]
    chosen = [found for found in fitting if found][:LANGUAGES_SHOWN]
    return "\n\n".join(
        f"{example.title}:\n\n{fenced(example.source, 'python')}"
        for found in chosen
        for example in found
    )


def _own_kernels(context: Context, templates: Templates) -> list[LanguageGuide]:
    """Return the guides of the languages offered; plain PyTorch only where there is no other."""
    offered = [name.name for name in context.languages if name.name in templates.languages]
    own = [name for name in offered if name != _PLAIN] or offered
    return [templates.languages[name] for name in own]


def people(context: Context) -> str:
    """Return what the people of this search ask for, marked as theirs."""
    said = [context.instructions] if context.instructions.strip() else []
    asked = [*said, *context.guides]
    if not asked:
        return ""
    return "\n\n".join(["## Asked for by the person who runs this search", *map(quoted, asked)])


def quoted(text: str) -> str:
    """Return a person's words, marked as theirs."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))
