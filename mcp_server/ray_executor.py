"""The executor of a Ray cluster: a program of its own speaks with Ray, the hosts' work is spread as anybody's.

`ray` joins the cluster of `RAY_ADDRESS`, or one that runs on this machine, or makes one of this machine alone;
`ray://HEAD[:PORT]` joins another machine's. It connects at the first job. A head that is lost is looked for again
while there is work; the work is not charged to anybody.
"""

from __future__ import annotations

import itertools
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from mcp_server import crossing
from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError, ExecutorUnavailable, HostLost, Unreadable
from mcp_server.executor import HostFacts, Told, Work
from mcp_server.ray_address import address_of
from mcp_server.ray_member import RayMember
from mcp_server.ray_process import RayProcess, start
from mcp_server.spread import Spread, lost

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from anyio.abc import TaskGroup

    from mcp_server.executor import Outcome, Place, Report
    from mcp_server.link import Message
    from mcp_server.setting import Setting
    from mcp_server.tasks import Task

log = logging.getLogger(__name__)

_CONNECT_LIMIT_S = 90.0
_HOSTS_LIMIT_S = 60.0
_LONGEST_PAUSE_S = 30.0


@dataclass(slots=True)
class Asked:
    """One question to a host, and what came of it."""

    host: str
    report: Report
    done: anyio.Event = field(default_factory=anyio.Event)
    reply: bytes = b""
    lost: str = ""


