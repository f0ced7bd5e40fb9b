"""A candidate's import ahead of its evaluation, without GPU and judge, for what it builds on the way.

Extensions take tens of seconds: they are built while others are measured, and kept; the import that counts, in the
worker that is judged, then finds them. What else happens here is of no account: a rehearsal that fails says nothing.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_server.channel import ChannelClosed
from mcp_server.child import OFTEN_S
from mcp_server.errors import EvaluatorError
from mcp_server.link import Link, Message

if TYPE_CHECKING:
    from mcp_server.build_store import Built
    from mcp_server.builder import Builder
    from mcp_server.pool import Pool, Worker

_TEXT_BYTES = 2 * 1024 * 1024
_ANSWER_BYTES = 1024 * 1024
_HELLO_LIMIT_S = 120.0
_MOST_BUILDS = 32


@dataclass(slots=True)
class Rehearsed:
    """What was built ahead."""

    builds: list[Built] = field(default_factory=list["Built"])
    cpu_s: float = 0.0
    late: Literal["", "build", "import"] = ""
    """What did not end within its limit."""


def worthwhile(source: str) -> bool:
    """Return whether a source seems to build an extension."""
    return "cpp_extension" in source


async def rehearse(pool: Pool, builder: Builder, source: str, limit_s: float) -> Rehearsed:
    """Import the source in a process of its own, and build what it asks for."""
    found = Rehearsed()
    try:
        worker = await pool.take(touches_gpu=False)
    except (OSError, EvaluatorError):
        return found
    worker.child.look_every_s = OFTEN_S
    link = Link(worker.socket)
    try:
        await _import(link, worker, builder, source, limit_s, found)
    except (ChannelClosed, TimeoutError, OSError, ValueError):
        pass
    finally:
        with anyio.CancelScope(shield=True):
            found.cpu_s = worker.child.count_cpu()
            await pool.drop(worker)
            await pool.discard(worker.child)
    return found


async def _import(
    link: Link, worker: Worker, builder: Builder, source: str, limit_s: float, found: Rehearsed
) -> None:
    text = json.dumps({"source": source, "class": "ModelNew"}).encode("utf-8", "surrogatepass")
    await _greet(link, text)
    request: Message = {"n": 2, "op": "LOAD", "slot": "candidate", "phase": "import"}
    request |= {"builds": True, "at": 0, "size": len(text)}
    for number in range(_MOST_BUILDS):
        await link.send(request)
        answer: Message | None = None
        with anyio.move_on_after(limit_s):
            answer = await link.frame()
        if answer is None:
            found.late = "import"
        if answer is None or "build" not in answer:
            return
        folder = str(answer["build"])[:1000]
        built = await builder.build(worker.child.scratch, folder, limit_s)
        found.builds.append(built)
        if built.said == "late":
            found.late = "build"
        if built.said in ("late", "left"):  # what is left is built once, where it counts
            return
        request = {"n": 3 + number, "op": "BUILT", "outcome": built.said}


async def _greet(link: Link, text: bytes) -> None:
    given, wanted = _memory(_TEXT_BYTES), _memory(_ANSWER_BYTES)
    try:
        with mmap.mmap(given, _TEXT_BYTES) as memory:
            memory[: len(text)] = text
        hello: Message = {"n": 1, "op": "HELLO", "nonce": secrets.token_hex(8), "device": "cpu"}
        hello |= {"threads": 1, "in_bytes": _TEXT_BYTES, "out_bytes": _ANSWER_BYTES}
        await link.send({**hello, "reveal_at": 0}, (given, wanted))
        with anyio.fail_after(_HELLO_LIMIT_S):
            await link.frame()
    finally:
        os.close(given)
        os.close(wanted)


def _memory(size: int) -> int:
    descriptor = os.memfd_create("arena", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor
