"""One small program run inside a sandbox level, to find out what the level holds back."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from mcp_server import child, folders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.child import Ending
    from mcp_server.link import Message
    from mcp_server.sandbox import Sandbox

_LIMIT_S = 20


async def run(
    sandbox: Sandbox,
    arguments: Sequence[str],
    *,
    reads: tuple[str, ...] = (),
    watched: bool = False,
) -> Ending:
    """Start the sandbox's interpreter in it with these arguments; return how that ended.

    Args:
        sandbox: the level, the device and the limits.
        arguments: of the interpreter: a program's path, or `-c` and its text.
        reads: files of ours that the program needs.
        watched: whether its memory, processes and files are looked at, as those of a candidate are.
    """
    scratch = Path(tempfile.mkdtemp(prefix="pike-probe-"))
    program = [sandbox.interpreter.executable, "-I", "-S", "-B", *arguments]
    environment = {
        "HOME": sandbox.scratch_seen(scratch),
        "PATH": os.defpath,
        "CUDA_VISIBLE_DEVICES": sandbox.device.uuid if sandbox.device.is_gpu else "",
    }
    try:
        started = await child.start(sandbox, program, scratch, environment, reads=reads)
        started.look_every_s = child.CLOSELY_S if watched else None
        with anyio.move_on_after(_LIMIT_S):
            await started.attend()
    finally:
        folders.remove(scratch)
    return started.ending()


def said(printed: str) -> Message:
    """Return the JSON object that a program printed; empty where it printed none."""
    try:
        told: object = json.loads(printed)
    except ValueError:
        return {}
    return cast("Message", told) if isinstance(told, dict) else {}
