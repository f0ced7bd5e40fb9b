"""The tools that drive sessions; offered only where there is a gateway to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from mcp_server.contract import SessionGateway
    from mcp_server.service import Service


def register(server: MCPServer[Service], sessions: SessionGateway) -> None:
    """Add the session tools to a server."""
    del server, sessions
