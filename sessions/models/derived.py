"""A candidate's file made from a task's or a parent's by rules: the source is copied, a subclass follows.

```
# change: torch.compile, mode max-autotune
# rules: compile-max-autotune, bf16
… the base file, its `ModelNew` renamed if it has one …
class ModelNew(Model): the rules, around Model.forward
```
Parameters keep their names, since the subclass adds none. The same base and rules always give the same file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.models.attention import fused
from sessions.models.python_source import renamed, unused
from sessions.models.rules import SAYS, Rule, together
from sessions.models.wrapper import wrapper

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADER = re.compile(r"#\s*(change|rules)\s*:")
_RULES = re.compile(r"^# rules:(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Base:
    """What a candidate is made from."""

    source: str
    """Defines `model`, and no `ModelNew`."""
    model: str


def base_of(source: str) -> Base:
    """Return a task's or a candidate's file as a base: `ModelNew`, if there is one, gets another name."""
    plain = _without_header(source.replace("\r\n", "\n").replace("\r", "\n"))
    if not re.search(r"\bModelNew\b", plain):
        return Base(plain, "Model")
    name = unused(plain, "ModelBefore")
    return Base(renamed(plain, "ModelNew", name), name)


def derive(base: Base, rules: Sequence[Rule], device: str, change: str = "") -> str:
    """Return the candidate that applies these rules, in an order of our own, to the base.

    `change`: what the first line says; the rules themselves if empty.
    """
    kept = together(rules)
    source = fused(base.source) if Rule.FUSED_ATTENTION in kept else base.source
    says = change or ", ".join(SAYS[rule] for rule in kept) or "the original, unchanged"
    header = f"# change: {says}\n# rules: {', '.join(kept) or 'none'}\n"
    return f"{header}{source.rstrip()}\n\n\n{wrapper(base.model, kept, device, source)}"


def rules_in(source: str) -> tuple[Rule, ...]:
    """Return the rules that a file's `# rules:` line names."""
    found = _RULES.search(source)
    words = [word.strip() for word in found.group(1).split(",")] if found else []
    return tuple(Rule(word) for word in words if word in set(Rule))


def is_derived(source: str, base: Base, device: str) -> bool:
    """Tell whether a file is what `derive` makes of this base with the rules it names."""
    rules = rules_in(source)
    return _body(source) == _body(derive(base, rules, device))


def _body(source: str) -> str:
    return _without_header(source).strip()


def _without_header(source: str) -> str:
    lines = source.split("\n")
    while lines and _HEADER.match(lines[0]):
        lines.pop(0)
    return "\n".join(lines)
