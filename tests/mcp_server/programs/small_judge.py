"""A judge without torch, for tests of the processes around it: has a worker execute the candidate's text."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import sys
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_server.channel import Channel

PACKAGE = os.environ.get("SMALL_PACKAGE") or str(Path(__file__).parents[3] / "mcp_server")


def receive(channel: Channel, op: str) -> tuple[dict[str, Any], list[int]]:
    """Return the next message of a kind."""
    while True:
        message, descriptors = channel.receive()
        if message["op"] == op:
            return message, descriptors
        if message["op"] == "cancel":
            raise KeyboardInterrupt


def ask_worker(
    channel: Channel, message: dict[str, Any]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Have a worker execute the source; returns its answer or None, and what it printed."""
    channel.send(
        {
            "op": "need_worker",
            "request": 1,
            "role": "candidate",
            "key": hashlib.sha256(message["source"].encode()).hexdigest(),
            "gpu": False,
        }
    )
    given, descriptors = receive(channel, "worker")
    worker = socket.socket(fileno=descriptors[0])
    worker.settimeout(message["deadlines"]["call"])
    lines = worker.makefile("rw")
    answer: dict[str, Any] | None = None
    try:
        lines.write(json.dumps(message["source"]) + "\n")
        lines.flush()
        answer = json.loads(lines.readline())
    except (OSError, ValueError) as error:
        answer = {"error": type(error).__name__}
    worker.close()
    channel.send({"op": "drop_worker", "request": 2, "worker": given["worker"]})
    return answer, receive(channel, "output")[0]


def judge(channel: Channel, message: dict[str, Any]) -> None:
    """Play one evaluation."""
    number = message["id"]
    channel.send({"op": "stage", "id": number, "stage": "build", "detail": "", "elapsed_s": 0})
    if "judge: garbage" in message["source"]:
        channel.socket.sendall(b"\x00\x00\x00\x05hello")
        time.sleep(60)
    if "judge: unknown op" in message["source"]:
        channel.send({"op": "sudo"})
        time.sleep(60)
    if "judge: dies" in message["source"]:
        os._exit(3)
    if "judge: nonsense verdict" in message["source"]:
        channel.send({"op": "done", "id": number, "verdict": {"status": "splendid"}})
        return
    channel.send({"op": "need_lease", "request": 9})
    receive(channel, "granted")
    channel.send({"op": "stage", "id": number, "stage": "timing", "detail": "", "elapsed_s": 0})
    answer, output = ask_worker(channel, message)
    channel.send({"op": "free_lease", "request": 9})
    channel.send({"op": "qualified", "id": number, "qualification": {"known": True}})
    right = answer is not None and "said" in answer
    verdict: dict[str, Any] = {
        "status": "ok" if right else "runtime_error",
        "code": None
        if right
        else (output["cause"] if output["cause"] == "memory_limit" else "crashed"),
        "stage": "timing",
        "cause": "The small judge was asked.",
        "flags": ["knew"] if message["qualification"] else [],
    }
    channel.send(
        {
            "op": "done",
            "id": number,
            "verdict": verdict,
            "evidence": {"output": output, "answer": answer},
        }
    )


def main() -> None:
    """Say hello and judge until told to quit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int)
    number = parser.parse_args().fd
    package = types.ModuleType("mcp_server")
    package.__path__ = [PACKAGE]
    sys.modules["mcp_server"] = package
    from mcp_server.channel import Channel, ChannelClosed

    channel = Channel(socket.socket(fileno=number))
    channel.send({"op": "hello", "torch": "none", "device": "cpu", "pid": os.getpid()})
    while True:
        try:
            judge(channel, receive(channel, "evaluate")[0])
        except KeyboardInterrupt:
            channel.send({"op": "done", "verdict": {}, "evidence": {}})
        except ChannelClosed:
            return


if __name__ == "__main__":
    main()
