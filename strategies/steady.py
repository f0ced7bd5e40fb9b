"""steady: PIKE-B's step without its barrier.

```
ideas ──▶ the first `width` proposals: an idea each ──▶ then, whenever a place falls free: one of the fastest few
```
Draws for a proposal come from a generator of its own, seeded by its id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from strategies.opening import (
    keep_ideas,
    lacks_ideas,
    next_name,
    pinned_seats,
    seat_from,
    seat_of,
    taken_up,
)
from strategies.protocol import JsonMap, Outcome, Proposal, Role, View
from strategies.selection import Seat, drawn, ranked, resize
from strategies.settings import number

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 100
"""How many of the fastest are remembered where all time counts: every dump is kept, so a state stays small."""


@dataclass(frozen=True, slots=True)
class SteadySettings:
    """What a person may set of a steady search."""

    queries: int = number(300, 1, 1_000_000, "hard limit on calls to language models")
    width: int = number(10, 1, 1_000, "first proposals, which carry out the ideas")
    places: int = number(10, 1, 1_000, "trajectories that run at once")
    top: int = number(4, 1, 1_000, "fastest candidates that a parent is drawn from")
    window: int = number(
        0, 0, 1_000, "last closed trajectories that the fastest come from; 0: all of them"
    )
    fixes: int = number(5, 0, 100, "fixes of one trajectory after its first answer")
    ideas: int = number(10, 0, 10, "ideas asked for at the start; 0 goes without")
    fix_memory: int = number(
        0, 0, 100, "earlier attempts of the chain shown to the error fixing agent"
    )


@dataclass(frozen=True, slots=True)
class Landing:
    """What one closed trajectory leaves for the next decision."""

    asked: bool
    """It asked for ideas."""
    ideas: tuple[str, ...]
    seat: Seat | None


@dataclass(slots=True)
class State:
    """All that steady remembers; JSON in `dump`."""

    seed: int
    next_id: int = 1
    asked: int = 0
    """How often ideas were asked for."""
    ideas: list[str] = field(default_factory=list[str])
    begun: int = 0
    """Proposals that started from the original."""
    pool: list[Seat | None] = field(default_factory=list[Seat | None])
    """With a window, its closed trajectories, None for a failure; else the fastest."""
    inbox: list[Landing] = field(default_factory=list[Landing])


class Steady:
    """A search that never waits for a phase."""

    name = "steady"
    version = 1
    waits = False

    def __init__(self, settings: SteadySettings, seed: int) -> None:
        """Start a fresh search; `load` takes up an old one."""
        self.settings = settings
        self._state = State(seed)

    @property
    def seats(self) -> int:
        """As many as a parent is drawn from."""
        return self.settings.top

    def propose(self, view: View) -> list[Proposal]:
        """Fill the free places; nothing but the ideas while they are asked for."""
        self._empty_inbox()
        free = min(view.places - len(view.open), view.queries_left)
        if any(proposal.role is Role.IDEAS for proposal in view.open) or free <= 0:
            return []
        wanted, left = self.settings.ideas, view.queries_left
        if self._state.begun == 0 and lacks_ideas(self._state, wanted, left):
            self._state.asked += 1
            return [Proposal(next_name(self._state), Role.IDEAS, view.original.id)]
        return [self._next(view) for _ in range(free)]

    def absorb(self, outcome: Outcome) -> None:
        """Keep what a closed trajectory found until the next `propose`."""
        asked = outcome.proposal.role is Role.IDEAS
        self._state.inbox.append(Landing(asked, outcome.ideas, seat_of(outcome, None)))

    def dump(self) -> dict[str, Any]:
        """Return version and state as JSON."""
        return {"version": self.version, **asdict(self._state)}

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state.

        Raises:
            StateRefused: it is of a version this one cannot read, or lacks a part.
        """
        self._state = taken_up(self, state, _state)

    def _empty_inbox(self) -> None:
        state, window = self._state, self.settings.window
        for landing in state.inbox:
            keep_ideas(state, landing.ideas, self.settings.ideas)
            if not landing.asked:
                state.pool.append(landing.seat)
        timed = [seat for seat in state.pool if seat is not None]
        state.pool = state.pool[-window:] if window else [*ranked(timed)[:KEPT]]
        state.inbox = []

    def _next(self, view: View) -> Proposal:
        parents = self._parents(view)
        name = next_name(self._state)
        if self._state.begun < self.settings.width or not parents:
            return self._start(name, view)
        draw = Random(f"{self._state.seed}/{name}").random  # noqa: S311 - a search, no secret
        parent = drawn(parents, _weights(parents, view.weight), draw())
        return Proposal(name, Role.IMPROVE, parent)

    def _start(self, name: str, view: View) -> Proposal:
        """Return the next idea's turn."""
        position = self._state.begun
        self._state.begun += 1
        ideas = resize(self._state.ideas, self.settings.width)
        idea = ideas[position % len(ideas)] if ideas else None
        meta = {"position": position}
        return Proposal(name, Role.START, view.original.id, (), idea, meta)

    def _parents(self, view: View) -> list[str]:
        """Return who a parent is drawn from: the pinned, then the fastest, none banned."""
        pool = ranked(seat for seat in self._state.pool if seat is not None)
        line = dict.fromkeys(seat.candidate for seat in (*pinned_seats(view), *pool))
        return [name for name in line if name not in view.banned][: self.settings.top]


def _weights(names: list[str], boosts: Mapping[str, float]) -> list[float]:
    return [boosts.get(name, 1.0) for name in names]


def _state(dumped: JsonMap) -> State:
    return State(
        seed=dumped["seed"],
        next_id=dumped["next_id"],
        asked=dumped["asked"],
        ideas=list(dumped["ideas"]),
        begun=dumped["begun"],
        pool=[seat_from(seat) for seat in dumped["pool"]],
        inbox=[_landing(landing) for landing in dumped["inbox"]],
    )


def _landing(dumped: JsonMap) -> Landing:
    return Landing(dumped["asked"], tuple(dumped["ideas"]), seat_from(dumped["seat"]))
