# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The judge's side of the worker protocol: numbered requests, arenas, deadlines, and the clock around a call.

```
 in arena   | texts 0..2 MiB | data: inputs, weights | reveals |   written by the judge, sealed for everyone else
 out arena  | description of an answer, 64 KiB | its bytes |      read by the judge, sizes never believed
```
"""

from __future__ import annotations

import array
import fcntl
import json
import math
import mmap
import os
import secrets
import socket
import struct
import warnings
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge.faults import Fault, WorkerEnded, lost, rejected
from mcp_server.judge.inputs import stored_bytes
from mcp_server.worker.program import HEADER_LIMIT, META_BYTES, aligned, raw

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.inputs import Patch

TEXT_BYTES = 2 * 1024 * 1024
_LENGTH = struct.Struct(">I")
_ADD_SEALS, _SEAL_FUTURE_WRITE, _SEAL_SHRINK, _SEAL_GROW = 1033, 0x10, 0x2, 0x4

_FAULTS = {
    "syntax": "compile_error",
    "no_model_new": "compile_error",
    "import_failed": "compile_error",
    "build_failed": "compile_error",
    "construct_failed": "runtime_error",
    "call_raised": "runtime_error",
    "cuda_error": "runtime_error",
    "out_of_memory": "runtime_error",
}


@dataclass(frozen=True, slots=True)
class ArenaSizes:
    """Bytes that the largest message of each kind takes; known from the reference."""

    data: int
    reveal: int
    answer: int

    @property
    def reveal_at(self) -> int:
        """Where reveals start in the `in` arena."""
        return TEXT_BYTES + aligned(self.data)

    @property
    def in_bytes(self) -> int:
        """Size of the `in` arena."""
        return self.reveal_at + aligned(self.reveal) + 4096

    @property
    def out_bytes(self) -> int:
        """Size of the `out` arena."""
        return META_BYTES + aligned(self.answer) + 4096


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer as the worker delivered it."""

    tree: dict[str, Any]
    leaves: list[dict[str, Any]]
    data: Tensor
    """Private copy of the bytes, each leaf at a multiple of 64."""
    took_s: float
    """From the question to the last byte in the arena, on the judge's clock."""
    bytes: int
    call: int = 0


@dataclass(frozen=True, slots=True)
class Called:
    """One call, timed outside the process that made it."""

    number: int
    took_s: float
    own_s: float
    """The same by the worker's clock."""
    device_s: list[float] = field(default_factory=list[float])
    """By events on the GPU, for each call of a batch."""


