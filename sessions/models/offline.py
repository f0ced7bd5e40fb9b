"""The offline model: answers by rules, without a model or a network; a pure function of context and sample.

| prompt | answer |
| --- | --- |
| ideas | the applicable rules, by usual gain |
| start | the idea's rule, on the original |
| improve, cross | the parent's rules and an unused one, or another compile mode, by sample number |
| fix | without the rule that the error names, else without the newest, at last a plain subclass |

Offered tools, it has its file checked before it answers; one that fails is mended as in a fix, and checked again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.models import offline_tools
from sessions.models.derived import Base, base_of, derive, is_derived, rules_in
from sessions.models.port import Finish, Reply, Request
from sessions.models.rules import COMPILES, HALVES, SAYS, WHY, Rule, applicable, together
from strategies.protocol import Attempt, Candidate, Kind, PromptRole, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.models.port import OnNote, OnText
    from strategies.protocol import Context, Prompt

_IDEAS = 10

_NAMED = {
    Rule.FUSED_ATTENTION: r"scaled_dot_product|sdpa|attn_mask",
    Rule.CUDA_GRAPH: r"cuda ?graph|captur",
    Rule.CHANNELS_LAST: r"channels_last|memory_format|\bview size\b|\.view\(",
    Rule.BF16: r"bfloat16|same dtype|autocast|expected .* dtype",
    Rule.FP16: r"float16|\bhalf\b|same dtype|autocast|expected .* dtype",
    Rule.TF32: r"tf32|matmul_precision",
    Rule.COMPILE: r"dynamo|inductor|torch\.compile|triton|autotun",
}
"""What an error says when it names a rule; a compile mode is named as any other."""
_COARSEST = (Rule.BF16, Rule.FP16, Rule.TF32)
_CAPTURING = (Rule.CUDA_GRAPH, Rule.COMPILE_OVERHEAD, Rule.COMPILE_AUTOTUNE)
_SUSPECTS = {
    Kind.WRONG: _COARSEST,
    Kind.UNAVAILABLE: _COARSEST,
    Kind.REJECTED: _CAPTURING,
    Kind.TIMEOUT: (Rule.COMPILE_AUTOTUNE, Rule.COMPILE_OVERHEAD, Rule.COMPILE),
}
"""The rules that most often lead to such an end, likeliest first; an error is read instead."""


class OfflineModel:
    """Answers the agents' prompts by rules."""

    name = "offline"
    label = "offline (rules, no model)"
    network = False
    calls_tools = True

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return 0: rules cost nothing."""
        del prompt, max_tokens
        return 0.0

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Answer at once."""
        del on_note
        text, turn = offline_tools.taken(request, answer(request.prompt, request.sample), mended)
        on_text(text)
        return Reply(text, Finish.STOP, None, 0.0, self.name, turn)

    async def close(self) -> None:
        """Release nothing."""


def answer(prompt: Prompt, sample: int) -> str:
    """Return the reply to a prompt, in the format that any model's reply has."""
    context = prompt.context
    role = prompt.role
    if context.notes is not None:  # what is told of siblings makes every prompt a first one
        sample = max(sample, context.notes.asked)
    if role is PromptRole.AGAIN:
        role = context.again_of or PromptRole.START
    match role:
        case PromptRole.IDEAS:
            return _ideas(context)
        case PromptRole.START:
            return _start(context, sample)
        case PromptRole.IMPROVE | PromptRole.CROSS | PromptRole.AGAIN:
            return _improve(context, sample)
        case (
            PromptRole.FIX_ERROR
            | PromptRole.FIX_WRONG
            | PromptRole.FIX_REJECTED
            | PromptRole.FIX_UNCHECKED
        ):
            return _fix(context)


def mended(context: Context, source: str, said: str) -> str:
    """Return the reply to a tool that found a file of ours at fault: the file without what its words name."""
    failed = Candidate("", context.original.id, source, None)
    verdict = Verdict(_kind(said), stderr=said)
    return _fix(replace(context, attempts=(Attempt(failed, 0, verdict),)))


def _kind(said: str) -> Kind:
    first = said.partition("\n")[0].partition("/")[0].partition(" ")[0]
    return _KINDS.get(first, Kind.ERROR)


