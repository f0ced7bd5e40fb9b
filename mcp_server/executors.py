"""The executor that `--executor` names: this machine, or a cluster's."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp_server.local import open_local

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp_server.executor import Executor
    from mcp_server.setting import Setting


def check(setting: Setting) -> None:
    """Refuse an executor that is none, or whose package is not installed; nothing is started.

    Raises:
        ExecutorUnavailable: it cannot be used.
    """
    if setting.executor != "local":
        from mcp_server import ray_address  # most servers are of one machine

        ray_address.address_of(setting.executor)


@asynccontextmanager
async def open_executor(setting: Setting) -> AsyncGenerator[Executor]:
    """Yield the executor of a setting; its processes, on whichever machine, end with the block.

    Raises:
        ExecutorUnavailable: it cannot be used.
    """
    if setting.executor == "local":
        async with open_local(setting) as local:
            yield local
        return
    from mcp_server.ray_executor import open_ray

    async with open_ray(setting, setting.executor) as cluster:
        yield cluster
