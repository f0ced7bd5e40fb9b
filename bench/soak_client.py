"""One client of `bench/soak.py`: does this and that until it is killed, and prints a line of what came of each act.

    python -m bench.soak_client KIND URL SEED SERVER…      KIND: stdio, http, legacy or engine

`SERVER…` starts a server on stdio. The token is in SOAK_TOKEN. A line is `ACT OUTCOME`; an outcome that begins with
`wrong` is a fault of the server: what no killed process and no lost connection explains.
"""

from __future__ import annotations

import os
import random
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from sessions import mcp_evaluator
from sessions.errors import EvaluatorAbsent, EvaluatorLost, JobUnknown
from sessions.evaluator import Ask

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from sessions.mcp_evaluator import McpEvaluator

TASK = "starter/softmax"
LOST = (MCPError, OSError, RuntimeError, httpx2.HTTPError, anyio.ClosedResourceError)
PAUSE_S = 0.3
RECONNECT_S = 0.5


def candidate(body: str) -> str:
    """Return a candidate's text whose execution sets `said`."""
    return f"{body}\n\nclass ModelNew: pass\n"


QUICK = candidate("said = 1")
LOUD = candidate("for n in range(9000): print(n, 'a line of output')\nsaid = 1")
CRASHES = candidate("import os\nos._exit(3)")
ASLEEP = candidate("import time\ntime.sleep(6)\nsaid = 1")
ORPHAN = candidate(
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(900)\n"
    "    os._exit(0)\nsaid = 1"
)


class Doing:
    """What one connection of an agent does."""

    def __init__(self, client: Client, chance: random.Random) -> None:
        self.client, self.chance = client, chance

    def acts(self) -> list[Callable[[], Awaitable[str]]]:
        """Return what it may do next."""
        evaluations = [self.quick, self.quick, self.loud, self.crash, self.orphan]
        return [
            *evaluations,
            self.cancel,
            self.leave,
            self.give_up,
            self.foreign,
            self.look,
            self.burst,
        ]

    async def quick(self) -> str:
        return self._outcome(await self._done(await self._compile(QUICK)))

    async def loud(self) -> str:
        found = await self._done(await self._compile(LOUD))
        if "output_id" in found:
            page = await self._call("get_artifact", artifact_id=found["output_id"])
            return self._outcome(found) if page.get("text") else "wrong: an empty page"
        return self._outcome(found)

    async def crash(self) -> str:
        found = await self._done(await self._compile(CRASHES))
        return "wrong: a crash is ok" if found.get("ok") else "failed"

    async def orphan(self) -> str:
        return self._outcome(await self._done(await self._compile(ORPHAN)))

    async def cancel(self) -> str:
        job = (await self._compile(ASLEEP, wait_s=0)).get("job_id")
        if job is None:
            return "full"
        await anyio.sleep(self.chance.random())
        found = await self._call("cancel_job", job_id=job)
        return "cancelled" if found["state"] in ("cancelled", "done") else f"wrong: {found}"

    async def leave(self) -> str:
        return "left" if "job_id" in await self._compile(ASLEEP, wait_s=0) else "full"

    async def give_up(self) -> str:
        with anyio.move_on_after(0.2 + self.chance.random()):
            await self._compile(ASLEEP)
        return "given up"

    async def foreign(self) -> str:
        found = await self._call("wait_job", job_id="job_" + "A" * 22)
        return "refused" if found.get("refused") else f"wrong: {found}"

    async def look(self) -> str:
        found = await self._call("get_task", task_id=TASK)
        listed = await self._call("list_tasks", suite="starter")
        return "shown" if found.get("task_sha256") and listed.get("tasks") else f"wrong: {found}"

    async def burst(self) -> str:
        asked = [await self._compile(ASLEEP, wait_s=0) for _ in range(14)]
        for found in asked:
            if "job_id" in found:
                await self._call("cancel_job", job_id=found["job_id"])
        return "burst"

    async def _compile(self, source: str, **more: Any) -> dict[str, Any]:
        return await self._call("compile_kernel", task_id=TASK, source=source, **more)

    async def _done(self, found: dict[str, Any]) -> dict[str, Any]:
        while found.get("state") in ("queued", "running"):
            found = await self._call("wait_job", job_id=found["job_id"])
        return found

    async def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        reply = await self.client.call_tool(tool, arguments)
        if reply.is_error:
            return {"refused": " ".join(getattr(part, "text", "") for part in reply.content)}
        return dict(reply.structured_content or {})

    @staticmethod
    def _outcome(found: dict[str, Any]) -> str:
        """Return a word; a killed worker or judge fails an evaluation, and that is told as such."""
        if found.get("ok"):
            return "ok"
        if "jobs queued" in found.get("refused", ""):
            return "full"
        if found.get("status") in ("infra_error", "runtime_error"):
            return "failed"
        return f"wrong: {str(found)[:300]}"


async def agent(kind: str, url: str, server: list[str], chance: random.Random) -> None:
    """Be an agent for ever: connect, act a while, leave or be cut off, connect again."""
    while True:
        try:
            async with _connected(kind, url, server) as client:
                doing = Doing(client, chance)
                for _ in range(chance.randint(1, 25)):
                    act = chance.choice(doing.acts())
                    _tell(getattr(act, "__name__", "act"), await act())
                    await anyio.sleep(PAUSE_S * chance.random())
        except* LOST:
            _tell("connection", "lost")
            await anyio.sleep(RECONNECT_S)


@asynccontextmanager
async def _connected(kind: str, url: str, server: list[str]) -> AsyncGenerator[Client]:
    if kind == "stdio":
        here = StdioServerParameters(command=server[0], args=server[1:], env=dict(os.environ))
        async with Client(here) as client:
            yield client
        return
    header = {"Authorization": f"Bearer {os.environ['SOAK_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=header, timeout=60) as web,
        Client(
            streamable_http_client(url, http_client=web),
            mode="legacy" if kind == "legacy" else "auto",
        ) as client,
    ):
        yield client


async def engine(url: str, chance: random.Random) -> None:
    """Be an engine for ever: four candidates at once, in the engine's own client."""
    evaluator = mcp_evaluator.remote(url, os.environ["SOAK_TOKEN"], places=4, name="soak")
    async with anyio.create_task_group() as group:
        for place in range(4):
            group.start_soon(_place, evaluator, random.Random(f"{chance.random()} {place}"))


async def _place(evaluator: McpEvaluator, chance: random.Random) -> None:
    while True:
        source = chance.choice([QUICK, QUICK, LOUD, CRASHES, ASLEEP, ORPHAN])
        try:
            job = await evaluator.start(Ask(TASK, source, "cpu", "half", "budget", "c1"))
            if chance.random() < 0.2:
                await evaluator.cancel(job)
                _tell("engine", "cancelled")
            else:
                verdict = await evaluator.wait(job, lambda _stage, _detail: None)
                _tell("engine", "ok" if verdict.get("ok") else "failed")
        except (EvaluatorAbsent, EvaluatorLost, JobUnknown):
            _tell("engine", "lost")
            await anyio.sleep(RECONNECT_S)
        await anyio.sleep(PAUSE_S * chance.random())


def _tell(act: str, outcome: str) -> None:
    sys.stdout.write(f"{act} {outcome}\n".replace("\n", " ").strip() + "\n")
    sys.stdout.flush()


def main() -> None:
    """Act until killed."""
    kind, url, seed, *server = sys.argv[1:]
    chance = random.Random(seed)
    if kind == "engine":
        anyio.run(engine, url, chance)
    else:
        anyio.run(agent, kind, url, server, chance)


if __name__ == "__main__":
    main()
