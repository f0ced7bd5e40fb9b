"""A parent's profile: made once, by the evaluator, when it is first a parent; a failing one stops nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.baseline import AS_CANDIDATE
from sessions.model import ORIGINAL
from sessions.verdicts import headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.judging import Judging
    from sessions.parts import Parts

KERNELS = 10
NOTHING_SEEN = "the profiler saw no kernel"


class Profiling:
    """Looks at where the time of parents goes."""

    def __init__(self, parts: Parts, judging: Judging) -> None:
        """Share the engine's parts, and its places in the evaluator."""
        self._parts, self._judging = parts, judging
        self._locks: dict[str, asyncio.Lock] = {}

    async def look(self, candidate: str, agent: str) -> None:
        """Write the profile of a parent; children that want it too wait here. `pause --now` ends this without one."""
        lock = self._locks.setdefault(candidate, asyncio.Lock())
        with self._parts.gate.waiting():
            await lock.acquire()
        try:
            if candidate not in self._parts.state.profiles:
                await self._judging.interruptible(self._look(candidate, agent))
        finally:
            lock.release()

    async def _look(self, candidate: str, agent: str) -> None:
        source = (await self._parts.library.candidate(candidate)).source
        if candidate == ORIGINAL:
            source += AS_CANDIDATE
        ask = replace(self._judging.ask_for(candidate, source), profile=True, beat=None)
        async with self._judging.place(candidate, agent):
            result = await self._judging.result_of(ask, agent, record=False)
        await self._parts.recorder.write(profiled(candidate, result))


def profiled(candidate: str, result: Mapping[str, Any]) -> f.Profiled:
    """Return the fact that the evaluator's answer comes to."""
    hottest = [str(line) for line in result.get("hottest") or ()][:KERNELS]
    failed = "" if result.get("status") == "ok" else headline(result)
    return f.Profiled(
        candidate=candidate,
        hottest=hottest,
        idle_share_ratio=result.get("idle_share_ratio"),
        launches_per_call=result.get("launches_per_call"),
        cause=failed or ("" if hottest else NOTHING_SEEN),
    )
