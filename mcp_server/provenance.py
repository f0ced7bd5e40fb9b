"""What a kept table is of: the day, the machine and the versions, in one sentence, and the command that made it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server import machine
from mcp_server.release import version

if TYPE_CHECKING:
    from mcp_server.interpreter import Interpreter
    from mcp_server.machine import Device


def line(device: Device, python: Interpreter, command: str) -> str:
    """Return the sentences for a page about what was measured on a device."""
    driver = machine.driver() if device.is_gpu else None
    parts = [
        f"{datetime.now(UTC):%Y-%m-%d}",
        f"{device.title} (`{device.name}`)",
        f"{machine.cores()} cores",
        *([f"driver {driver}"] if driver else []),
        f"Linux {'.'.join(platform.release().split('.')[:2])}",
        f"Python {'.'.join(map(str, python.version))}",
        f"torch {python.torch}",
        f"evaluator {version()}",
    ]
    return f"{', '.join(parts)}. Made by `{command}`."
