"""The hosts that joined: their places, how full each is, which rest after failures."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_server.executor import same_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_server.executor import Executor, Place, Work

log = logging.getLogger(__name__)

_FAULTS_BEFORE_REST = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, in seconds, and how often work is tried."""

    tries: int = 3
    rest: float = 5.0
    """Of a host after its first failure; doubled with each that follows at once."""
    longest_rest: float = 300.0
    no_host: float = 60.0
    """Until a host comes that will do."""
    work: float = 900.0
    """For one try: a host that takes longer is as good as lost."""


@dataclass(slots=True)
class Member:
    """A host that joined."""

    name: str
    executor: Executor
    places: tuple[Place, ...]
    taken: Counter[str] = field(default_factory=Counter[str])
    """Evaluations on each device."""
    failures: int = 0
    """In a row."""
    rests_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Seat:
    """One device of a host, for one evaluation."""

    member: Member
    place: Place

    @property
    def load(self) -> float:
        """Return how full it is: 1 when as many run as it takes at once."""
        return self.member.taken[self.place.device] / max(1, self.place.of)

    @property
    def has_room(self) -> bool:
        """Return whether it takes one more."""
        most = max(1, self.place.of) + self.place.ahead
        return self.member.taken[self.place.device] < most


@dataclass(slots=True)
class Members:
    """Hosts by name."""

    patience: Patience
    clock: Callable[[], float] = time.monotonic
    _of_name: dict[str, Member] = field(default_factory=dict[str, Member])
    _gone: dict[str, Member] = field(default_factory=dict[str, Member])
    """Those that left: whoever fails, leaves and comes back at once must rest all the same."""

    def join(self, name: str, executor: Executor, places: tuple[Place, ...]) -> None:
        """Add a host; one of this name before it is forgotten, but for its failures."""
        before = self._of_name.get(name) or self._gone.pop(name, None)
        member = Member(name, executor, places)
        if before is not None:
            member.failures, member.rests_until = before.failures, before.rests_until
        self._of_name[name] = member

    def leave(self, name: str) -> None:
        """Use a host no more."""
        if name in self._of_name:
            self._gone[name] = self._of_name.pop(name)

    def all(self) -> list[Member]:
        """Return them in the order in which they joined."""
        return list(self._of_name.values())

    def rests(self, member: Member) -> bool:
        """Return whether a host gets no work for a while."""
        return self.clock() < member.rests_until

    def failed(self, member: Member, *, at_once: bool) -> None:
        """Count a failure, and let the host rest: at once, or from the third in a row."""
        member.failures += 1
        if at_once or member.failures >= _FAULTS_BEFORE_REST:
            rest_s = self.patience.rest * 2 ** min(member.failures - 1, 16)
            rest_s = min(rest_s, self.patience.longest_rest)
            member.rests_until = self.clock() + rest_s
            log.warning("%s rests for %.3g s: failure %d", member.name, rest_s, member.failures)
        current = self._of_name.get(member.name) or self._gone.get(member.name)
        if current is not None and current is not member:  # it joined again meanwhile
            current.failures, current.rests_until = member.failures, member.rests_until

    def next_rested_s(self) -> float | None:
        """Return when the first of those that rest may be used again, None where none rests."""
        rests = [m.rests_until - self.clock() for m in self.all() if self.rests(m)]
        return min(rests, default=None)

    def fitting(self, work: Work) -> list[Seat]:
        """Return the places that will do for a work, those that rest among them."""
        return list(self.seats(work.device, work.device_name))

    def seats(self, device: str, device_name: str = "") -> Iterator[Seat]:
        """Yield the places of a device's name and of a model; `auto` is a GPU where any host has one."""
        seats = [Seat(member, place) for member in self.all() for place in member.places]
        gpus = [s for s in seats if s.place.device != "cpu"]
        match device:
            case "auto":
                found = gpus or seats
            case "cuda":
                found = gpus
            case _:
                found = [s for s in seats if s.place.device == device]
        yield from (s for s in found if same_model(s.place.device_name, device_name))

    def has_no(self, device: str, device_name: str = "") -> str:
        """Return a sentence on a device that no host has."""
        places = [place for member in self.all() for place in member.places]
        there = ", ".join(sorted({f"{p.device} ({p.device_name})" for p in places}))
        wanted = f"{device!r} that is {device_name}" if device_name else repr(device)
        return f"No host has a device {wanted}: there are {there or 'none'}."
