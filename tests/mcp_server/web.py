"""The server over HTTP in this process, on a free port of loopback, with the small judge and worker."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_server import http, tokens
from mcp_server.access import Access, Address
from mcp_server.app import build

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from mcp_server.contract import SessionGateway
    from mcp_server.setting import Setting

Mode = Literal["auto", "legacy"]
BOTH_ERAS: tuple[Mode, ...] = ("auto", "legacy")


@dataclass(frozen=True)
class Served:
    """A server that listens, and a token for each client."""

    access: Access
    tokens: dict[str, str]

    @property
    def url(self) -> str:
        return self.access.url

    def header(self, client: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[client]}"}

    @asynccontextmanager
    async def client(self, name: str, mode: Mode = "auto") -> AsyncGenerator[Client]:
        """Yield a client of the SDK."""
        async with (
            httpx2.AsyncClient(headers=self.header(name), timeout=60) as web,
            Client(streamable_http_client(self.url, http_client=web), mode=mode) as client,
        ):
            yield client

    @asynccontextmanager
    async def web(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """Yield what sends requests that no client would."""
        async with httpx2.AsyncClient(timeout=60) as web:
            yield web


@asynccontextmanager
async def served(
    setting: Setting,
    clients: Mapping[str, Iterable[str]] | None = None,
    *,
    engine: bool = False,
    sessions: SessionGateway | None = None,
) -> AsyncGenerator[Served]:
    """Serve clients with their scopes until the block ends."""
    made = {name: tokens.new(name, scopes) for name, scopes in (clients or {"one": ()}).items()}
    listening, at = http.bind(Address("127.0.0.1", 0))
    known = tokens.Tokens(grants=tuple(grant for _, grant in made.values()))
    access = Access(known, at)
    built = build(setting, engine=engine, sessions=sessions, access=access)
    server = http.web_server(built, access)
    async with anyio.create_task_group() as group:
        group.start_soon(server.serve, [listening])
        try:
            yield Served(access, {name: token for name, (token, _) in made.items()})
        finally:
            server.should_exit = True
    listening.close()
