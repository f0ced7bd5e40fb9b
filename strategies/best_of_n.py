"""best-of-n: independent answers to one prompt, the yardstick any search must beat.

Every proposal starts from the original, without an idea; nothing is learnt between proposals, so the
state is a counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strategies.opening import taken_up
from strategies.protocol import Proposal, Role
from strategies.settings import number

if TYPE_CHECKING:
    from strategies.protocol import JsonMap, Outcome, View


@dataclass(frozen=True, slots=True)
class BestOfNSettings:
    """What a person may set of a best-of-n search."""

    queries: int = number(300, 1, 1_000_000, "hard limit on calls to language models")
    places: int = number(10, 1, 1_000, "trajectories that run at once")
    fixes: int = number(0, 0, 100, "fixes of one trajectory after its first answer")
    fix_memory: int = number(0, 0, 100, "earlier attempts shown to the error fixing agent")


class BestOfN:
    """As many first answers as the budget pays."""

    name = "best-of-n"
    version = 1
    waits = False
    seats = 0

    def __init__(self, settings: BestOfNSettings, seed: int) -> None:
        """Start a fresh search; the seed is not used, since nothing is drawn."""
        self.settings = settings
        self._next_id = 1
        self._seed = seed

    def propose(self, view: View) -> list[Proposal]:
        """Fill every free place, as far as the queries go."""
        free = min(view.places - len(view.open), view.queries_left)
        return [self._start(view) for _ in range(free)]

    def absorb(self, outcome: Outcome) -> None:
        """Learn nothing."""

    def dump(self) -> dict[str, Any]:
        """Return version and counter as JSON."""
        return {"version": self.version, "seed": self._seed, "next_id": self._next_id}

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state.

        Raises:
            StateRefused: it is of a version this one cannot read, or lacks a part.
        """
        read = taken_up(self, state, lambda dumped: (dumped["seed"], dumped["next_id"]))
        self._seed, self._next_id = read

    def _start(self, view: View) -> Proposal:
        index = self._next_id - 1
        self._next_id += 1
        meta = {"phase": 0, "position": index}
        return Proposal(f"p{index + 1}", Role.START, view.original.id, meta=meta)
