"""The evaluator reached over MCP: a child of this process on stdio, or a server object in tests.

One job per candidate: `evaluate_kernel` starts it, `wait_job` follows its stages, `cancel_job` ends it. A child that
dies is started anew by the next call; what it held is lost, and the engine evaluates again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp_server.contract import HOSTS_URI, SESSION_META, SESSION_META_LIMIT
from sessions.errors import (
    DeviceAbsent,
    EvaluatorAbsent,
    EvaluatorLost,
    EvaluatorRefused,
    JobUnknown,
)
from sessions.evaluator import QUEUED
from sessions.evaluator_replies import content, lacks, said, verdict
from sessions.redact import is_secret

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from mcp.types import CallToolResult

    from sessions.evaluator import Ask, OnStage

log = logging.getLogger(__name__)

WAIT_S = 20
"""One `wait_job` call; the job outlives it."""
CALL_TIMEOUT_S = 120.0
OPEN_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 10.0
_PASSED = ("CUDA", "NVIDIA", "PIKE_HOME", "PYTHON", "VIRTUAL_ENV", "LANG", "LC_", "TMPDIR", "XDG_")
"""Beginnings of the variables that the evaluator gets; no key is among them."""
_OF_CLUSTER = ("RAY_",)
"""What it gets besides where it has a cluster evaluate: its address, and what lets it in."""

Target = Callable[[], Any]
"""Makes what `mcp.Client` takes."""


class McpEvaluator:
    """One endpoint."""

    def __init__(self, target: Target, *, places: int, name: str = "local") -> None:
        """Reach what `target` makes anew for each connection."""
        self.places = places
        self._target = target
        self._name = name
        self._opened = 0
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._lock = asyncio.Lock()
        self._known: set[tuple[int, str, str, str]] = set()
        """Connections, tasks and devices that were compared."""
        self._shown: set[str] = set()
        """Jobs of the agents' tools."""

    @property
    def endpoint(self) -> str:
        """The endpoint's name and the number of its connection: jobs do not outlive it."""
        return f"{self._name}-{os.getpid()}-{self._opened}"

    async def start(self, ask: Ask) -> str:
        """Hand a candidate over; return the job's id.

        Raises:
            EvaluatorAbsent, EvaluatorLost, EvaluatorRefused: as the protocol says.
        """
        await self._same_task(ask)
        arguments: dict[str, Any] = {
            "task_id": ask.task,
            "source": ask.source,
            "device": ask.device,
            "precision": ask.precision,
            "tolerance": ask.tolerance,
            "attempt_id": ask.attempt,
            "wait_s": 0,
        }
        if ask.beat is not None:
            arguments["beat"] = ask.beat
        if ask.profile:
            arguments["profile"] = True
        if ask.device_name:
            arguments["device_name"] = ask.device_name
        if ask.tool:
            arguments["tool"] = ask.tool
        found = content(await self._call("evaluate_kernel", arguments, session=ask.session))
        job = str(found.get("job_id") or "")
        if ask.tool:
            self._shown.add(job)
        return job

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        """Return the verdict on a job, telling its stages on the way.

        Raises:
            EvaluatorAbsent: no machine is left that will do.
            EvaluatorLost: it died with the job, or gave the job up.
            JobUnknown: it does not know the job.
        """
        while True:
            called = await self._call("wait_job", {"job_id": job, "wait_s": WAIT_S}, on_stage)
            found = content(called, unknown=JobUnknown)
            waits = found.get("state") == QUEUED
            on_stage(str(found.get("stage") or (QUEUED if waits else "")), "")
            match found.get("state"):
                case "done":
                    return verdict(found) | self._text(job, called)
                case "cancelled" | "expired" as state:
                    raise EvaluatorLost(f"the evaluator says that the job is {state}")
                case _:
                    continue

    def _text(self, job: str, called: CallToolResult) -> dict[str, Any]:
        """Return what an agent sees of a tool's job."""
        if job not in self._shown:
            return {}
        self._shown.discard(job)
        return {"shown": said(called)}

    async def cancel(self, job: str) -> None:
        """End a job; nothing happens if it is over, or the evaluator is."""
        self._shown.discard(job)
        if self._client is not None:
            with suppress(EvaluatorAbsent, EvaluatorLost, EvaluatorRefused):
                await self._call("cancel_job", {"job_id": job})

    async def task(self, task: str) -> dict[str, Any]:
        """Return what the evaluator knows of a task.

        Raises:
            EvaluatorRefused: it knows no such task.
        """
        return content(await self._call("get_task", {"task_id": task}))

    async def hosts(self) -> list[dict[str, Any]]:
        """Return the machines that evaluate: fields of `mcp_server.executor.HostFacts`.

        Raises:
            EvaluatorAbsent, EvaluatorLost: none answers in time.
            EvaluatorRefused: it does not tell, or cannot reach them.
        """
        client = await self._connected()
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                read = await client.read_resource(HOSTS_URI)
            text = "".join(getattr(part, "text", "") for part in read.contents)
            found: list[dict[str, Any]] = json.loads(text)  # as the contract's comment says
        except MCPError as error:
            raise EvaluatorRefused(str(error)) from error
        except (OSError, RuntimeError, TimeoutError, ValueError) as error:
            raise EvaluatorLost(f"the evaluator did not tell its hosts: {error!r}") from error
        return found

    async def close(self) -> None:
        """Close the connection, which ends a child."""
        async with self._lock:
            await self._drop()

    async def _same_task(self, ask: Ask) -> None:
        """Refuse an evaluator that holds another text under the task's name, or has another device."""
        checked = (self._opened, ask.task, ask.device, ask.device_name)
        if checked in self._known or not ask.task_sha256:
            return
        page = await self.task(ask.task)
        found = page.get("task_sha256")
        if found and found != ask.task_sha256:
            raise EvaluatorRefused(
                f"the evaluator holds another text of {ask.task} than this session: its task file has changed since"
            )
        why = lacks(ask, page)
        if why:
            raise DeviceAbsent(why)
        self._known.add((self._opened, *checked[1:]))

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        on_stage: OnStage | None = None,
        session: str = "",
    ) -> CallToolResult:
        client = await self._connected()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            del progress, total
            stage, _, detail = (message or "").partition(" ")
            if on_stage is not None and stage:
                on_stage(stage, detail)

        try:
            return await client.call_tool(
                tool,
                dict(arguments),
                read_timeout_seconds=CALL_TIMEOUT_S,
                progress_callback=told if on_stage else None,
                meta={SESSION_META: session[:SESSION_META_LIMIT]} if session else None,
            )
        except (MCPError, OSError, RuntimeError) as error:
            await self._lost(client)
            raise EvaluatorLost(f"the evaluator ended or did not answer: {error}") from error

    async def _connected(self) -> Client:
        async with self._lock:
            alive = self._keeper is not None and not self._keeper.done()
            if self._client is None or not alive:
                await self._drop()
                await self._open()
            assert self._client is not None
            return self._client

    async def _open(self) -> None:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._opened += 1
        self._keeper = asyncio.create_task(self._keep(ready, self._leave))
        try:
            self._client = await asyncio.wait_for(ready, OPEN_TIMEOUT_S)
        except TimeoutError as error:
            await self._drop()
            raise EvaluatorAbsent("the evaluator did not answer within a minute") from error

    async def _keep(self, ready: asyncio.Future[Client], leave: asyncio.Event) -> None:
        """Hold the connection open: it must be closed by the task that opened it."""
        try:
            async with Client(self._target()) as client:
                ready.set_result(client)
                await leave.wait()
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, in groups too
            if ready.done():
                log.warning("the evaluator's connection: %s", _words(error))
            else:
                why = f"no evaluator can be started: {_words(error)}"
                ready.set_exception(EvaluatorAbsent(why))

    async def _lost(self, client: Client) -> None:
        async with self._lock:
            if self._client is client:
                await self._drop()

    async def _drop(self) -> None:
        keeper, self._client, self._keeper = self._keeper, None, None
        self._leave.set()
        if keeper is None:
            return
        done, _ = await asyncio.wait([keeper], timeout=CLOSE_TIMEOUT_S)
        if not done:
            keeper.cancel()
            await asyncio.wait([keeper])


