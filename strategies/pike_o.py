"""PIKE-O: islands of candidates, an archive, crossover and migration, after OpenEvolve.

```
a place falls free ─▶ slot: an island ─▶ parent, elites, inspirations ─▶ child joins its parent's island
accepted results ─▶ turn passes from island to island; after enough generations the best migrate
```
Draws for a proposal come from a generator of its own, seeded by its id, so that a search can be resumed.
Source: arXiv 2511.16964; the rules as in the public code, pike-project/pike-openevolve.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from strategies.opening import next_name, taken_up
from strategies.pike_o_choice import Choice
from strategies.pike_o_grid import Grid, Measure, measured
from strategies.pike_o_library import Library, fastest
from strategies.protocol import Candidate, JsonMap, Kind, Outcome, Proposal, Reason, Role, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.pike_o_settings import PikeOSettings


@dataclass(frozen=True, slots=True)
class Landing:
    """What one closed trajectory leaves for the next decision."""

    accepted: bool
    """It made at least one attempt: it counts as a result."""
    role: str
    parent: str
    island: int | None
    """Where a child of the strategy's own proposal goes; None: a person proposed it."""
    candidate: str = ""
    """What joins the library; empty: nothing does."""
    runtime_ms: float | None = None
    measure: Measure | None = None


@dataclass(slots=True)
class Turns:
    """Whose turn it is, and how many generations each island has had."""

    island: int = 0
    count: int = 0
    """Accepted results of this turn."""
    generations: list[int] = field(default_factory=list[int])
    migrated_at: int = 0
    """The highest generation at the last migration."""

    def accept(self, length: int) -> None:
        """Count one result; a turn of `length` results that is full passes on first."""
        if self.count >= length:
            self.island, self.count = (self.island + 1) % len(self.generations), 0
        self.count += 1
        self.generations[self.island] += 1

    def migration_due(self, interval: int) -> bool:
        """Return whether the islands exchange now, and note it."""
        highest = max(self.generations)
        due = len(self.generations) > 1 and highest - self.migrated_at >= interval
        self.migrated_at = highest if due else self.migrated_at
        return due


@dataclass(slots=True)
class State:
    """All that PIKE-O remembers besides the library; JSON in `dump`."""

    seed: int
    turns: Turns
    next_id: int = 1
    rotation: int = 0
    """The island that comes first where several have equally few open proposals."""
    results: int = 0
    """Accepted so far."""
    inbox: list[Landing] = field(default_factory=list[Landing])


