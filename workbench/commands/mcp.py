"""`pike mcp`: the MCP server, on stdio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import config
from workbench.errors import DONE

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Serve until the client is gone. Stdout is the wire: nothing is printed there."""
    from workbench.mcp_command import serve

    settings = config.load({name: getattr(typed, name) for name in ("device", "sandbox", "python")})
    for warning in settings.warnings:
        printer.talk(f"pike: {warning}")
    serve(settings, engine=typed.engine)
    return DONE