def _words(error: BaseException) -> str:
    """Return what happened, out of the groups of groups in which a transport raises it."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)  # of any kind
        return _words(group.exceptions[0])
    return f"{error}" or type(error).__name__


def child(
    *, sandbox: str, python: str, device: str, places: int, executor: str = ""
) -> McpEvaluator:
    """Return the evaluator of this machine: a child process on stdio, whose talk goes to this one's stderr.

    `executor`: the cluster whose machines it has evaluate, in its stead.

    `-P`: a folder of the user's must not shadow our rooms.
    """
    words = [
        "-P",
        "-m",
        "mcp_server",
        "serve",
        "--engine",
        "--sandbox",
        sandbox,
        "--device",
        device,
    ]
    if python:
        words += ["--python", python]
    if executor:
        words += ["--executor", executor]
    parameters = StdioServerParameters(
        command=sys.executable, args=words, env=_environment(executor)
    )
    return McpEvaluator(
        lambda: stdio_client(parameters, errlog=sys.stderr),
        places=places,
        name=executor.replace(" ", "") or "local",
    )


def remote(url: str, token: str, *, places: int, name: str) -> McpEvaluator:
    """Return the evaluator behind a URL; the token goes into the header alone."""
    return McpEvaluator(lambda: _over_http(url, token), places=places, name=name)


def command(words: Sequence[str], *, places: int, name: str) -> McpEvaluator:
    """Return the evaluator that a command of the person's starts: `ssh HOST pike mcp --engine`, for one."""
    environ = {name: value for name, value in os.environ.items() if not is_secret(name)}
    parameters = StdioServerParameters(command=words[0], args=list(words[1:]), env=environ)
    return McpEvaluator(
        lambda: stdio_client(parameters, errlog=sys.stderr), places=places, name=name
    )


@asynccontextmanager
async def _over_http(url: str, token: str) -> AsyncGenerator[Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = httpx2.Timeout(30, read=60)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout) as web,
        streamable_http_client(url, http_client=web) as streams,
    ):
        yield streams


def default_places(device: str) -> int:
    """Return how many candidates this machine takes at once: building goes beside timing."""
    cores = os.cpu_count() or 2
    return max(2, min(8, cores // 2)) if device.startswith("cuda") else max(1, min(4, cores // 2))


def _environment(executor: str) -> dict[str, str]:
    passed = (*_PASSED, *(_OF_CLUSTER if executor else ()))
    return {name: value for name, value in os.environ.items() if name.startswith(passed)}