class PikeO:
    """The evolutionary search of the paper, with all its ablations."""

    name = "pike-o"
    version = 1
    waits = False

    def __init__(self, settings: PikeOSettings, seed: int) -> None:
        """Start a fresh search; `load` takes up an old one."""
        self.settings = settings
        self.library = Library(settings, Grid(settings.grid))
        self._state = State(seed, Turns(generations=[0] * settings.islands))

    @property
    def seats(self) -> int:
        """As many as the archive has."""
        return self.settings.archive

    @property
    def turns(self) -> Turns:
        """Whose turn it is."""
        return self._state.turns

    def propose(self, view: View) -> list[Proposal]:
        """Fill the free places, each from the island that has the fewest open proposals."""
        self.library.banned = view.banned
        if not self.library.homes:
            self._add_original(view.original)
        self._empty_inbox(view)
        self.library.shrink(fastest(self.library.alive)[:1])  # a ban may have been lifted
        own = [proposal for proposal in view.open if _own(proposal)]
        made: list[Proposal] = []
        for _ in range(min(self._free(view, own), view.queries_left)):
            made.append(self._proposal(view, [*own, *made]))
        return made

    def absorb(self, outcome: Outcome) -> None:
        """Keep what a closed trajectory found until the next `propose`."""
        proposal, kept = outcome.proposal, self._kept(outcome)
        island = proposal.meta.get("island") if _own(proposal) else None
        tried = bool(outcome.attempts) or outcome.works is not None
        accepted = (
            tried and proposal.role is not Role.PLAIN
        )  # no result of the search: no turn passes
        landing = Landing(accepted, proposal.role.value, proposal.parent, island)
        if kept is not None:
            name, measure = kept.id, measured(kept.source)
            landing = replace(landing, candidate=name, runtime_ms=kept.runtime_ms, measure=measure)
        self._state.inbox.append(landing)

    def dump(self) -> dict[str, Any]:
        """Return version, state and library as JSON."""
        return {"version": self.version, **asdict(self._state), "library": self.library.dump()}

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state.

        Raises:
            StateRefused: it is of a version this one cannot read, or lacks a part.
        """
        read = taken_up(self, state, self._read)
        self._state, self.library = read

    def _read(self, dumped: JsonMap) -> tuple[State, Library]:
        return _state(dumped), Library.loaded(self.settings, dumped["library"])

    def _add_original(self, original: Candidate) -> None:
        seat = self.settings.original_in_archive
        measure = measured(original.source)
        self.library.add(original.id, original.runtime_ms, 0, measure, seat=seat)

    def _kept(self, outcome: Outcome) -> Candidate | None:
        """Return what joins the library: what works; with `failed_in_library` also what was given up."""
        if outcome.works is not None:
            return outcome.works
        given_up = outcome.reason is Reason.GAVE_UP and outcome.attempts
        if self.settings.failed_in_library and given_up:
            last = outcome.attempts[-1]
            return None if last.verdict.kind is Kind.UNAVAILABLE else last.candidate
        return None

    def _empty_inbox(self, view: View) -> None:
        settings, turns = self.settings, self.turns
        for landing in self._state.inbox:
            self._take_in(landing, view)
            if landing.accepted:
                self._state.results += 1
                turns.accept(max(1, settings.queries // (10 * settings.islands)))
                if turns.migration_due(settings.migration_interval):
                    self.library.migrate()
        self._state.inbox = []

    def _take_in(self, landing: Landing, view: View) -> None:
        if landing.measure is not None:
            island = self._island(landing, view)
            name, runtime_ms = landing.candidate, landing.runtime_ms
            self.library.add(name, runtime_ms, island, landing.measure, seat=True)

    def _island(self, landing: Landing, view: View) -> int:
        """Return where a candidate goes; a file that names no parent goes where there are the fewest."""
        if landing.island is not None:
            return landing.island
        handed_in = landing.role in (Role.SUBMIT, Role.PLAIN)
        no_parent = handed_in and landing.parent == view.original.id
        home = None if no_parent else self.library.homes.get(landing.parent)
        return self.library.smallest() if home is None else home

    def _free(self, view: View, own: Sequence[Proposal]) -> int:
        """Return how many proposals to make now, as far as the queries go."""
        if not self.settings.queue_ahead:
            return view.places - len(view.open)
        islands = self.settings.islands
        return islands * max(1, 2 * view.places // islands) - len(own)

    def _proposal(self, view: View, own: Sequence[Proposal]) -> Proposal:
        state = self._state
        name = next_name(state)
        slot = self._slot(own)
        choice = Choice(self.library, view, Random(f"{state.seed}/{name}").random)  # noqa: S311 - a search, no secret
        drawn, parent = choice.parent(slot)
        shown = choice.shown(parent) if self.settings.prompt == "cross" else ()
        meta = {"island": parent.island, "slot": slot, "draw": drawn, "results": state.results}
        return Proposal(
            name, Role.CROSS if shown else Role.IMPROVE, parent.candidate, shown, meta=meta
        )

    def _slot(self, own: Sequence[Proposal]) -> int:
        """Return the island with the fewest open proposals; of several the next in rotation."""
        islands, state = self.settings.islands, self._state
        crowd = Counter(proposal.meta["slot"] for proposal in own)
        slot = min(range(islands), key=lambda i: (crowd[i], (i - state.rotation) % islands))
        state.rotation = (slot + 1) % islands
        return slot


def _own(proposal: Proposal) -> bool:
    """Return whether the strategy made it, not a person."""
    return proposal.id.startswith("p")


def _state(dumped: JsonMap) -> State:
    return State(
        seed=dumped["seed"],
        turns=Turns(**dumped["turns"]),
        next_id=dumped["next_id"],
        rotation=dumped["rotation"],
        results=dumped["results"],
        inbox=[_landing(landing) for landing in dumped["inbox"]],
    )


def _landing(dumped: JsonMap) -> Landing:
    landing = Landing(**dumped)
    measure = dumped["measure"]
    return landing if measure is None else replace(landing, measure=Measure(**measure))
