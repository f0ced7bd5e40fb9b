"""Whether a trajectory is fixed again, with which prompt, by which model.

```
last step          fixes left         none left
unusable reply     again              gave_up
correct            works              works
error, timeout     fix-error          gave_up
wrong              fix-wrong          gave_up
rejected           fix-rejected       gave_up
not checkable      fix-unchecked      lost
unavailable        lost               lost
```
A trajectory that asks for ideas has one step and no fixes: the strategy itself asks once more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from strategies.protocol import (
    Attempt,
    Close,
    Fix,
    Kind,
    PromptRole,
    Reason,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_CHECKABLE = "not_checkable"
FIX_MODEL = "fix"
"""The configured model role of EFA."""
IMPROVE_MODEL = "improve"
"""The configured model role of COA."""

_CASCADE_PATIENCE = 2


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply without a candidate: a query and a step, no attempt."""

    fault: str
    """What was wrong with it, as told to the model."""


Step = Attempt | Unusable


@dataclass(frozen=True, slots=True)
class FixRules:
    """How long to go on, and with whom."""

    fixes: int
    models: tuple[str, ...] = (FIX_MODEL,)
    """The cascade, cheapest first: the next after two failed fixes or a repeated error."""


def after(steps: Sequence[Step], rules: FixRules) -> Fix | Close:
    """Decide what follows the last of a trajectory's steps (at least one)."""
    last = steps[-1]
    left = rules.fixes - (len(steps) - 1)
    if isinstance(last, Unusable):
        again = Fix(PromptRole.AGAIN, _model(steps, rules))
        return again if left > 0 else Close(Reason.GAVE_UP)
    kind = last.verdict.kind
    if kind is Kind.CORRECT:
        return Close(Reason.WORKS)
    role = fix_role(last.verdict)
    if role is None or left <= 0:
        return Close(Reason.LOST if kind is Kind.UNAVAILABLE else Reason.GAVE_UP)
    return Fix(role, _model(steps, rules))


def fix_role(verdict: Verdict) -> PromptRole | None:
    """Return which prompt asks for this verdict's fix; None where there is nothing to fix."""
    match verdict.kind:
        case Kind.ERROR | Kind.TIMEOUT:
            return PromptRole.FIX_ERROR
        case Kind.WRONG:
            return PromptRole.FIX_WRONG
        case Kind.REJECTED:
            return PromptRole.FIX_REJECTED
        case Kind.UNAVAILABLE:
            return PromptRole.FIX_UNCHECKED if verdict.code == NOT_CHECKABLE else None
        case Kind.CORRECT:
            return None
        case _:
            assert_never(verdict.kind)


def asked(steps: Sequence[Step], opening: PromptRole) -> PromptRole:
    """Return what `again` repeats: the fix of the latest attempt, or the opening prompt."""
    attempts = attempts_of(steps)
    return (fix_role(attempts[-1].verdict) if attempts else None) or opening


def attempts_of(steps: Sequence[Step]) -> tuple[Attempt, ...]:
    """Return the steps that reached the evaluator."""
    return tuple(step for step in steps if isinstance(step, Attempt))


def signature(verdict: Verdict) -> str:
    """Return what makes two failures the same: kind and last line, without numbers and paths."""
    lines = (verdict.stderr.strip() or verdict.cause.strip() or verdict.code).splitlines()
    line = re.sub(r"\S*[/\\]\S*", "PATH", lines[-1] if lines else "")
    return f"{verdict.kind}: {re.sub(r'0x[0-9a-fA-F]+|[0-9]+(?:[.][0-9]+)?', '#', line)}"


def _model(steps: Sequence[Step], rules: FixRules) -> str:
    if not attempts_of(steps):
        return IMPROVE_MODEL
    return rules.models[min(_level(steps), len(rules.models) - 1)]


def _level(steps: Sequence[Step]) -> int:
    """Return how far down the cascade these steps lead."""
    level = failed_fixes = 0
    seen: set[str] = set()
    by_fixer = False
    for step in steps:
        repeated = isinstance(step, Attempt) and signature(step.verdict) in seen
        failed_fixes += by_fixer
        if repeated or failed_fixes >= _CASCADE_PATIENCE:
            level, failed_fixes, seen = level + 1, 0, set[str]()
        if isinstance(step, Attempt):
            by_fixer = True
            seen.add(signature(step.verdict))
    return level
