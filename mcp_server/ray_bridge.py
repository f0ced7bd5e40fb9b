"""The program between a server and Ray: Ray's threads, its chatter and its fatal errors stay in here.

A driver of Ray ends its own process when the cluster's head is gone, prints where it likes, and needs seconds to
import: a server must do none of these. It starts this program at its first job, speaks frames of JSON with it over a
socket (link.py), and starts it again when it has ended. With the socket, or with this program, all that it started
ends: actors are not detached, and a cluster that it made for itself is its child.

| from the server | from here |
| --- | --- |
| `run` id host work | `done` id reply, or `lost` id cause |
| `told` id host work | the same |
| `cancel` id host | |
| `close` | |
| | `ready` address, `failed` cause |
| | `nodes` names, `host` name facts, `gone` name cause, `stage` id stage detail |
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import select
import socket
import threading
from typing import TYPE_CHECKING, Any

import anyio

from mcp_server.channel import ChannelClosed
from mcp_server.link import Link
from mcp_server.ray_cluster import Cluster, one_line

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

_STORE_BYTES = 80 * 1024 * 1024
"""Nobody needs more for JSON."""

_REACH_LIMIT_S = 10.0
_LOOK_MS = 200


def connect(ray: Any, address: str) -> str:
    """Join the cluster of an address, or make one of this machine for `auto`; return where it is.

    Raises:
        Exception: Ray's own, of many kinds.
    """
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "pike"}
    if address != "auto":
        ray.init(address, **quiet)
        return address
    try:
        return str(ray.init("auto", **quiet).address_info["gcs_address"])
    except ConnectionError as refused:
        alone = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            ray.init(object_store_memory=_STORE_BYTES, **alone, **quiet)
        except ValueError:  # there is a cluster, which takes no such wish: it did not let us in
            raise refused from None
        return "auto"


def reach(address: str) -> None:
    """Find out whether anybody listens at an address: Ray would try for half a minute.

    Raises:
        OSError: nobody does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _REACH_LIMIT_S).close()


def leave_early(fd: int, connected: threading.Event) -> None:
    """End this program if the server is gone, or wants no more of it, before Ray is connected.

    What Ray started ends with us. The server says nothing before it knows that we are connected.
    """
    waiting = select.poll()
    waiting.register(fd, select.POLLIN)
    while not connected.is_set():
        if waiting.poll(_LOOK_MS):
            os._exit(1)


def main() -> None:
    """Connect, and serve until the server or the cluster is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--setting", required=True)
    typed = parser.parse_args()
    connected = threading.Event()
    threading.Thread(target=leave_early, args=(typed.fd, connected), daemon=True).start()
    link = Link(socket.socket(fileno=typed.fd))
    try:
        reach(typed.address)
        ray = importlib.import_module("ray")
        where = connect(ray, typed.address)
    except Exception as error:  # noqa: BLE001 -- Ray raises whatever its parts raise
        anyio.run(link.send, {"op": "failed", "cause": one_line(error)})
        return
    connected.set()
    anyio.run(_serve, link, Cluster(ray, typed.setting.encode(), link), where)
    if not where.startswith(("auto", "ray://")):
        os._exit(0)  # Ray would take leave of a head that may be gone; our actors have ended


async def _serve(link: Link, cluster: Cluster, where: str) -> None:
    with contextlib.suppress(ChannelClosed):
        await link.send({"op": "ready", "address": where})
        async with anyio.create_task_group() as group:
            group.start_soon(cluster.watch)
            await _listen(link, cluster, group)
            await cluster.close()
            group.cancel_scope.cancel()


async def _listen(link: Link, cluster: Cluster, group: TaskGroup) -> None:
    """Do what the server asks until it says `close`, or is gone."""
    with contextlib.suppress(ChannelClosed):
        while (asked := await link.receive())["op"] != "close":
            group.start_soon(cluster.act, asked)


if __name__ == "__main__":
    main()
