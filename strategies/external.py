"""external: no proposals of its own; other programs' agents hand in attempts, each of which the engine opens itself.

It ends by its attempts, its hours or its idle hours, or by a person: never because it has nothing to propose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strategies.errors import check_version
from strategies.settings import number, real

if TYPE_CHECKING:
    from strategies.protocol import JsonMap, Outcome, Proposal, View

NAME = "external"


@dataclass(frozen=True, slots=True)
class ExternalSettings:
    """What a person, or the agent that opens it, may set of an external search."""

    attempts: int = number(50, 1, 100_000, "attempts after which it ends")
    idle_hours: float = real(
        2.0, 0.01, 1_000.0, "hours after which it ends if nobody hands anything in"
    )
    places: int = number(4, 1, 1_000, "attempts that are evaluated at once")

    @property
    def queries(self) -> int:
        """Return 0: it asks no language model."""
        return 0

    @property
    def fixes(self) -> int:
        """Return 0: whoever hands an attempt in reads its verdict, and may hand in the next."""
        return 0

    @property
    def fix_memory(self) -> int:
        """Return 0: there are no fixes."""
        return 0


class External:
    """Waits for what others hand in."""

    name = NAME
    version = 1
    waits = True
    seats = 10
    """A pin tells the agents what to build on: there may be as many as are worth reading."""

    def __init__(self, settings: ExternalSettings, seed: int) -> None:
        """Start; the seed is not used, since nothing is drawn."""
        del seed
        self.settings = settings

    def propose(self, view: View) -> list[Proposal]:
        """Propose nothing."""
        del view
        return []

    def absorb(self, outcome: Outcome) -> None:
        """Learn nothing: what to try next is decided outside."""

    def dump(self) -> dict[str, Any]:
        """Return the version as JSON: there is no other state."""
        return {"version": self.version}

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state.

        Raises:
            StateRefused: it is of a version this one cannot read.
        """
        check_version(self.name, self.version, state)
