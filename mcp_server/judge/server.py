"""The judge's side of the channel: asking the server for workers, the lease, and what a worker printed."""

from __future__ import annotations

import contextlib
import select
import socket
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from mcp_server.judge.faults import Cancelled, Fault

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcp_server.channel import Channel


class Quit(Exception):
    """The server wants the judge to end."""


@dataclass(frozen=True, slots=True)
class GivenWorker:
    """A process that the server started for one purpose."""

    name: str
    socket: socket.socket
    level: str | None
    """Layer around it: `bwrap`, `landlock` or `process`."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a worker left behind."""

    stdout: str
    stderr: str
    exit: int | None
    cause: str | None
    """The limit that ended it, if one did."""


class Server:
    """Requests to the server, and the requests that came from it meanwhile."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.job: str | None = None
        self.leased = True
        """Whether the device must be ours alone; not where nothing is timed and neighbours are none of ours."""
        self.waiting: deque[dict[str, Any]] = deque()
        self._number = 0
        self._holds: Literal["", "shared", "alone"] = ""
        self._began = monotonic()
        self._waited_s = 0.0

    def next_job(self) -> dict[str, Any]:
        """Return the next request to judge, waiting for it.

        Raises:
            Quit: the server wants no more.
        """
        while True:
            message = self.waiting.popleft() if self.waiting else self.channel.receive()[0]
            match message.get("op"):
                case "evaluate" | "qualify":
                    self.job = message["id"]
                    self.leased = message.get("leased") is not False
                    self._began = monotonic()
                    return message
                case "quit":
                    raise Quit
                case _:
                    continue

    def send(self, op: str, **fields: Any) -> None:
        """Tell the server something."""
        self.channel.send({"op": op, **fields})

    def stage(self, stage: str, detail: str = "") -> None:
        """Tell which stage has begun."""
        elapsed_s = monotonic() - self._began
        self.send("stage", id=self.job, stage=stage, detail=detail, elapsed_s=elapsed_s)

    def worker(self, role: str, key: str, *, gpu: bool, interpret: bool = False) -> GivenWorker:
        """Return a worker of that role.

        Raises:
            Fault: none can be started here.
        """
        answer, descriptors = self._ask(
            "need_worker", "worker", role=role, key=key, gpu=gpu, interpret=interpret
        )
        if "error" in answer or not descriptors:
            raise Fault("infra_error", "sandbox_failed", str(answer.get("error", "no worker came")))
        sock = socket.socket(fileno=descriptors[0])
        name, level = str(answer.get("worker")), answer.get("level")
        return GivenWorker(name, sock, level)

    def built(self, worker: GivenWorker, folder: str) -> dict[str, Any]:
        """Have the server build what lies in a folder of a worker; return what the worker is told.

        Raises:
            Fault: the build took too long, or asks for what it may not.
        """
        answer, _ = self._ask("need_build", "built", worker=worker.name, folder=folder)
        match answer.get("outcome"):
            case "late":
                raise Fault("timeout", "build", "Compiling took too long.")
            case "refused":
                raise Fault("compile_error", "flag_refused", str(answer.get("cause"))[:600])
            case outcome:
                return {"outcome": outcome}

    def cpu_s(self, worker: GivenWorker) -> float | None:
        """Return the processor seconds that a worker and what it started have used; None where nobody looks."""
        answer, _ = self._ask("need_cpu", "cpu", worker=worker.name)
        used_s = answer.get("cpu_s")
        return float(used_s) if isinstance(used_s, int | float) else None

    def drop(self, worker: GivenWorker) -> Printed:
        """End a worker and return what it printed."""
        worker.socket.close()
        answer, _ = self._ask("drop_worker", "output", worker=worker.name)
        return Printed(
            str(answer.get("stdout") or ""),
            str(answer.get("stderr") or ""),
            answer.get("exit"),
            answer.get("cause"),
        )

    def clock(self) -> float:
        """Return seconds that stand still while somebody else has the device."""
        return monotonic() - self._waited_s

    @contextlib.contextmanager
    def lease(self, *, shared: bool = False) -> Generator[None]:
        """Hold the device alone, or beside others that do not time anything either.

        What is held already is enough for what is asked inside, but for timing beside others. A request may do
        without.
        """
        if self._holds or not self.leased:
            assert shared or self._holds != "shared", "a shared lease does not grow"
            yield
            return
        request, asked = self._next(), monotonic()
        self.send("need_lease", request=request, shared=shared)
        answer, _ = self._answer("granted", request)
        self._waited_s += monotonic() - asked
        if "error" in answer:
            raise Fault("infra_error", "worker_lost", str(answer["error"]))
        self._holds = "shared" if shared else "alone"
        try:
            yield
        finally:
            self._holds = ""
            self.send("free_lease", request=request)

    def check_cancelled(self) -> None:
        """Raise if the server has withdrawn the request."""
        while select.select([self.channel.socket], [], [], 0)[0]:
            self._sort(self.channel.receive()[0])

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _ask(self, op: str, answer_op: str, **fields: Any) -> tuple[dict[str, Any], list[int]]:
        request = self._next()
        self.send(op, request=request, **fields)
        return self._answer(answer_op, request)

    def _answer(self, op: str, request: int) -> tuple[dict[str, Any], list[int]]:
        withdrawn = False
        while True:
            message, descriptors = self.channel.receive()
            if message.get("op") == op and message.get("request") == request:
                if withdrawn and op == "worker" and descriptors:
                    self._return(message, descriptors)
                if withdrawn:
                    raise Cancelled
                return message, descriptors
            try:
                self._sort(message)
            except Cancelled:
                withdrawn = True

    def _return(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Give back a worker that came after the request was withdrawn."""
        given = socket.socket(fileno=descriptors[0])
        self.drop(GivenWorker(str(message.get("worker")), given, None))

    def _sort(self, message: dict[str, Any]) -> None:
        match message.get("op"):
            case "cancel" if message.get("id") == self.job:
                raise Cancelled
            case "quit":
                raise Quit
            case "evaluate" | "qualify":
                self.waiting.append(message)
            case _:
                return
