"""PIKE-B: ideas, then phases of mutations from the fastest few of the phase before.

```
ideas ──▶ phase 0: each idea from the original ──▶ phase 1: the top 4 share the width ──▶ phase 2 …
```
The phase is the only barrier. No random draws: the seed only travels in the state.
Source: arXiv 2511.16964; the rules of seed selection as in the public code, pike-project/pike.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

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
from strategies.selection import Seat, bins, branch_first, ranked, resize
from strategies.settings import number, switch, word

EVER_KEPT = 100
"""How many of the fastest `keep_best` remembers: every dump is kept, so a state stays small."""


@dataclass(frozen=True, slots=True)
class PikeBSettings:
    """What a person may set of a PIKE-B search."""

    queries: int = number(300, 1, 1_000_000, "hard limit on calls to language models")
    width: int = number(10, 1, 1_000, "trajectories per phase")
    places: int = number(10, 1, 1_000, "trajectories that run at once")
    top: int = number(4, 1, 1_000, "seeds per phase")
    fixes: int = number(5, 0, 100, "fixes of one trajectory after its first answer")
    ideas: int = number(10, 0, 10, "ideas asked for at the start; 0 goes without")
    seed_rule: str = word(
        "global",
        ("global", "branch-first"),
        "seeds: fastest of the phase, or of each position first",
    )
    keep_best: bool = switch(False, "the fastest ever joins every pool of seeds")
    fix_memory: int = number(
        0, 0, 100, "earlier attempts of the chain shown to the error fixing agent"
    )


@dataclass(frozen=True, slots=True)
class Landing:
    """What one closed trajectory leaves for the next decision."""

    ideas: tuple[str, ...]
    seat: Seat | None


@dataclass(slots=True)
class State:
    """All that PIKE-B remembers; JSON in `dump`."""

    seed: int
    next_id: int = 1
    asked: int = 0
    """How often ideas were asked for."""
    ideas: list[str] = field(default_factory=list[str])
    phase: int = 0
    """The phase that is proposed next."""
    pool: list[Seat] = field(default_factory=list[Seat])
    """Correct candidates closed since the last phase was proposed."""
    ever: list[Seat] = field(default_factory=list[Seat])
    """With `keep_best`: the fastest so far; several, since a ban may fall on the first."""
    inbox: list[Landing] = field(default_factory=list[Landing])


class PikeB:
    """The phase-wise search of the paper."""

    name = "pike-b"
    version = 1
    waits = False

    def __init__(self, settings: PikeBSettings, seed: int) -> None:
        """Start a fresh search; `load` takes up an old one."""
        self.settings = settings
        self._state = State(seed)

    @property
    def seats(self) -> int:
        """As many as there are seeds."""
        return self.settings.top

    def propose(self, view: View) -> list[Proposal]:
        """Return the next phase once the last one is closed, else `[]`.

        What a person forks or submits holds no barrier; closed before phase 1, it waits for
        phase 1.
        """
        self._empty_inbox()
        n = min(self.settings.width, view.queries_left)
        if n <= 0 or any(_own(proposal) for proposal in view.open):
            return []
        if self._state.phase == 0 and lacks_ideas(
            self._state, self.settings.ideas, view.queries_left
        ):
            return [self._ask(view)]
        proposals = self._start(n, view) if self._state.phase == 0 else self._improve(n, view)
        self._state.phase += 1
        return proposals

    def absorb(self, outcome: Outcome) -> None:
        """Keep what a closed trajectory found until the next `propose`."""
        position = outcome.proposal.meta.get("position") if _own(outcome.proposal) else None
        self._state.inbox.append(Landing(outcome.ideas, seat_of(outcome, position)))

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
        state = self._state
        for landing in state.inbox:
            keep_ideas(state, landing.ideas, self.settings.ideas)
            if landing.seat is not None:
                state.pool.append(landing.seat)
        if self.settings.keep_best:
            landed = [landing.seat for landing in state.inbox if landing.seat is not None]
            state.ever = ranked([*state.ever, *landed])[:EVER_KEPT]
        state.inbox = []

    def _ask(self, view: View) -> Proposal:
        self._state.asked += 1
        return Proposal(next_name(self._state), Role.IDEAS, view.original.id, meta={"phase": 0})

    def _start(self, n: int, view: View) -> list[Proposal]:
        width = self.settings.width
        ideas: list[str | None] = [*resize(self._state.ideas, width)] or [None] * width
        return [
            Proposal(
                next_name(self._state),
                Role.START,
                view.original.id,
                (),
                idea,
                {"phase": 0, "position": position},
            )
            for position, idea in enumerate(ideas[:n])
        ]

    def _improve(self, n: int, view: View) -> list[Proposal]:
        seeds = self._order(view)[: self.settings.top]
        counts = bins(n, [view.weight.get(seed, 1.0) for seed in seeds])
        state, phase = self._state, self._state.phase
        state.pool = []
        return [
            Proposal(
                next_name(state), Role.IMPROVE, seed, meta={"phase": phase, "position": position}
            )
            for position, (seed, count) in enumerate(zip(seeds, counts, strict=True))
            for _ in range(count)
        ]

    def _order(self, view: View) -> list[str]:
        """Return the ids in line for a seat: pinned, pool, original; each once, none banned."""
        rule = branch_first if self.settings.seed_rule == "branch-first" else ranked
        alive = [seat for seat in self._pool(view) if seat.candidate not in view.banned]
        line = [seat.candidate for seat in (*pinned_seats(view), *rule(alive))]
        return [*dict.fromkeys(c for c in line if c not in view.banned), view.original.id]

    def _pool(self, view: View) -> list[Seat]:
        """Return who is in line; with `keep_best` the fastest ever besides, a branch of its own."""
        state = self._state
        fastest = ranked(seat for seat in state.ever if seat.candidate not in view.banned)[:1]
        return [*state.pool, *(replace(seat, position=None) for seat in fastest)]


def _own(proposal: Proposal) -> bool:
    return proposal.id.startswith("p")


def _state(dumped: JsonMap) -> State:
    return State(
        seed=dumped["seed"],
        next_id=dumped["next_id"],
        asked=dumped["asked"],
        ideas=list(dumped["ideas"]),
        phase=dumped["phase"],
        pool=[Seat(**seat) for seat in dumped["pool"]],
        ever=[Seat(**seat) for seat in dumped["ever"]],
        inbox=[Landing(tuple(x["ideas"]), seat_from(x["seat"])) for x in dumped["inbox"]],
    )
