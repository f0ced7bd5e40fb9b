"""The room on each device: its pool, opened when it is first asked for, and how many evaluations it takes at once."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from mcp_server import interpreter, machine, probes
from mcp_server.build import Builds
from mcp_server.build_plan import slots
from mcp_server.builder import Builder
from mcp_server.clean import Cleaner
from mcp_server.executor import Place
from mcp_server.folders import Workspace
from mcp_server.pool import Pool

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device
    from mcp_server.setting import Setting


@dataclass(slots=True)
class Room:
    """One device's pool and how many evaluations it takes at once."""

    pool: Pool
    builds: Builds
    free: anyio.Semaphore
    rehearsing: anyio.Semaphore
    cleaner: Cleaner

    @property
    def device(self) -> Device:
        """Return what it is the room on."""
        return self.pool.sandbox.device


@dataclass(slots=True)
class Rooms:
    """Those of this machine that were asked for; `close` removes what lies on disk of them."""

    setting: Setting
    group: TaskGroup
    """Owns every process."""
    _scratch: Workspace | None = None
    _builds: Builds | None = None
    _open: dict[tuple[str, tuple[str, ...]], Room] = field(
        default_factory=dict[tuple[str, tuple[str, ...]], Room]
    )
    """By a device's name and what tasks may read there, beside the environment."""
    _opening: anyio.Lock = field(default_factory=anyio.Lock)

    async def interpreter(self) -> Interpreter:
        """Return the interpreter of judge and workers.

        Raises:
            NoInterpreter: there is none that could run them.
        """
        return await anyio.to_thread.run_sync(interpreter.find, self.setting.python)

    async def device(self, name: str) -> Device:
        """Return the device of a name, before anything is started.

        Raises:
            NoSuchDevice: it is not here.
            NoInterpreter: judge and workers could not run.
        """
        wanted = self.setting.device if name == "auto" else name
        return machine.resolve(wanted, await self.interpreter())

    async def places(self) -> list[Place]:
        """Return the room on each device of this machine."""
        python = await self.interpreter()
        found = [*(machine.gpus() if python.cuda else []), machine.cpu()]
        return [self._place(d) for d in found]

    def _place(self, device: Device) -> Place:
        of, ahead = parallel(device), slots() if self.setting.overlap else 0
        named = (socket.gethostname(), device.name, device.uuid, device.title)
        room = self._open.get((device.name, ()))
        return Place(*named, room.free.value if room else of, of, ahead)

    async def on(self, device: str, reads: tuple[str, ...] = ()) -> Room:
        """Return the room on a device, whose processes may read what a task's person opened to it.

        Raises:
            EvaluatorError: no such device, interpreter or sandbox.
        """
        async with self._opening:
            found = await self.device(device)
            key = (found.name, reads)
            if key not in self._open:
                python = await self.interpreter()
                python = replace(python, reads=(*python.reads, *reads))
                self._open[key] = await self._opened(python, found)
            return self._open[key]

    async def _opened(self, python: Interpreter, device: Device) -> Room:
        setting = self.setting
        scratch = self._scratch = self._scratch or Workspace()
        builds = self._builds = self._builds or Builds(scratch.path, setting.home)
        sandbox = await probes.choose(setting.sandbox, python, device, setting.limits)
        pool = Pool(
            sandbox,
            scratch,
            setting.programs,
            _ready(device),
            self.group,
            lease_folder=setting.lease_folder,
        )
        if setting.overlap:
            pool.shares = True
            pool.builder = Builder(sandbox, scratch, setting.home, self.group)
            pool.most_judges = parallel(device)
        self.group.start_soon(pool.keep_filled)
        free, rehearsing = anyio.Semaphore(parallel(device)), anyio.Semaphore(slots())
        return Room(pool, builds, free, rehearsing, Cleaner(sandbox))

    def forget(self, key: str) -> None:
        """Remove what a candidate built."""
        if self._builds is not None:
            self._builds.forget(key)

    def close(self) -> None:
        """Remove the scratch folder, once no process of it is left."""
        if self._scratch is not None:
            self._scratch.close()


def parallel(device: Device) -> int:
    """Return how many evaluations a device takes at once: builds overlap, measurements do not."""
    return max(1, min(4, machine.cores() // 4)) if device.is_gpu else max(1, machine.cores() // 8)


def _ready(device: Device) -> int:
    return min(4, parallel(device) + 1)
