"""Framed JSON with passed descriptors between the server and a judge, over one Unix socket pair.

A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON (an object with `op`); descriptors ride on the
frame that names them. Standard library only: the judge loads this file under the user's interpreter.

| server → judge | fields | descriptors |
| --- | --- | --- |
| `evaluate` | `id`, `task_id`, `task_path`, `source`, `device`, `precision`, `tolerance`, `beat` or null, `mode`, `stages` (what is wanted, of build, correctness, timing, confirm), `qualification` (what an earlier judge measured of this task under this policy, or null), `deadlines` (stage → seconds), `agent_task` | |
| `qualify` | as `evaluate` without a source: qualification and baselines alone | |
| `worker` | `request`, `worker`, `pid`, `level`, `scratch` or null; or `request`, `error` | the worker's socket |
| `granted` | `request`; or `request`, `error` | |
| `output` | `request`, `stdout`, `stderr`, `exit` (null while it lives), `cause` (`memory_limit`, `output_limit`, `disk_full` or null) of a worker | |
| `cancel` | `id` | |
| `quit` | | |

| judge → server | fields |
| --- | --- |
| `hello` | `torch`, `cuda`, `driver`, `device`, `device_name`, `device_uuid`, `python` |
| `stage` | `id`, `stage`, `detail`, `elapsed_s` |
| `need_worker` | `request`, `role` (`candidate`, `baseline`), `key` (workers of one key share a build folder: one candidate, or one task's baselines), `gpu` (whether it may touch the device), `interpret` (Triton's interpreter) |
| `need_cpu` | `request`, `worker`: `cpu` tells the processor seconds that it and what it started have used |
| `drop_worker` | `request`, `worker`: end it, then `output` tells what it printed |
| `need_lease`, `free_lease` | `request`; builds and refills stop while a lease is held |
| `qualified` | `id`, `qualification`: JSON to keep under (task, policy, device, torch, driver) |
| `done` | `id`, `verdict` (fields of `contract.Verdict`), `evidence` (raw samples, seeds) |
"""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any, cast

FRAME_LIMIT = 32 * 1024 * 1024
_HEADER = struct.Struct(">I")


class ChannelClosed(ConnectionError):
    """The other side is gone, or sent what is not a frame."""


class Channel:
    """One end of the socket pair; blocking, one reader and one writer at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._descriptors: list[int] = []

    def send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Send one frame, with descriptors if it names any.

        Half a surrogate, which a candidate may put into what it raises, becomes a question mark.
        """
        body = json.dumps(message, ensure_ascii=False, allow_nan=True).encode("utf-8", "replace")
        frame = _HEADER.pack(len(body)) + body
        try:
            if descriptors:
                rights = array.array("i", descriptors).tobytes()
                sent = self.socket.sendmsg(
                    [frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
                )
                frame = frame[sent:]
            self.socket.sendall(frame)
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Return the next frame, and the descriptors that came with it.

        Raises:
            ChannelClosed: the other side ended, or the frame is malformed.
            TimeoutError: the socket has a timeout, and it passed.
        """
        (length,) = _HEADER.unpack(self._exactly(_HEADER.size))
        if length > FRAME_LIMIT:
            raise ChannelClosed(f"a frame of {length} bytes")
        body = self._exactly(length)
        descriptors, self._descriptors = self._descriptors, []
        try:
            message = json.loads(body)
        except ValueError as error:
            raise ChannelClosed("a frame that is not JSON") from error
        if not isinstance(message, dict):
            raise ChannelClosed("a frame that is not an object")
        return cast("dict[str, Any]", message), descriptors  # JSON objects have string keys

    def close(self) -> None:
        """Close the socket; the other side sees the end."""
        self.socket.close()

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(
                    size - len(parts), socket.CMSG_SPACE(16 * 4)
                )
            except TimeoutError:
                if parts:
                    continue
                raise
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not data:
                raise ChannelClosed("the other side ended")
            parts += data
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    found = array.array("i")
                    found.frombytes(payload[: len(payload) - len(payload) % found.itemsize])
                    self._descriptors += found
        return bytes(parts)
