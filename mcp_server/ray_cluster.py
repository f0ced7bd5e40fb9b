"""The hosts of a Ray cluster: an actor on each that will do, made again when it died, watched while it lives.

Runs in the bridge. One actor holds a whole host: all its GPUs where any host of the cluster has one, else one of its
processors. Where an actor of another server holds it already, ours holds nothing: the leases of the machine keep them
apart, as they do any two servers of one machine. A host of another version of ours is told of and left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from mcp_server import crossing
from mcp_server.channel import ChannelClosed
from mcp_server.ray_host import HEAR_S, RayHost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anyio.abc import TaskGroup

    from mcp_server.link import Link, Message

_LOOK_EVERY_S = 1.0
_HEAD_LIMIT_S = 20.0
_SLOW_START_S = 20.0
"""After it, people are told that Ray has no room for our actor, which goes on waiting."""
_PREFIX = "pike"
_SILENCE_LIMIT_S = HEAR_S + 20.0
_END_LIMIT_S = 5.0
_AGAIN_S = 1.0


class Lost(Exception):
    """An actor died, or does not answer."""


@dataclass(slots=True, eq=False)
class Hosted:
    """One host, as long as its node is in the cluster."""

    id: str
    """Of Ray's node."""
    name: str
    gpus: float
    actor: Any = None
    """None until it answered, and after it was lost."""
    greeted: int = 0
    """How many actors began well there."""
    jobs: set[str] = field(default_factory=set[str])
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