_KINDS = {"wrong_result": Kind.WRONG, "rejected": Kind.REJECTED, "timeout": Kind.TIMEOUT}
"""By the first word of what a tool says."""


def _ideas(context: Context) -> str:
    rules = applicable(context.original.source, context)[:_IDEAS]
    if not rules:
        return "- Keep the original as it is: no rule applies to it on this machine."
    return "\n".join(f"- {SAYS[rule]}: {WHY[rule]}." for rule in rules)


def _start(context: Context, sample: int) -> str:
    """Answer with the idea's rule; an idea asked again gets a second rule beside it."""
    base = base_of(context.original.source)
    fitting = applicable(context.original.source, context)
    rule = _rule_of(context.idea or "", fitting, sample)
    if rule is None:
        return _file(context, base, [])
    ways = [(rule,), *_options((rule,), fitting)]
    return _file(context, base, ways[sample % len(ways)] if context.idea else (rule,))


def _rule_of(idea: str, rules: Sequence[Rule], sample: int) -> Rule | None:
    """Return the rule whose words an idea holds, else one by sample number."""
    told = [rule for rule in rules if SAYS[rule] in idea]
    named = [rule for rule in rules if _names(rule, idea)]
    if told or named:
        return (told or named)[0]
    return rules[sample % len(rules)] if rules else None


def _improve(context: Context, sample: int) -> str:
    base, rules = _origin(context, context.parent or context.original)
    options = _options(rules, applicable(base.source, context))
    if context.idea:
        rule = _rule_of(context.idea, [option[-1] for option in options], sample)
        return _file(context, base, together([*rules, rule]) if rule else rules)
    return _file(context, base, options[sample % len(options)] if options else rules)


def _origin(context: Context, candidate: Candidate) -> tuple[Base, tuple[Rule, ...]]:
    """Return what to build on, and the rules already in it.

    A candidate of ours is made again from the original; any other is the base itself.
    """
    original = base_of(context.original.source)
    if candidate.id == context.original.id:
        return original, ()
    if is_derived(candidate.source, original, context.device):
        return original, rules_in(candidate.source)
    return base_of(candidate.source), ()


def _options(rules: tuple[Rule, ...], fitting: Sequence[Rule]) -> list[tuple[Rule, ...]]:
    """Return each way to go on from `rules`: one more rule, then another mode of one of them."""
    kinds = (COMPILES, HALVES)
    unused = [rule for rule in fitting if rule not in rules]
    modes = [rule for rule in unused if any(rule in k and set(k) & set(rules) for k in kinds)]
    new = [rule for rule in unused if rule not in modes]
    ways = [together([*rules, rule]) for rule in [*new, *modes]]
    return list(dict.fromkeys(ways))


def _fix(context: Context) -> str:
    failed = context.attempts[-1]
    for source in (context.original, context.parent):
        base = base_of(source.source) if source else None
        if base and is_derived(failed.candidate.source, base, context.device):
            rules = rules_in(failed.candidate.source)
            return _file(context, base, _without(rules, failed.verdict))
    parent = context.parent or context.original
    return _file(context, base_of(parent.source), [])


def _without(rules: tuple[Rule, ...], verdict: Verdict) -> tuple[Rule, ...]:
    """Return the rules without the one to blame: likeliest, named by the error, or the newest."""
    said = "\n".join((verdict.code, verdict.cause, verdict.stderr, verdict.stdout))
    likely = [rule for rule in _SUSPECTS.get(verdict.kind, ()) if rule in rules]
    named = [rule for rule in rules if _names(rule, said)]
    dropped = (likely or named or list(rules[-1:]))[:1]
    return tuple(rule for rule in rules if rule not in dropped)


def _names(rule: Rule, text: str) -> bool:
    pattern = _NAMED[Rule.COMPILE if rule in COMPILES else rule]
    return re.search(pattern, text, re.IGNORECASE) is not None


def _file(context: Context, base: Base, rules: Sequence[Rule]) -> str:
    source = derive(base, rules, context.device)
    done = ", ".join(SAYS[rule] for rule in together(rules)) or "nothing but a subclass"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
    return f"By rule: {done}.\n\n{fence}python\n{source.rstrip()}\n{fence}\n"