class Worker:
    """One worker process and the memory shared with it."""

    def __init__(
        self,
        connection: socket.socket,
        sizes: ArenaSizes,
        device: str,
        *,
        trusted: bool = False,
    ) -> None:
        self.trusted = trusted
        """Whether it runs the original: then a failure is nobody's but the machine's."""
        self.broken = False
        self.connection = connection
        self.sizes = sizes
        self.device = device
        self.number = 0
        self.posted = monotonic()
        self.asked_s = 0.0
        """How long requests were open: the time in which the worker has a reason to compute."""
        self.spins = (os.cpu_count() or 1) > 2 and device != "cpu"
        self._given, given = _arena(sizes.in_bytes)
        self._wanted, wanted = _arena(sizes.out_bytes)
        self.arena = _tensor(self._given)
        self.out = _tensor(self._wanted)
        _seal(given)
        self._hello(given, wanted)

    def _hello(self, given: int, wanted: int) -> None:
        nonce = secrets.token_hex(8)
        header = {
            "nonce": nonce,
            "device": self.device,
            "threads": worker_threads(),
            "in_bytes": self.sizes.in_bytes,
            "out_bytes": self.sizes.out_bytes,
            "reveal_at": self.sizes.reveal_at,
        }
        self._post("HELLO", header, (given, wanted))
        os.close(given)
        os.close(wanted)
        if self._reply(monotonic() + 60).get("nonce") != nonce:
            raise rejected("protocol", "The worker did not answer the greeting.")

    # --- texts and bytes that go to the worker

    def text(self, value: object) -> dict[str, int]:
        """Put JSON into the arena and return where it is."""
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(data) > TEXT_BYTES:
            raise Fault("compile_error", "import_failed", "The source is too long.")
        self._given[: len(data)] = data
        return {"at": 0, "size": len(data)}

    def put(self, leaves: list[Tensor], at: int | None = None) -> int:
        """Copy the tensors' bytes into the arena, in order, and return where they start."""
        start = at = TEXT_BYTES if at is None else at
        for leaf in leaves:
            size = leaf.numel() * leaf.element_size()
            self.arena[at : at + size].copy_(raw(leaf))
            at += aligned(size)
        return start

    def _put_patch(self, patch: Patch | None, at: int) -> int:
        if patch is not None and patch.kind == "whole":
            return self.put(patch.wholes, at) + stored_bytes(patch.wholes)
        for positions, values in patch.parts if patch else ():
            for part in (positions, values):
                size = part.numel() * part.element_size()
                self.arena[at : at + size].copy_(raw(part))
                at += aligned(size)
        return at

    # --- requests

    def request(self, op: str, deadline_s: float, **fields: Any) -> dict[str, Any]:
        """Ask and return the answer.

        Raises:
            Fault: the worker answered with an error, out of protocol, or too late.
            WorkerEnded: it is gone.
        """
        self._post(op, fields)
        return self._reply(monotonic() + deadline_s)

    def _fault(self, fault: Fault) -> Fault:
        """Return the fault, or the machine's where a trusted worker is at fault."""
        if not self.trusted:
            return fault
        return lost(f"The original fails in its worker: {fault.cause}")

    def call(self, op: str, deadline_s: float, patch: Patch | None, **fields: Any) -> Called:
        """Reveal and call, with the clock started before the reveal is written."""
        reveal = "none" if patch is None else patch.kind
        began = perf_counter()
        self._put_patch(patch, self.sizes.reveal_at)
        self._post(op, {"reveal": reveal, **fields})
        answer = self._reply(monotonic() + deadline_s)
        took_s = perf_counter() - began
        return Called(self.number, took_s, _seconds(answer, "own_s"))

    def batch(self, deadline_s: float, patches: list[tuple[int, Patch]], **fields: Any) -> Called:
        """Reveal several sets at once, all in one way, and have their calls queued on the GPU."""
        began = perf_counter()
        reveal = patches[0][1].kind
        at, places = self.sizes.reveal_at, list[list[int]]()
        for number, patch in patches:
            places.append([number, at])
            at = self._put_patch(patch, at)
        self._post("BATCH", {"sets": places, "reveal": reveal, **fields})
        answer = self._reply(monotonic() + deadline_s)
        took_s = perf_counter() - began
        times = answer.get("device_s")
        if not isinstance(times, list) or len(times) != len(patches):
            raise _protocol()
        checked = [_seconds({"s": value}, "s") for value in times]
        return Called(self.number, took_s, _seconds(answer, "own_s"), checked)

    def fetch(self, call: int, *, want: bool, keep: bool = False, flush: int = 0) -> Fetched | None:
        """Return the answer to that call; or have it thrown away."""
        began = perf_counter()
        self._post("FETCH", {"call": call, "want": want, "keep": keep, "flush": flush})
        answer = self._reply(monotonic() + 60)
        took_s = perf_counter() - began
        if not want:
            return None
        meta, size = answer.get("meta"), answer.get("bytes")
        if not isinstance(meta, int) or not isinstance(size, int) or not 0 < meta <= META_BYTES:
            raise _protocol()
        description = _description(bytes(self._wanted[:meta]))
        room = max(0, min(size, self.sizes.out_bytes - META_BYTES))
        data = self.out[META_BYTES : META_BYTES + room].clone()
        return Fetched(description["tree"], description["leaves"], data, took_s, size, call)

    def table(self, op: str, deadline_s: float, **fields: Any) -> dict[str, Any]:
        """Ask and return the JSON object that the worker left in `out`."""
        meta = self.request(op, deadline_s, **fields).get("meta")
        if not isinstance(meta, int) or not 0 < meta <= META_BYTES:
            raise _protocol()
        try:
            found = json.loads(bytes(self._wanted[:meta]))
        except (ValueError, RecursionError) as error:
            raise _protocol() from error
        if not isinstance(found, dict):
            raise _protocol()
        return found

    def inputs(self, number: int, size: int) -> Tensor:
        """Return a private copy of a set's bytes as the worker has them now."""
        self.request("INPUTS", 60, set=number)
        return self.out[META_BYTES : META_BYTES + size].clone()

    def close(self) -> None:
        """Let the arenas go."""
        self.connection.close()

    # --- frames

    def _post(self, op: str, fields: dict[str, Any], rights: tuple[int, ...] = ()) -> None:
        if self.broken:
            raise self._ended()
        self.number += 1
        body = json.dumps({"n": self.number, "op": op, **fields}).encode()
        frame = _LENGTH.pack(len(body)) + body
        ancillary = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", rights).tobytes())]
            if rights
            else []
        )
        try:
            self.connection.setblocking(True)
            self.posted = monotonic()
            self.connection.sendmsg([frame], ancillary)
        except OSError as error:
            raise self._ended() from error

    def _ended(self) -> Exception:
        self.broken = True
        return lost("A worker that ran the original ended.") if self.trusted else WorkerEnded()

    def _late(self) -> Fault:
        self.broken = True
        return self._fault(Fault("timeout", "call", "The candidate did not answer in time."))

    def _reply(self, deadline: float) -> dict[str, Any]:
        (size,) = _LENGTH.unpack(self._exactly(_LENGTH.size, deadline))
        if size > HEADER_LIMIT:
            raise _protocol()
        self.asked_s += monotonic() - self.posted
        try:
            answer = json.loads(self._exactly(size, deadline))
        except (ValueError, RecursionError) as error:
            raise _protocol() from error
        if not isinstance(answer, dict) or answer.get("n") != self.number:
            raise _protocol()
        if "error" in answer:
            raise self._fault(_told(answer))
        return answer

    def _exactly(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                data = self._some(size - len(parts), deadline)
            except OSError as error:
                raise self._ended() from error
            if not data:
                raise self._ended()
            parts += data
        return bytes(parts)

    def _some(self, size: int, deadline: float) -> bytes:
        if self.spins:
            self.connection.setblocking(False)
            spin_until = min(deadline, monotonic() + 0.05)
            while monotonic() < spin_until:
                try:
                    return self.connection.recv(size)
                except BlockingIOError:
                    continue
        left_s = deadline - monotonic()
        if left_s <= 0:
            raise self._late()
        self.connection.settimeout(left_s)
        try:
            return self.connection.recv(size)
        except TimeoutError:
            raise self._late() from None


def worker_threads() -> int:
    """Return the threads each worker may use: all cores but two, at least one."""
    return max(1, len(os.sched_getaffinity(0)) - 2)


def _arena(size: int) -> tuple[mmap.mmap, int]:
    descriptor = os.memfd_create("arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    return mmap.mmap(descriptor, size), descriptor


def _seal(descriptor: int) -> None:
    """Let nobody else write; kernels before 5.1 cannot, and the arena holds no secret that lasts."""
    seals = _SEAL_SHRINK | _SEAL_GROW | _SEAL_FUTURE_WRITE
    try:
        fcntl.fcntl(descriptor, _ADD_SEALS, seals)
    except OSError:
        return


def _tensor(memory: mmap.mmap) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.frombuffer(memory, dtype=torch.uint8)


def _protocol() -> Fault:
    return rejected("protocol", "The worker's answer is not one of the protocol.")


def _seconds(answer: dict[str, Any], name: str) -> float:
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _protocol()
    return float(value)


def _description(text: bytes) -> dict[str, Any]:
    """Return the worker's description of its answer, or an empty one where it makes no sense."""
    try:
        found = json.loads(text)
        tree, leaves = found["tree"], found["leaves"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _protocol() from error
    if not isinstance(tree, dict) or not isinstance(leaves, list):
        raise _protocol()
    if not all(isinstance(leaf, dict) for leaf in leaves):
        raise _protocol()
    return {"tree": tree, "leaves": leaves}


def _told(answer: dict[str, Any]) -> Fault:
    code, message = answer["error"], answer.get("message", "")
    status = _FAULTS.get(code) if isinstance(code, str) else None
    if status is None or not isinstance(message, str):
        return _protocol()
    return Fault(status, code, message[:600])
