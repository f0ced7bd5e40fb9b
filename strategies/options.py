"""What every strategy can have beside its own settings; the engine carries it out, and no strategy knows.

| option | where | what |
| --- | --- | --- |
| `plain_start` | before the first query | the plain variants of the original as attempts, without a query |
| `informed` | prompts of IBA and COA | the machine's facts, the task's floor, the plain variants' times |
| `profile_guided` | prompts of COA | where the parent's time goes, what became of its other children |
| `agent_tools` | COA and EFA | they may compile, check, time and profile before they answer, each round a query |

All are off unless a preset or a person turns them on: the paper's presets have none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from strategies.settings import number, switch

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
    agent_tools: bool = switch(
        False,
        "agents may compile, check, time and profile before they answer; each round is a query",
    )
    tool_rounds: int = number(
        6, 2, 50, "with agent_tools: queries of one answer at most, the answer itself included"
    )


NAMES = tuple(field.name for field in fields(Options) if field.default is False)
"""Those that are on or off."""
ALL_ON: Mapping[str, bool] = {name: True for name in NAMES if name != "agent_tools"}
"""As `steady` has them: tools multiply what one answer costs, so a person alone turns them on."""


def held(settings: Mapping[str, object]) -> Options:
    """Return the options in a session's complete settings; what an older session lacks is off."""
    switches = {name: bool(settings.get(name, False)) for name in NAMES}
    rounds = settings.get("tool_rounds")
    return replace(
        Options(**switches), **({"tool_rounds": rounds} if isinstance(rounds, int) else {})
    )
