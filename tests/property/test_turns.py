"""Places of a server, shared by users and their sessions: nobody starves, and no place is idle while work may start."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.turns import Ticket, Turns

EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
LANES = ("cuda:0", "cuda:1")
USERS = ("ada", "bob", "cyd")
SESSIONS = ("s1", "s2", "s3")
JOINS = st.tuples(
    st.sampled_from(LANES), st.sampled_from(USERS), st.sampled_from(SESSIONS), st.integers(1, 3)
)
ENDS = st.integers(0, 10**6)
"""Which of those under way ends, or of those in line leaves."""
EVENTS = st.lists(st.one_of(JOINS, JOINS, ENDS, ENDS.map(float)), max_size=80)


@dataclass
class Played:
    """Turns, and what an onlooker keeps of them."""

    rooms: dict[str, int]
    waiting: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    under_way: dict[str, Ticket] = field(default_factory=dict[str, Ticket])
    overtaken: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """Who waits: how often each other user was served since its own last was, while that has nothing under way."""
    siblings: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """The same of the sessions of one user."""
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.turns = Turns(lambda lane: self.rooms[lane])

    def join(self, lane: str, user: str, session: str, most: int) -> None:
        ticket = Ticket(f"t{next(self.numbers)}", lane, user, session, most)
        self.waiting[ticket.name] = ticket
        self.overtaken[ticket.name], self.siblings[ticket.name] = Counter(), Counter()
        self.turns.join(ticket)

    def end(self, which: int) -> None:
        if self.under_way:
            name = list(self.under_way)[which % len(self.under_way)]
            del self.under_way[name]
            self.turns.leave(name)

    def give_up(self, which: int) -> None:
        if self.waiting:
            name = list(self.waiting)[which % len(self.waiting)]
            del self.waiting[name]
            self.turns.leave(name)

    def serve(self) -> None:
        for name in self.turns.serve():
            self._started(self.waiting.pop(name))
        self._nothing_idle()

    def _started(self, new: Ticket) -> None:
        for other in self.waiting.values():
            if other.lane != new.lane or not self._may(other):
                continue
            if not any(t.lane == new.lane and t.user == other.user for t in self._held()):
                self.overtaken[other.name][new.user] += other.user != new.user
            elif self._none_of_session(other) and other.user == new.user:
                self.siblings[other.name][new.session] += other.session != new.session
            assert max(self.overtaken[other.name].values(), default=0) <= 1
            assert max(self.siblings[other.name].values(), default=0) <= 1
        for other in self.waiting.values():
            if other.groups[0] == new.groups[0]:
                self.overtaken[other.name].clear()
            if other.groups == new.groups:
                self.siblings[other.name].clear()
        self.under_way[new.name] = new

    def _held(self) -> list[Ticket]:
        return list(self.under_way.values())

    def _none_of_session(self, of: Ticket) -> bool:
        return not any(
            t.lane == of.lane and (t.user, t.session) == (of.user, of.session) for t in self._held()
        )

    def _may(self, ticket: Ticket) -> bool:
        of_session = [
            t for t in self._held() if (t.user, t.session) == (ticket.user, ticket.session)
        ]
        return len(of_session) < ticket.most

    def _nothing_idle(self) -> None:
        for lane, room in self.rooms.items():
            taken = sum(t.lane == lane for t in self._held())
            assert taken <= room
            able = [t for t in self.waiting.values() if t.lane == lane and self._may(t)]
            assert taken == room or not able


@settings(max_examples=EXAMPLES, deadline=None)
@given(EVENTS, st.integers(1, 3), st.integers(1, 3))
def test_nobody_starves_and_no_place_is_idle_while_work_may_start(
    events: list[tuple[str, str, str, int] | int | float], first: int, second: int
) -> None:
    played = Played(dict(zip(LANES, (first, second), strict=True)))
    for event in events:
        match event:
            case tuple():
                played.join(*event)
            case float():
                played.give_up(int(event))
            case _:
                played.end(event)
        played.serve()
    while played.under_way:
        played.end(0)
        played.serve()
    assert not played.waiting


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.integers(1, 16), min_size=2, max_size=3), st.integers(1, 4))
def test_users_that_all_have_work_get_equal_shares(sizes: list[int], room: int) -> None:
    """Jobs of one length: after each round of ends nobody has got two more than another who still waited."""
    played = Played({LANES[0]: room})
    for user, size in zip(USERS, sizes, strict=False):
        for number in range(size):
            played.join(LANES[0], user, SESSIONS[number % 3], 16)
    got = Counter[str]()
    while played.waiting:
        before = set(played.under_way)
        played.serve()
        got.update(played.under_way[n].user for n in set(played.under_way) - before)
        short = {t.user for t in played.waiting.values()}
        assert all(got[user] + 1 >= max(got.values()) for user in short)
        played.end(0)


def test_what_is_over_is_forgotten() -> None:
    turns = Turns(lambda _: 1)
    for number in range(100):
        turns.join(Ticket(f"t{number}", "cpu", "ada", f"s{number}", 1))
        turns.serve()
        turns.leave(f"t{number}")
        turns.leave(f"t{number}")
    assert turns.waiting("ada") == 0
    assert not turns._since  # pyright: ignore[reportPrivateUsage] - what a server that lives for months must not keep
