"""The server's end of the channel to a judge, without blocking: frames as in channel.py."""

from __future__ import annotations

import array
import json
import socket
import struct
from typing import Any, cast

import anyio

from mcp_server.channel import FRAME_LIMIT, ChannelClosed

Message = dict[str, Any]
"""One frame: JSON from the judge, checked where it is used; the only place of the room with `Any`."""
_HEADER = struct.Struct(">I")


class Link:
    """One reader; sends may come from several tasks."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._sending = anyio.Lock()

    async def send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Send one frame, with descriptors if it names any.

        Raises:
            ChannelClosed: the judge is gone.
        """
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
        frame = memoryview(_HEADER.pack(len(body)) + body)
        async with self._sending:
            rights = descriptors
            while frame:
                sent = await self._send_part(frame, rights)
                frame, rights = frame[sent:], ()

    async def _send_part(self, frame: memoryview, descriptors: tuple[int, ...]) -> int:
        ancillary = []
        if descriptors:
            rights = array.array("i", descriptors).tobytes()
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
        while True:
            try:
                return self._socket.sendmsg([frame], ancillary)
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise ChannelClosed(str(error)) from error

    async def receive(self) -> Message:
        """Return the judge's next message.

        Raises:
            ChannelClosed: it is gone, or sent what is not a frame.
        """
        fields = await self.frame()
        if not isinstance(fields.get("op"), str):
            raise ChannelClosed("a frame without an op")
        return fields

    async def frame(self) -> Message:
        """Return the next frame, whatever its fields.

        Raises:
            ChannelClosed: the other end is gone, or sent what is not a frame.
        """
        (length,) = _HEADER.unpack(await self._exactly(_HEADER.size))
        if length > FRAME_LIMIT:
            raise ChannelClosed(f"a frame of {length} bytes")
        try:
            message: object = json.loads(await self._exactly(length))
        except (ValueError, RecursionError) as error:
            raise ChannelClosed("a frame that is not JSON") from error
        if not isinstance(message, dict):
            raise ChannelClosed("a frame that is not an object")
        return cast("Message", message)  # JSON: checked field by field by its reader

    async def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                data = self._socket.recv(min(size - len(parts), 1 << 20))
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from error
            if not data:
                raise ChannelClosed("the judge ended")
            parts += data
        return bytes(parts)

    def close(self) -> None:
        """Close our end."""
        self._socket.close()