@dataclass(slots=True)
class Cluster:
    """A cluster that `ray` is connected to."""

    ray: Any
    setting: bytes
    link: Link
    _hosts: dict[str, Hosted] = field(default_factory=dict[str, Hosted])
    """By name."""
    _mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    # --- hosts --------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Keep an actor on each node, until we are cut off: then all of this program ends, and another joins anew."""
        own = await self._in_thread(self._own_node)
        async with anyio.create_task_group() as group:
            cause = "The head of the Ray cluster does not answer."
            while (nodes := await self._nodes() or await self._nodes()) is not None:
                if any(node["NodeID"] == own and not node["Alive"] for node in nodes):
                    cause = "The node through which we speak with the Ray cluster is gone."
                    break
                await self._compare(nodes, group)
                await anyio.sleep(_LOOK_EVERY_S)
            await self.send({"op": "failed", "cause": cause})
            os._exit(1)  # Ray's own threads may never come back from a head that is gone

    async def _compare(self, nodes: list[dict[str, Any]], group: TaskGroup) -> None:
        """Attend to nodes that came, and to those that went no more."""
        here = {host.name: host for host in chosen(nodes)}
        for name in [name for name in self._hosts if name not in here]:
            self._hosts.pop(name).scope.cancel()
        new = [host for name, host in here.items() if name not in self._hosts]
        for host in new:
            self._hosts[host.name] = host
            group.start_soon(self._attend, host)
        if new:
            await self.send({"op": "nodes", "names": sorted(self._hosts)})

    async def _nodes(self) -> list[dict[str, Any]] | None:
        """Return Ray's list of nodes, None where its head does not answer."""
        with anyio.move_on_after(_HEAD_LIMIT_S), contextlib.suppress(Exception):
            return await self._in_thread(self.ray.nodes)
        return None

    def _own_node(self) -> str:
        """Return the node without which Ray's list still answers us, and no actor of ours ever starts."""
        with contextlib.suppress(Exception):
            return str(self.ray.get_runtime_context().get_node_id())
        return ""

    async def _in_thread(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what Ray returns: it may wait for a head that is gone, which must not stop all else."""
        return await anyio.to_thread.run_sync(call, *arguments, abandon_on_cancel=True)

    async def _attend(self, host: Hosted) -> None:
        """Have an actor on a host, and another when it died, until the host leaves."""
        again_s = _AGAIN_S
        with host.scope:
            while True:
                greeted_before = host.greeted
                try:
                    await self._live(host)
                except Exception as error:  # noqa: BLE001 -- Ray raises whatever its parts raise
                    await self._gone(host, one_line(error))
                again_s = _AGAIN_S if host.greeted > greeted_before else min(60, again_s * 2)
                await anyio.sleep(again_s)
        with anyio.CancelScope(shield=True):
            await self._gone(host, "Its node left the Ray cluster.")

    async def _live(self, host: Hosted) -> None:
        """Make an actor and hear it until it is lost, or tells that it will not do."""
        actor = await self._made(host)
        try:
            facts = await self._greeted(host, actor)
            await self.send({"op": "host", "name": host.name, "facts": facts.decode()})
            if crossing.read_host(facts).problem:
                return
            host.actor = actor
            host.greeted += 1
            while True:
                await self._pass_on(await answer(actor.hear.remote(), _SILENCE_LIMIT_S))
        finally:
            host.actor = None
            with anyio.move_on_after(_END_LIMIT_S, shield=True):
                await self._in_thread(self._kill, actor)

    async def _is_held(self, host: Hosted) -> bool:
        """Return whether an actor of another server is there."""
        names = await self._in_thread(self.ray.util.list_named_actors)
        words = [str(name).split(" ") for name in names]
        return any(w[:2] == [_PREFIX, host.name] and w[2:3] != [self._mark] for w in words)

    async def _made(self, host: Hosted) -> Any:
        """Start an actor on a host; Ray tells later if it cannot."""
        pinning = importlib.import_module("ray.util.scheduling_strategies")
        pinned = pinning.NodeAffinitySchedulingStrategy(host.id, soft=False)
        room = {"num_gpus": host.gpus, "num_cpus": 0} if host.gpus else {"num_cpus": 1}
        if await self._is_held(host):
            room = {"num_gpus": 0, "num_cpus": 0}
        options = {"max_concurrency": 1000, "max_restarts": 0, "scheduling_strategy": pinned}
        name = f"{_PREFIX} {host.name} {self._mark} {uuid.uuid4().hex[:4]}"
        ours = self.ray.remote(RayHost).options(name=name, **room, **options)
        return await self._in_thread(ours.remote, self.setting)

    async def _greeted(self, host: Hosted, actor: Any) -> bytes:
        future = asyncio.wrap_future(actor.hello.remote().future())
        while not (await asyncio.wait({future}, timeout=_SLOW_START_S))[0]:
            if await self._is_held(host):
                raise Lost("Another server's actor came first.")
            cause = "Ray has not started our actor there yet: are its GPUs or processors taken?"
            await self.send({"op": "gone", "name": host.name, "cause": cause})
        return future.result()

    async def _pass_on(self, heard: bytes) -> None:
        for number, stage, detail in json.loads(heard):
            await self.send({"op": "stage", "id": number, "stage": stage, "detail": detail})

    async def _gone(self, host: Hosted, cause: str) -> None:
        await self.send({"op": "gone", "name": host.name, "cause": cause})
        for number in list(host.jobs):
            await self._lose(host, number, cause)

    async def _lose(self, host: Hosted, number: str, cause: str) -> None:
        if number in host.jobs:
            host.jobs.discard(number)
            await self.send({"op": "lost", "id": number, "cause": f"{host.name}: {cause}"})

    def _kill(self, actor: Any) -> None:
        with contextlib.suppress(Exception):
            self.ray.kill(actor)

    async def close(self) -> None:
        """End every host's processes, as far as they answer."""
        with anyio.CancelScope(shield=True):
            actors = [host.actor for host in self._hosts.values() if host.actor is not None]
            waiting = [asyncio.wrap_future(actor.close.remote().future()) for actor in actors]
            if waiting:
                await asyncio.wait(waiting, timeout=_END_LIMIT_S)
            with anyio.move_on_after(_END_LIMIT_S):
                for actor in actors:
                    await self._in_thread(self._kill, actor)

    # --- work ---------------------------------------------------------------------------------------

    async def act(self, asked: Message) -> None:
        """Do one thing that the server asks of a host."""
        host, number = self._hosts.get(str(asked.get("host"))), str(asked.get("id"))
        if host is None or host.actor is None:
            await self.send({"op": "lost", "id": number, "cause": "The host is gone."})
        elif asked["op"] == "cancel":
            host.jobs.discard(number)
            with contextlib.suppress(Exception):
                await answer(host.actor.cancel.remote(number), _SILENCE_LIMIT_S)
        else:
            await self._work(host, number, asked)

    async def _work(self, host: Hosted, number: str, asked: Message) -> None:
        host.jobs.add(number)
        data = str(asked.get("work")).encode()
        try:
            if asked["op"] == "told":
                reply = await answer(host.actor.told.remote(data), _SILENCE_LIMIT_S)
            else:
                reply = await answer(host.actor.run.remote(number, data), None)
        except Exception as error:  # noqa: BLE001 -- Ray raises whatever its parts raise
            await self._lose(host, number, one_line(error))
            return
        if number in host.jobs:
            host.jobs.discard(number)
            await self.send({"op": "done", "id": number, "reply": reply.decode()})

    async def send(self, message: Message) -> None:
        """Tell the server; if it is gone, whoever listens to it ends everything."""
        with contextlib.suppress(ChannelClosed):
            await self.link.send(message)


def chosen(nodes: Iterable[dict[str, Any]]) -> list[Hosted]:
    """Return the nodes that evaluate: those with GPUs if any has one, else those with processors."""
    alive = [node for node in nodes if node["Alive"]]
    gpus = [node for node in alive if node["Resources"].get("GPU", 0) >= 1]
    cpus = [node for node in alive if node["Resources"].get("CPU", 0) >= 1]
    return [_hosted(node) for node in gpus or cpus]


def _hosted(node: dict[str, Any]) -> Hosted:
    name = f"{node['NodeManagerHostname']}-{node['NodeID'][:6]}"
    return Hosted(node["NodeID"], name, int(node["Resources"].get("GPU", 0)))


async def answer(reference: Any, limit_s: float | None) -> bytes:
    """Return what a call to an actor returns.

    Raises:
        Lost: it does not answer in time.
        Exception: Ray's own, of many kinds.
    """
    # Never cancelled: Ray's thread would trip over it.
    future = asyncio.wrap_future(reference.future())
    done, _ = await asyncio.wait({future}, timeout=limit_s)
    if not done:
        future.add_done_callback(lambda late: late.exception())
        raise Lost(f"It did not answer for {limit_s:g} s.")
    return future.result()


_IN_PLAIN_WORDS = {
    "ActorDiedError": "Our actor there died.",
    "ActorUnavailableError": "Our actor there died, or cannot be reached.",
    "ActorUnschedulableError": "Ray has no room for our actor there.",
    "NodeDiedError": "Its node is gone.",
    "OutOfMemoryError": "Ray ended our actor there: the machine had no memory left.",
}


def one_line(error: BaseException) -> str:
    """Return what a person needs of an error: Ray's fill pages."""
    if type(error).__name__ in _IN_PLAIN_WORDS:
        return _IN_PLAIN_WORDS[type(error).__name__]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any("Traceback (most recent call last)" in line for line in lines):
        lines = [lines[0], lines[-1]]  # what failed, and what the pages between led to
    return f"{type(error).__name__}: {' '.join(lines[:2])[:300] or 'no reason given'}"
