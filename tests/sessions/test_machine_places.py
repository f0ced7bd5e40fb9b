"""Places shared by the sessions of a machine: never too many, in turn, given back by the dead."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from sessions.machine_places import LONGEST_HOLD_S, MachinePlaces, joined, place_or_none
from sessions.models.limiter import Limiters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT_S = 30.0
"""For another process."""


class HandClock:
    """Time that moves only when someone sleeps."""

    def __init__(self) -> None:
        self.at = 1_000_000.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


def process(
    stack: ExitStack, folder: Path, session: str, *, places: int, waiters: int, hold_s: float
) -> subprocess.Popen[str]:
    """Start a process that takes and gives back places for ever."""
    words = [str(folder), session, "p", str(places), str(waiters), str(hold_s)]
    argv = [sys.executable, "-m", "tests.sessions.place_holder", *words]
    found = stack.enter_context(
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    )
    stack.callback(found.kill)
    return found


def lines(of: subprocess.Popen[str], count: int) -> list[tuple[str, float]]:
    """Return the next lines of a process, which must not end before."""
    assert of.stdout is not None
    assert of.stderr is not None
    rows: list[tuple[str, float]] = []
    while len(rows) < count:
        sign, _, at = of.stdout.readline().partition(" ")
        assert sign, f"it ended: {of.stderr.read()}"
        rows.append((sign, float(at)))
    return rows


def here(
    stack: ExitStack, folder: Path, session: str = "here", clock: HandClock | None = None
) -> MachinePlaces:
    if clock is None:
        found = MachinePlaces(folder, session)
    else:
        found = MachinePlaces(folder, session, now=clock.now, sleep=clock.sleep)
    stack.callback(found.close)
    return found


def test_two_processes_never_hold_more_than_there_are(stack: ExitStack, tmp_path: Path) -> None:
    both = [process(stack, tmp_path, name, places=2, waiters=3, hold_s=0.01) for name in ("a", "b")]
    told = [lines(one, 40) for one in both]
    until = min(rows[-1][1] for rows in told)
    found = sorted(
        (row for rows in told for row in rows if row[1] < until), key=lambda row: (row[1], row[0])
    )
    held = most = 0
    for sign, _ in found:
        held += 1 if sign == "+" else -1
        most = max(most, held)
    assert 0 < most <= 2


def test_many_that_open_a_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    gate = threading.Barrier(4)

    def open_all() -> None:
        for n in range(100):
            gate.wait(LIMIT_S)
            MachinePlaces(tmp_path / str(n), "a").close()

    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(open_all) for _ in range(4)]:
            one.result(LIMIT_S)


async def test_what_a_killed_process_held_is_given_back(stack: ExitStack, tmp_path: Path) -> None:
    killed = process(stack, tmp_path, "a", places=1, waiters=2, hold_s=600)
    lines(killed, 1)
    killed.kill()
    killed.wait(LIMIT_S)
    async with asyncio.timeout(LIMIT_S), here(stack, tmp_path).place("p", 1):
        pass


async def test_a_session_that_holds_fewer_is_served_first(stack: ExitStack, tmp_path: Path) -> None:
    many, one = here(stack, tmp_path, "many"), here(stack, tmp_path, "one")
    held = [await many.take("p", 2), await many.take("p", 2)]
    served: asyncio.Queue[tuple[str, int]] = asyncio.Queue()

    async def wait(shared: MachinePlaces, name: str) -> None:
        await served.put((name, await shared.take("p", 2)))

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(wait(many, "many"))
        await asyncio.sleep(0)
        group.create_task(wait(one, "one"))
        await asyncio.sleep(0)
        order: list[str] = []
        while len(order) < 4:
            many.free(held.pop(0))
            name, ticket = await served.get()
            order.append(name)
            held += [ticket] if name == "many" else []
    assert order == ["one", "many", "many", "many"]


async def test_a_wait_that_is_cancelled_leaves_the_line(stack: ExitStack, tmp_path: Path) -> None:
    shared = here(stack, tmp_path)
    ticket = await shared.take("p", 1)
    waiting = asyncio.create_task(shared.take("p", 1))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert [row[0] for row in shared.rows("p")] == [ticket]


async def test_starts_are_spaced_and_held_back_over_sessions(
    stack: ExitStack, tmp_path: Path
) -> None:
    clock = HandClock()
    first, second = (here(stack, tmp_path, name, clock) for name in ("a", "b"))
    began = clock.at
    await first.pace("p", 2.0)
    await second.pace("p", 2.0)
    assert clock.at == began + 2.0
    first.hold("p", 30.0)
    second.hold("p", 5.0)
    await second.pace("p", 2.0)
    assert clock.at == began + 32.0


async def test_a_clock_that_was_set_back_holds_nothing(stack: ExitStack, tmp_path: Path) -> None:
    clock = HandClock()
    shared = here(stack, tmp_path, "a", clock)
    await shared.pace("p", 1.0)
    clock.at -= 10 * LONGEST_HOLD_S
    before = clock.at
    await shared.pace("p", 1.0)
    assert clock.at == before


async def test_a_damaged_file_is_made_anew(stack: ExitStack, tmp_path: Path) -> None:
    (tmp_path / "places.db").write_bytes(b"no database at all" * 100)
    async with here(stack, tmp_path).place("p", 1):
        pass


async def test_a_file_that_vanishes_stops_no_search(stack: ExitStack, tmp_path: Path) -> None:
    shared = here(stack, tmp_path)
    with closing(sqlite3.connect(tmp_path / "places.db")) as other:
        other.execute("DROP TABLE tickets")
    async with asyncio.timeout(LIMIT_S), place_or_none(shared, "p", 1):
        pass


async def test_the_limiters_of_two_sessions_share_places_and_waits(
    stack: ExitStack, tmp_path: Path
) -> None:
    clock = HandClock()
    one, two = (Limiters(here(stack, tmp_path, name, clock)).of("vendor") for name in ("a", "b"))
    async with one.turn():
        one.hold(60.0)
    began = clock.at
    async with asyncio.timeout(LIMIT_S), two.turn():
        assert clock.at >= began + 59.0


def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)
    assert joined("a") is None
