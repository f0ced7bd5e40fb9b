"""What every strategy can have beside its own settings; the engine carries it out, and no strategy knows.

| option | where | what |
| --- | --- | --- |
| `plain_start` | before the first query | the plain variants of the original as attempts, without a query |
| `informed` | prompts of IBA and COA | the machine's facts, the task's floor, the plain variants' times |
| `profile_guided` | prompts of COA | where the parent's time goes, what became of its other children |

All are off unless a preset or a person turns them on: the paper's presets have none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from strategies.settings import switch

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may turn on for any search."""

    plain_start: bool = switch(
        False, "try what one line of PyTorch gives before the first query, which costs none"
    )
    informed: bool = switch(
        False, "prompts hold the machine's facts, the task's floor and what plain variants take"
    )
    profile_guided: bool = switch(
        False, "prompts hold the parent's costliest kernels and what its other children came to"
    )


NAMES = tuple(field.name for field in fields(Options))
ALL_ON: Mapping[str, bool] = dict.fromkeys(NAMES, True)


def held(settings: Mapping[str, object]) -> Options:
    """Return the options in a session's complete settings; what an older session lacks is off."""
    return Options(**{name: bool(settings.get(name, False)) for name in NAMES})
