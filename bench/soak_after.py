"""What is left when the clients of `bench/soak.py` are gone: each of its numbers must be 0."""

from __future__ import annotations

import signal
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bench import soak_faults
from bench.soak_client import QUICK, TASK, candidate
from mcp_server.jobs import AGENTS
from mcp_server.lease import Lease
from mcp_server.machine import cpu

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bench.soak import World

ENDING_LIMIT_S = 60.0
"""Within which what dead clients left has ended: their jobs last 10 s at most, eight after two."""
LONG = candidate("import time\ntime.sleep(600)\nsaid = 1")
DESCRIPTORS = 40
"""That a server at rest may have open: its socket, its log, its lease and its judge's."""


async def left(world: World) -> dict[str, int]:
    """Return what is left of each kind: first with the server alive, then after it, and after one more that tidies."""
    found: dict[str, int] = {}
    if world.server is None or world.server.poll() is not None:
        world.start_server()
    server = world.server
    assert server is not None
    for kind in ("http", "legacy"):
        found[f"jobs of {kind} clients"] = await _jobs_left(world, kind)
    await _until(lambda: _open(server.pid) <= DESCRIPTORS)
    found["descriptors too many"] = max(0, _open(server.pid) - DESCRIPTORS)
    server.send_signal(signal.SIGTERM)
    server.wait(ENDING_LIMIT_S)
    async with _own(world) as client:
        done = await client.call_tool("compile_kernel", {"task_id": TASK, "source": QUICK})
        found["evaluations that fail"] = int(not dict(done.structured_content or {}).get("ok"))
    mark = str(world.folder)
    await _until(lambda: not soak_faults.processes(mark) and not _scratch(world.folder))
    found["processes"] = len(soak_faults.processes(mark))
    found["scratch folders"] = len(_scratch(world.folder))
    found["leases"] = int(not _lease_is_free(world.folder / "leases"))
    return found


async def _jobs_left(world: World, kind: str) -> int:
    """Return how many jobs a caller cannot start, of as many as one may have: each is held by one that is left."""
    refused = AGENTS.running + AGENTS.queued
    until = time.monotonic() + ENDING_LIMIT_S
    while refused and time.monotonic() < until:
        refused = await _refused(world, kind)
    return refused


async def _refused(world: World, kind: str) -> int:
    asked: list[dict[str, Any]] = []
    refused = 0
    async with _over_http(world, kind) as client:
        for _ in range(AGENTS.running + AGENTS.queued):
            call = {"task_id": TASK, "source": LONG, "wait_s": 0}
            reply = await client.call_tool("compile_kernel", call)
            refused += bool(reply.is_error)
            asked += [] if reply.is_error else [dict(reply.structured_content or {})]
        for job in asked:
            await client.call_tool("cancel_job", {"job_id": job["job_id"]})
        if refused:
            await anyio.sleep(2)
    return refused


@asynccontextmanager
async def _over_http(world: World, kind: str) -> AsyncGenerator[Client]:
    header = {"Authorization": f"Bearer {world.tokens[kind]}"}
    async with (
        httpx2.AsyncClient(headers=header, timeout=60) as web,
        Client(streamable_http_client(world.url, http_client=web)) as client,
    ):
        yield client


@asynccontextmanager
async def _own(world: World) -> AsyncGenerator[Client]:
    words = world.server_words()
    own = StdioServerParameters(command=words[0], args=words[1:], env=world.environment)
    async with Client(own) as client:
        yield client


def _open(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _scratch(folder: Path) -> list[Path]:
    return list(folder.rglob("pike-server-*"))


def _lease_is_free(folder: Path) -> bool:
    lease = Lease(cpu().uuid, folder)
    free = lease.try_take()
    lease.free()
    lease.close()
    return free


async def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + ENDING_LIMIT_S
    while not holds() and time.monotonic() < until:  # noqa: ASYNC110 - other processes end
        await anyio.sleep(0.1)