@dataclass(slots=True)
class RayExecutor:
    """Evaluates on the hosts of a cluster; make it with `open_ray`."""

    setting: Setting
    address: str
    group: TaskGroup
    """Owns the program that speaks with Ray."""
    spread: Spread = field(default_factory=Spread)
    _process: RayProcess | None = None
    _joined: str = ""
    """Where we are connected: whoever was in a cluster never makes one of this machine instead."""
    _names: frozenset[str] = frozenset()
    """Of the hosts that will say what they are."""
    _facts: dict[str, HostFacts] = field(default_factory=dict[str, HostFacts])
    _asked: dict[str, Asked] = field(default_factory=dict[str, Asked])
    _running: int = 0
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _opening: anyio.Lock = field(default_factory=anyio.Lock)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def places(self) -> list[Place]:
        """Return the room on the hosts; none before the first job."""
        return await self.spread.places()

    async def hosts(self) -> Sequence[HostFacts]:
        """Return every host of the cluster, connecting to it.

        Raises:
            ExecutorUnavailable: the cluster cannot be reached, or has no hosts.
        """
        await self._connect()
        await self._all_told()
        return [self._facts[name] for name in sorted(self._facts)]

    async def check_device(self, device: str) -> None:
        """Refuse a device that no host has; before the first job that is not known.

        Raises:
            NoSuchDevice: the hosts are known, and none has it.
        """
        if self.spread.members.all():
            await self.spread.check_device(self._device(device))

    def _device(self, asked: str) -> str:
        return self.setting.device if asked == "auto" else asked

    async def told(self, task: Task) -> Told:
        """Return what a host knows of a task; nothing before the first job."""
        try:
            return await self.spread.told(task)
        except EvaluatorError:
            return Told()

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate on a host of the cluster; a head that cannot be reached is nobody's fault.

        Raises:
            EvaluatorError: the caller's mistake.
        """
        self._running += 1
        try:
            if self._process is None:
                report("intake", "connecting to Ray")
            try:
                await self._connect()
            except ExecutorUnavailable as error:
                return lost(work, str(error))
            work = replace(work, device=self._device(work.device))
            return await self.spread.run(work, report)
        finally:
            self._running -= 1

    async def close(self) -> None:
        """End the actors and all they started."""
        if self._process is not None:
            await self._process.close()
        self.group.cancel_scope.cancel()

    async def ask(self, host: str, op: str, work: Work, report: Report) -> bytes:
        """Have a host do something with a work; cancelling it kills the work there.

        Raises:
            HostLost: the host, or the whole cluster, is gone.
        """
        number, asked = f"{work.id}-{next(self._numbers)}", Asked(host, report)
        process = self._process
        if process is None:
            raise HostLost(f"{host} is gone: the Ray cluster is.")
        self._asked[number] = asked
        data = crossing.work_bytes(work).decode()
        try:
            await process.send({"op": op, "id": number, "host": host, "work": data})
            await asked.done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await process.send({"op": "cancel", "id": number, "host": host})
            raise
        finally:
            del self._asked[number]
        if asked.lost:
            raise HostLost(asked.lost)
        return asked.reply

    # --- the program beside us ----------------------------------------------------------------------

    async def _connect(self) -> None:
        """Start the program that speaks with Ray, if none runs, and wait until it is connected.

        Raises:
            ExecutorUnavailable: it cannot connect.
        """
        async with self._opening:
            if self._process is not None:
                return
            process = await start(self.group, self._joined or self.address, self.setting)
            try:
                with anyio.fail_after(_CONNECT_LIMIT_S):
                    first = await process.receive()
            except TimeoutError:
                first = {"op": "failed", "cause": f"it did not answer for {_CONNECT_LIMIT_S:g} s"}
            except BaseException:
                await process.close()
                raise
            if first["op"] != "ready":
                await process.close()
                raise ExecutorUnavailable(self._no_cluster(str(first.get("cause"))))
            where = str(first.get("address"))
            if where == "auto":
                log.warning("no Ray cluster was found here: one of this machine alone was made")
            self._joined = "" if where == "auto" else where
            self._process = process
            self.group.start_soon(self._attend, process)

    async def _attend(self, process: RayProcess) -> None:
        """Hear the program until it ends; connect again while somebody waits."""
        while (said := await process.receive())["op"] != "failed":
            self._hear(said)
        if process.closing:
            return
        await process.close()
        self._process = None
        cause = printable(str(said.get("cause")))
        log.warning("the Ray cluster is gone: %s", cause)
        for name in list(self._facts):
            self._gone(name, cause)
        self._facts.clear()
        self._names = frozenset()
        for asked in self._asked.values():
            asked.lost = f"{asked.host} is gone, as the Ray cluster is: {cause}"
            asked.done.set()
        await self._again()

    async def _again(self) -> None:
        pause_s = 1.0
        while self._running and self._process is None:
            await anyio.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, 2 * pause_s)
            try:
                await self._connect()
            except ExecutorUnavailable as error:
                log.warning("%s", error)

    def _hear(self, said: Message) -> None:
        asked = self._asked.get(str(said.get("id")))
        match said["op"]:
            case "nodes":
                self._names = frozenset(map(str, said["names"]))
                self._facts = {n: f for n, f in self._facts.items() if n in self._names}
            case "host":
                self._came(str(said["name"]), str(said["facts"]).encode())
            case "gone":
                self._gone(str(said["name"]), printable(str(said["cause"])))
            case "stage" if asked is not None:
                asked.report(said["stage"], str(said["detail"]))
            case "done" if asked is not None:
                asked.reply = str(said["reply"]).encode()
                asked.done.set()
            case "lost" if asked is not None:
                asked.lost = printable(str(said["cause"]))
                asked.done.set()
            case _:
                pass  # of a work that nobody waits for any more

    def _came(self, name: str, data: bytes) -> None:
        try:
            facts = crossing.read_host(data)
        except Unreadable as error:
            facts = HostFacts(name, problem=str(error))
        places = tuple(replace(place, host=name) for place in facts.places)
        if facts.problem:
            self._leave_out(name, facts.problem)
        else:
            self.spread.join(name, RayMember(self, name), places)
        self._facts[name] = replace(facts, host=name, places=places)
        self._tell()

    def _gone(self, name: str, cause: str) -> None:
        self._leave_out(name, cause)
        self._facts[name] = replace(self._facts.get(name, HostFacts(name)), problem=cause)
        self._tell()

    def _leave_out(self, name: str, why: str) -> None:
        self.spread.leave(name)
        if name not in self._facts or self._facts[name].problem != why:
            log.warning("%s is left out: %s", name, printable(why))

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _all_told(self) -> None:
        """Wait until every host said what it is, or a while.

        Raises:
            ExecutorUnavailable: none did.
        """
        with anyio.move_on_after(_HOSTS_LIMIT_S):
            while not self._names or not self._names <= set(self._facts):
                await self._changed.wait()
        if not self._facts:
            raise ExecutorUnavailable(
                self._no_cluster("no host with a processor of its own is in it")
            )

    def _no_cluster(self, cause: str) -> str:
        where, why = printable(self._joined or self.address), printable(cause)[:400].rstrip(".")
        return (
            f"The Ray cluster {where} is of no use: {why}. "
            "Does its head run (`ray start --head`), and is its token here (~/.ray/auth_token)?"
        )


@asynccontextmanager
async def open_ray(setting: Setting, executor: str) -> AsyncGenerator[RayExecutor]:
    """Yield the executor of a cluster; its actors end with the block.

    Raises:
        ExecutorUnavailable: `executor` names none, or Ray is not installed.
    """
    address = address_of(executor)
    async with anyio.create_task_group() as group:
        made = RayExecutor(setting, address, group)
        try:
            yield made
        finally:
            with anyio.CancelScope(shield=True):
                await made.close()
