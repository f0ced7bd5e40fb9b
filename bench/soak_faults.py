"""What goes wrong in `bench/soak.py`: processes killed, and requests that no client would send."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bench.startup import HELLO

if TYPE_CHECKING:
    import random

SLOW_S = 6.0
"""For which a slow request goes on, at most."""


def free_port() -> int:
    """Return a port of loopback that is free."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def listens(port: int) -> bool:
    """Return whether somebody answers there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def processes(mark: str) -> dict[int, str]:
    """Return the command lines of the processes that name a folder in their command or environment, but this one's."""
    found: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ")
            belongs = mark.encode() in command + (path / "environ").read_bytes()
            if belongs and int(path.name) != os.getpid():
                found[int(path.name)] = command.decode(errors="replace").strip()
    return found


def kill_one(mark: str, word: str, chance: random.Random) -> None:
    """Kill one of the folder's processes whose command ends with, or holds, a word; none may be there."""
    fitting = [pid for pid, command in processes(mark).items() if _is(command, word)]
    if fitting:
        os.kill(chance.choice(fitting), signal.SIGKILL)


def _is(command: str, word: str) -> bool:
    return command.endswith(word) if " " in word else word in command


def kill_all(mark: str) -> None:
    """Kill all of a folder's processes."""
    for pid in processes(mark):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _head(port: int, length: int, token: str = "") -> bytes:
    lines = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {length}"]
    lines += ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def cut(port: int, token: str) -> None:
    """Ask for a long evaluation in the newer era, and reset the connection while it runs."""
    source = "import time\ntime.sleep(5)\nsaid = 1\n\nclass ModelNew: pass\n"
    named = {
        "name": "compile_kernel",
        "arguments": {"task_id": "starter/softmax", "source": source},
    }
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    meta |= {"io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "0"}}
    meta |= {"io.modelcontextprotocol/clientCapabilities": {}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**named, "_meta": meta}}
    body = json.dumps(call).encode()
    head = _head(port, len(body), token).replace(
        b"\r\n\r\n",
        b"\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: compile_kernel\r\n\r\n",
    )
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(head + body)
        time.sleep(0.5)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def trickle(port: int, token: str) -> None:
    """Send a body a byte at a time, beside all else."""
    _beside(port, _head(port, 1_000, token))


def half(port: int) -> None:
    """Send headers that never end, beside all else."""
    _beside(port, b"POST /mcp HTTP/1.1\r\nHost: ")


def _beside(port: int, head: bytes) -> None:
    threading.Thread(target=_slowly, args=(port, head), daemon=True).start()


def _slowly(port: int, head: bytes) -> None:
    until = time.monotonic() + SLOW_S
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(head)
        while time.monotonic() < until:
            line.sendall(b"x")
            time.sleep(0.25)


def oversized(port: int, token: str) -> None:
    """Send more than a body may have."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(_head(port, 3_000_000, token) + b"x" * 3_000_000)


def stranger(port: int) -> None:
    """Say hello with a token that opens nothing, and leave without reading the answer."""
    body = json.dumps(HELLO).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(_head(port, len(body), "pike_none") + body)
