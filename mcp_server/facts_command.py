"""The plain command `facts`: what a device can do at most, measured once and kept."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

import anyio

from mcp_server import facts
from mcp_server.local import open_local

if TYPE_CHECKING:
    from mcp_server.link import Message
    from mcp_server.machine import Device
    from mcp_server.setting import Setting


def main(setting: Setting, *, as_json: bool) -> int:
    """Print the facts of the setting's device, measuring them if nobody did.

    Raises:
        EvaluatorError: no such device, or this machine cannot evaluate.
    """
    device, found = anyio.run(partial(_measure, setting))
    if as_json:
        shown = {"name": device.name, "title": device.title, "uuid": device.uuid, "facts": found}
        sys.stdout.write(json.dumps({**shown, "lines": facts.lines(found)}, indent=1) + "\n")
    else:
        sys.stdout.write(f"{device.name}: {device.title}\n")
        sys.stdout.writelines(f"  {line}\n" for line in facts.lines(found))
    return 0


async def _measure(setting: Setting) -> tuple[Device, Message]:
    async with open_local(setting) as executor:
        return await executor.measure("auto", _told)


def _told(stage: str, detail: str) -> None:
    if detail:
        sys.stderr.write(f"{stage}: {detail}\n")
        sys.stderr.flush()
