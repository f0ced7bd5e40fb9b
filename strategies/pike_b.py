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

from strategies.errors import StateRefused, check_version
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
        if self._lacks_ideas():
            return [self._ask(view)]
        proposals = self._start(n, view) if self._state.phase == 0 else self._improve(n, view)
        self._state.phase += 1
        return proposals

    def absorb(self, outcome: Outcome) -> None:
        """Keep what a closed trajectory found until the next `propose`."""
        seat = None
        if outcome.works is not None:
            position = outcome.proposal.meta.get("position") if _own(outcome.proposal) else None
            works = outcome.works
            seat = Seat(works.id, works.runtime_ms, outcome.proposal.id, position)
        self._state.inbox.append(Landing(outcome.ideas, seat))

    def dump(self) -> dict[str, Any]:
        """Return version and state as JSON."""
        return {"version": self.version, **asdict(self._state)}

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state.

        Raises:
            StateRefused: it is of a version this one cannot read, or lacks a part.
        """
        check_version(self.name, self.version, state)
        self._state = _state(state)

    def _empty_inbox(self) -> None:
        state = self._state
        for landing in state.inbox:
            state.ideas = state.ideas or list(landing.ideas[: self.settings.ideas])
            if landing.seat is not None:
                state.pool.append(landing.seat)
        if self.settings.keep_best:
            landed = [landing.seat for landing in state.inbox if landing.seat is not None]
            state.ever = ranked([*state.ever, *landed])[:EVER_KEPT]
        state.inbox = []

    def _lacks_ideas(self) -> bool:
        state = self._state
        asked_enough = state.asked >= 2 or state.phase > 0
        return self.settings.ideas > 0 and not state.ideas and not asked_enough

    def _ask(self, view: View) -> Proposal:
        self._state.asked += 1
        return Proposal(self._id(), Role.IDEAS, view.original.id, meta={"phase": 0})

    def _start(self, n: int, view: View) -> list[Proposal]:
        width = self.settings.width
        ideas: list[str | None] = [*resize(self._state.ideas, width)] or [None] * width
        return [
            Proposal(
                self._id(),
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
        phase = self._state.phase
        self._state.pool = []
        return [
            Proposal(self._id(), Role.IMPROVE, seed, meta={"phase": phase, "position": position})
            for position, (seed, count) in enumerate(zip(seeds, counts, strict=True))
            for _ in range(count)
        ]

    def _order(self, view: View) -> list[str]:
        """Return the ids in line for a seat: pinned, pool, original; each once, none banned."""
        pinned = ranked(Seat(c.id, c.runtime_ms, c.id, None) for c in view.pinned)
        rule = branch_first if self.settings.seed_rule == "branch-first" else ranked
        alive = [seat for seat in self._pool(view) if seat.candidate not in view.banned]
        line = [seat.candidate for seat in (*pinned, *rule(alive))]
        return [*dict.fromkeys(c for c in line if c not in view.banned), view.original.id]

    def _pool(self, view: View) -> list[Seat]:
        """Return who is in line; with `keep_best` the fastest ever besides, a branch of its own."""
        state = self._state
        fastest = ranked(seat for seat in state.ever if seat.candidate not in view.banned)[:1]
        return [*state.pool, *(replace(seat, position=None) for seat in fastest)]

    def _id(self) -> str:
        number = self._state.next_id
        self._state.next_id += 1
        return f"p{number}"


def _own(proposal: Proposal) -> bool:
    return proposal.id.startswith("p")


def _state(dumped: JsonMap) -> State:
    try:
        return State(
            seed=dumped["seed"],
            next_id=dumped["next_id"],
            asked=dumped["asked"],
            ideas=list(dumped["ideas"]),
            phase=dumped["phase"],
            pool=[Seat(**seat) for seat in dumped["pool"]],
            ever=[Seat(**seat) for seat in dumped["ever"]],
            inbox=[_landing(landing) for landing in dumped["inbox"]],
        )
    except (KeyError, TypeError) as damage:
        raise StateRefused(f"The saved state of pike-b is damaged: {damage}.") from damage


def _landing(dumped: JsonMap) -> Landing:
    seat = dumped["seat"]
    return Landing(tuple(dumped["ideas"]), None if seat is None else Seat(**seat))
