from __future__ import annotations

import asyncio

from sessions.models.limiter import Limiter, Limiters


class HandClock:
    """Time that moves only when someone sleeps."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def made(clock: HandClock, places: int = 9, spacing_s: float = 2.0) -> Limiter:
    return Limiter("p", places=places, spacing_s=spacing_s, now=clock.now, sleep=clock.sleep)


async def test_tries_are_spaced() -> None:
    clock = HandClock()
    limiter = made(clock)
    starts: list[float] = []
    for _ in range(3):
        async with limiter.turn():
            starts.append(clock.at)
    assert starts == [100.0, 102.0, 104.0]


async def test_all_wait_when_one_was_told_to_wait() -> None:
    clock = HandClock()
    limiter = made(clock, spacing_s=0.0)
    limiter.hold(30.0)
    limiter.hold(5.0)
    async with limiter.turn():
        assert clock.at == 130.0


async def test_no_more_are_in_flight_than_there_are_places() -> None:
    limiter = made(HandClock(), places=2, spacing_s=0.0)
    inside, most = 0, 0
    door = asyncio.Event()

    async def one() -> None:
        nonlocal inside, most
        async with limiter.turn():
            inside += 1
            most = max(most, inside)
            await door.wait()
            inside -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(one())
        for _ in range(10):
            await asyncio.sleep(0)
        assert limiter.tries == 2
        door.set()
    assert (limiter.tries, most) == (5, 2)


async def test_a_failed_try_gives_its_place_back() -> None:
    limiter = made(HandClock(), places=1)
    for _ in range(3):
        try:
            async with limiter.turn():
                raise ValueError
        except ValueError:
            pass
    assert limiter.tries == 3


def test_a_provider_has_one_limiter() -> None:
    limiters = Limiters()
    assert limiters.of("anthropic") is limiters.of("anthropic")
    assert limiters.of("anthropic") is not limiters.of("openai")
