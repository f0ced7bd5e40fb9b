"""The server over HTTP: which address, which hosts and origins, how large and how slow a request may be."""

from __future__ import annotations

import ipaddress
import logging
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from mcp_server.callers import BASIC
from mcp_server.errors import BadAddress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mcp_server.app import KernelServer
    from mcp_server.tokens import Tokens

log = logging.getLogger(__name__)

DEFAULT_ADDRESS = "127.0.0.1:8765"
BODY_LIMIT_BYTES = 1_000_000
SESSION_LIMIT = 64
"""Open 2025-era HTTP sessions; the newer era has none."""
BODY_LIMIT_S = 20.0
"""Within which a whole request must have arrived."""
HEADER_LIMIT_S = 10.0
"""Within which a connection must have said what it wants."""
_CONNECTION_LIMIT = 512
_LEAVING_LIMIT_S = 3


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int
    """0 for one that is free."""

    @property
    def is_loopback(self) -> bool:
        """Return whether only this machine reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """Return it as in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def address(typed: str) -> Address:
    """Return the address that was typed: HOST, HOST:PORT, :PORT or PORT; an IPv6 host in brackets.

    Raises:
        BadAddress: it is none.
    """
    default_host, _, default_port = DEFAULT_ADDRESS.rpartition(":")
    host, port = _split(typed.strip())
    if not port.isascii() or not (port or default_port).isdigit() or int(port or 0) > 65_535:
        raise BadAddress(f"{typed!r} is no HOST:PORT: for example {DEFAULT_ADDRESS}.")
    return Address(host or default_host, int(port or default_port))


def _split(typed: str) -> tuple[str, str]:
    if typed.startswith("["):
        host, _, rest = typed[1:].partition("]")
        return host, rest.removeprefix(":")
    if typed.isdigit():
        return "", typed
    host, colon, port = typed.rpartition(":")
    return (host, port) if colon else (typed, "")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call a server over HTTP, and under which names it answers."""

    tokens: Tokens
    at: Address
    hosts: tuple[str, ...] = ()
    """More values of the Host header that are ours, as NAME or NAME:PORT; needed beyond loopback."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every value of the Host header that is answered."""
        own = [str(self.at)]
        if self.at.is_loopback:
            own += [f"{host}:{self.at.port}" for host in ("127.0.0.1", "localhost", "[::1]")]
        for host in self.hosts:
            has_port = host.rpartition(":")[2].isdigit() and not host.endswith("]")
            own += [host] if has_port else [host, f"{host}:{self.at.port}"]
        return tuple(dict.fromkeys(own))

    @property
    def url(self) -> str:
        """Return where a client finds the server."""
        name = self.hosts[0] if self.hosts and not self.at.is_loopback else str(self.at)
        return f"http://{name}/mcp"

    def auth(self) -> AuthSettings:
        """Return what the SDK needs to ask for tokens."""
        base = self.url.removesuffix("/mcp")
        return AuthSettings(
            issuer_url=AnyHttpUrl(base),
            resource_server_url=AnyHttpUrl(self.url),
            required_scopes=[BASIC],
            validate_token_resource=False,  # our tokens are for this server alone
        )

    def security(self) -> TransportSecuritySettings:
        """Return which Host and Origin headers are answered."""
        origins = [f"{scheme}://{name}" for name in self.names for scheme in ("http", "https")]
        return TransportSecuritySettings(allowed_hosts=list(self.names), allowed_origins=origins)


def bind(at: Address) -> tuple[socket.socket, Address]:
    """Listen at an address; returns the socket, and the address with the port that was free.

    Raises:
        BadAddress: it is taken, or not this machine's.
    """
    try:
        found = socket.getaddrinfo(at.host, at.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(found[0], socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(found[4])
    except OSError as error:
        raise BadAddress(
            f"Cannot listen at {at} ({error.strerror}): give another HOST:PORT."
        ) from error
    return listening, Address(at.host, listening.getsockname()[1])


def check(at: Address, hosts: Sequence[str], *, has_file: bool) -> None:
    """Refuse an address that others reach without a token file and names of its own.

    Raises:
        BadAddress: and what is missing.
    """
    if at.is_loopback:
        return
    if not has_file:
        raise BadAddress(
            f"{at.host} can be reached by others: give --token-file FILE; `pike mcp token NAME` adds to it."
        )
    if not hosts:
        raise BadAddress(
            f"{at.host} can be reached by others: give --allow-host NAME, the name in your clients' URLs."
        )


def web_app(server: KernelServer, access: Access) -> Starlette:
    """Return the ASGI application: `/mcp`, `/health`, and what the SDK adds about tokens."""

    @server.custom_route("/health", methods=["GET"])
    async def health(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("ok\n")

    _ = health
    app = server.streamable_http_app(
        host=access.at.host,
        max_request_body_size=BODY_LIMIT_BYTES,
        max_sessions=SESSION_LIMIT,
        transport_security=access.security(),
    )
    app.add_middleware(Timely)
    return app


async def serve(server: KernelServer, access: Access, listening: socket.socket) -> None:
    """Serve until a signal ends it; jobs and processes end with it."""
    config = uvicorn.Config(
        web_app(server, access),
        http=ImpatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # a URL may hold what somebody took for a place for tokens
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTION_LIMIT,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_LEAVING_LIMIT_S,
    )
    with listening:
        await uvicorn.Server(config).serve(sockets=[listening])


class Late(Exception):
    """A request did not arrive in time."""


class Timely:
    """ASGI: ends requests whose body trickles in; those who may not call are refused before it is read."""

    def __init__(self, app: ASGIApp, limit_s: float = BODY_LIMIT_S) -> None:
        """Wrap an application."""
        self.app = app
        self.limit_s = limit_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            await self.app(scope, _timely(receive, self.limit_s), send)
        except Late:  # raised while the body was read, hence before any answer
            answer = PlainTextResponse("Request body too slow", 408, {"Connection": "close"})
            await answer(scope, receive, send)


def _timely(receive: Receive, limit_s: float) -> Receive:
    deadline = anyio.current_time() + limit_s
    whole = False

    async def received() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        with anyio.move_on_at(deadline):
            message = await receive()
            whole = not message.get("more_body", False)
            return message
        raise Late

    return received


class ImpatientProtocol(H11Protocol):
    """uvicorn's protocol, which would wait for ever for a connection's first headers.

    Inherits because uvicorn offers no other place.
    """

    def connection_made(self, transport: Any) -> None:  # uvicorn's own type
        """Give the connection a time to say what it wants."""
        super().connection_made(transport)
        self.loop.call_later(HEADER_LIMIT_S, self._give_up)

    def _give_up(self) -> None:
        if getattr(self, "cycle", None) is None and not self.transport.is_closing():
            self.transport.close()
