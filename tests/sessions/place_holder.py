"""A process that takes shared places, for `test_machine_places`: `FOLDER SESSION POOL PLACES WAITERS HOLD_S`.

Prints `+` and `-` with a time whenever one of its waiters gets or gives back a place; each waits again at once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from sessions.machine_places import MachinePlaces


async def main(
    folder: str, session: str, pool: str, places: int, waiters: int, hold: float
) -> None:
    shared = MachinePlaces(Path(folder), session)

    async def waiter() -> None:
        while True:
            async with shared.place(pool, places):
                print("+", time.monotonic(), flush=True)
                await asyncio.sleep(hold)
                print("-", time.monotonic(), flush=True)

    async with asyncio.TaskGroup() as group:
        for _ in range(waiters):
            group.create_task(waiter())


if __name__ == "__main__":
    a = sys.argv
    asyncio.run(main(a[1], a[2], a[3], int(a[4]), int(a[5]), float(a[6])))
