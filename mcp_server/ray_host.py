"""What runs on each host of a Ray cluster: an actor around the host's own executor.

The actor's process runs no candidate: those run in sandboxed workers that it starts, as on any machine, and that end
with it. Work and outcomes cross as JSON bytes. This module imports nothing of Ray.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_server import crossing, home, qualify, release
from mcp_server.errors import EvaluatorError
from mcp_server.executor import HostFacts
from mcp_server.local import open_local

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp_server.executor import Outcome, Work
    from mcp_server.local import LocalExecutor
    from mcp_server.setting import Setting

log = logging.getLogger(__name__)

HEAR_S = 5.0
"""How long `hear` waits for something to tell: whoever asks takes longer silence for a lost host."""


class RayHost:
    """An asyncio actor; all its methods answer in bytes."""

    def __init__(self, setting: bytes) -> None:
        """Keep how to evaluate here; nothing is started yet."""
        self._setting = setting
        self._executor: LocalExecutor | None = None
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._runs: dict[str, asyncio.Task[bytes]] = {}
        self._stages: list[tuple[str, str, str]] = []
        self._told = asyncio.Event()

    async def hello(self) -> bytes:
        """Return what this host is, with what is wrong with it if anything is."""
        name = socket.gethostname()
        try:
            executor = await self._open()
            (host,) = await executor.hosts()
        except (EvaluatorError, OSError) as error:
            return crossing.host_bytes(
                HostFacts(name, release.version(), qualify.evaluator_sha256(), problem=str(error))
            )
        lent = tuple(place for place in host.places if _is_lent(place.device))
        return crossing.host_bytes(replace(host, places=lent))

    async def run(self, number: str, work: bytes) -> bytes:
        """Evaluate, and return the outcome's bytes, or what the caller did wrong."""
        self._runs[number] = asyncio.ensure_future(self._evaluate(number, work))
        try:
            return await self._runs[number]
        except asyncio.CancelledError:
            return json.dumps({"cancelled": True}).encode()
        finally:
            del self._runs[number]

    async def _evaluate(self, number: str, data: bytes) -> bytes:
        def note(stage: str, detail: str) -> None:
            self._stages.append((number, stage, detail))
            self._told.set()

        async def act(work: Work) -> Outcome:
            executor = await self._open()
            return await executor.run(work, note)

        return await _answered(act, data)

    async def cancel(self, number: str) -> None:
        """Kill a work."""
        if number in self._runs:
            self._runs[number].cancel()

    async def hear(self) -> bytes:
        """Return the stages that began since the last call; waits a little for one."""
        try:
            await asyncio.wait_for(self._told.wait(), HEAR_S)
        except TimeoutError:
            return b"[]"
        self._told.clear()
        heard, self._stages = self._stages, []
        return json.dumps(heard).encode()

    async def told(self, data: bytes) -> bytes:
        """Return the bytes of what is known of a work's task."""
        work = crossing.read_work(data)
        return crossing.told_bytes(await (await self._open()).told(work.task))

    async def close(self) -> None:
        """End every process that this host started, and remove what they wrote."""
        self._closing.set()
        if self._life is not None:
            await self._life

    async def _open(self) -> LocalExecutor:
        async with self._opening:
            if self._executor is not None:
                return self._executor
            setting = replace(crossing.read_setting(self._setting), home=home.folder())
            opened: asyncio.Future[LocalExecutor] = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(setting, opened))
            self._executor = await opened
            return self._executor

    async def _live(self, setting: Setting, opened: asyncio.Future[LocalExecutor]) -> None:
        """Hold the executor open, in one task from beginning to end."""
        try:
            async with open_local(setting) as executor:
                opened.set_result(executor)
                await self._closing.wait()
        except Exception as error:
            if opened.done():
                log.exception("the executor of this host ended")
            else:
                opened.set_exception(error)


async def _answered(act: Callable[[Work], Awaitable[Outcome]], data: bytes) -> bytes:
    """Return the bytes of what came of a work, or of what is wrong with it."""
    try:
        outcome = await act(crossing.read_work(data))
    except EvaluatorError as error:
        return json.dumps(crossing.refusal(error)).encode()
    return crossing.outcome_bytes(outcome)


def _is_lent(device: str) -> bool:
    """Return whether Ray lent us a device: a node may have been started with fewer GPUs than the machine has."""
    number = device.partition(":")[2]
    lent = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return (
        not number
        or not all(word.isdigit() for word in lent.split(","))
        or number in lent.split(",")
    )
