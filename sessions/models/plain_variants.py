"""The plain variants of a task's file: what one line of PyTorch gives, by the offline rules.

| on | alone | with torch.compile |
| --- | --- | --- |
| GPU | each compile mode, TF32, bf16, fp16, channels_last, CUDA graph | each but the modes |
| CPU | compile default and max-autotune, bf16, channels_last | each but the modes |

Where half precision and channels_last both apply, one more has all three. A pure function of its arguments: only
rules that the precision policy and the device allow take part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models.derived import base_of, derive
from sessions.models.rules import COMPILES, HALVES, Rule, applicable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.protocol import Context

_NOT_PLAIN = {Rule.FUSED_ATTENTION}
"""Rewrites the program, so it is an idea of its own."""


def plain_variants(context: Context) -> list[str]:
    """Return the sources of the plain variants of a context's original, by usual gain of their first rule.

    None where the file is no Python, or no rule applies.
    """
    source, device = context.original.source, context.device
    fits = [rule for rule in applicable(source, context) if rule not in _NOT_PLAIN]
    base = base_of(source)
    return [derive(base, rules, device) for rules in combinations(fits, device)]


def combinations(fits: Sequence[Rule], device: str) -> list[tuple[Rule, ...]]:
    """Return which of the applicable rules are tried together: each alone, then with torch.compile."""
    on_cpu = not device.startswith("cuda")
    alone = [rule for rule in fits if not (on_cpu and rule is Rule.COMPILE_OVERHEAD)]  # no graphs
    others = [rule for rule in alone if rule not in COMPILES]
    mode = Rule.COMPILE if on_cpu else Rule.COMPILE_AUTOTUNE
    if mode not in fits:
        return [(rule,) for rule in alone]
    # a graph cannot hold the graphs of max-autotune
    pairs = [(rule, Rule.COMPILE if rule is Rule.CUDA_GRAPH else mode) for rule in others]
    half = next((rule for rule in others if rule in HALVES), None)
    both = half is not None and Rule.CHANNELS_LAST in others
    whole = [(half, Rule.CHANNELS_LAST, mode)] if half is not None and both else []
    return [*((rule,) for rule in alone), *pairs, *whole]
