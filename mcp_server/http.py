"""The server over HTTP: its socket, and how large and how slow a request may be."""

from __future__ import annotations

import asyncio
import logging
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from mcp_server import tokens
from mcp_server.access import Access, Address, address, check
from mcp_server.errors import CannotListen
from mcp_server.shares import Shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mcp_server.access import Web
    from mcp_server.app import KernelServer

log = logging.getLogger(__name__)

BODY_LIMIT_BYTES = 1_000_000
SESSION_LIMIT = 256
"""Open 2025-era HTTP sessions; the newer era has none."""
_SHARES = 4
"""Tokens that it takes to hold them all."""
BODY_LIMIT_S = 20.0
"""Within which a whole request must have arrived."""
HEADER_LIMIT_S = 10.0
"""Within which a connection must have said what it wants."""
_CONNECTION_LIMIT = 512
_LEAVING_LIMIT_S = 3
_WAITING = 512
"""Connections that nobody has taken yet."""


def bind(at: Address) -> tuple[socket.socket, Address]:
    """Listen at an address; returns the socket, and the address with the port that was free.

    Raises:
        CannotListen: it is taken, or not this machine's.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            at.host, at.port, type=socket.SOCK_STREAM
        )[0]
        # with its protocol named: asyncio sends at once only on what says that it is TCP, else answers take 40 ms
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _not_there(at, error) from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(_WAITING)  # from now on clients wait until they are answered
    except OSError as error:
        listening.close()
        raise _not_there(at, error) from error
    return listening, Address(at.host, listening.getsockname()[1])


def _not_there(at: Address, error: OSError) -> CannotListen:
    return CannotListen(f"Cannot listen at {at} ({error.strerror}): give another HOST:PORT.")


@dataclass(frozen=True, slots=True)
class Opened:
    """A socket that listens, and who may speak to it."""

    access: Access
    listening: socket.socket
    token: str | None
    """Made for this run, where there is no file; shown once."""


def open_web(web: Web, scopes: Sequence[str]) -> Opened:
    """Listen at the wished address; without a token file a token with these scopes is made, on loopback only.

    Raises:
        BadAddress: nothing should listen there.
        CannotListen: nothing can.
        BadTokenFile: the file is not as it should be.
    """
    at = address(web.address)
    check(at, web.hosts, has_file=web.token_file is not None)
    if web.token_file is not None:
        tokens.read(web.token_file)
        known, token = tokens.Tokens(web.token_file), None
    else:
        token, grant = tokens.new("owner", scopes)
        known = tokens.Tokens(grants=(grant,))
    listening, bound = bind(at)
    return Opened(Access(known, bound, web.hosts), listening, token)


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
    app.add_middleware(Shares, known=access.tokens, share=max(1, SESSION_LIMIT // _SHARES))
    app.add_middleware(Timely)
    app.add_middleware(Leaving)
    return app


async def serve(server: KernelServer, access: Access, listening: socket.socket) -> None:
    """Serve until a signal ends it; jobs and processes end with it."""
    with listening:
        await web_server(server, access).serve(sockets=[listening])


def web_server(server: KernelServer, access: Access) -> uvicorn.Server:
    """Return the web server; it ends in order once its `should_exit` is set."""
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
        backlog=_WAITING,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_LEAVING_LIMIT_S,
    )
    return uvicorn.Server(config)


class Leaving:
    """ASGI: ends in order what a server that is told to end cuts short; uvicorn would log a traceback of each call."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = ended = False

        async def noted(message: Message) -> None:
            nonlocal begun, ended
            begun = begun or message["type"] == "http.response.start"
            ended = ended or (
                message["type"] == "http.response.body" and not message.get("more_body", False)
            )
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except asyncio.CancelledError:
            if not begun:
                answer = PlainTextResponse("The server ends", 503, {"Connection": "close"})
                await answer(scope, receive, send)
            elif not ended:
                await send({"type": "http.response.body", "body": b"", "more_body": False})


class Timely:
    """ASGI: ends requests whose body trickles in or breaks off; who may not call is refused before it is read."""

    def __init__(self, app: ASGIApp, limit_s: float = BODY_LIMIT_S) -> None:
        """Wrap an application."""
        self.app = app
        self.limit_s = limit_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        serving = anyio.CancelScope()
        body = _Body(receive, anyio.current_time() + self.limit_s, serving)
        with serving:
            await self.app(scope, body.received, send)
        if body.late:  # while the body was read, hence before any answer
            answer = PlainTextResponse("Request body too slow", 408, {"Connection": "close"})
            await answer(scope, receive, send)


@dataclass(slots=True)
class _Body:
    """A request's body as it arrives; one that never will be whole ends its serving, with nothing raised there."""

    receive: Receive
    deadline: float
    serving: anyio.CancelScope
    whole: bool = False
    late: bool = False

    async def received(self) -> Message:
        """Return the next message."""
        if self.whole:
            return await self.receive()
        with anyio.move_on_at(self.deadline):
            message = await self.receive()
            if message["type"] == "http.request":
                self.whole = not message.get("more_body", False)
                return message
        self.late = anyio.current_time() >= self.deadline
        self.serving.cancel()
        await anyio.sleep_forever()
        raise AssertionError("a cancelled request goes on")


class ImpatientProtocol(H11Protocol):
    """uvicorn's protocol, which would wait for ever for the rest of a request that nobody serves yet, or any more.

    That is one whose headers are not whole, and one refused before its body was. Inherits because uvicorn offers no
    other place.
    """

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # uvicorn's own type
        """Give the connection a time to say what it wants."""
        super().connection_made(transport)
        self._hurry()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; what does not make a request whole gives no new time."""
        super().data_received(data)
        self._hurry()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection's time."""
        super().connection_lost(exc)
        self._calm()

    def _hurry(self) -> None:
        if self._serves():
            self._calm()
        elif self._patience is None:
            self._patience = self.loop.call_later(HEADER_LIMIT_S, self._give_up)

    def _calm(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _serves(self) -> bool:
        cycle = getattr(self, "cycle", None)
        return cycle is not None and not cycle.response_complete

    def _give_up(self) -> None:
        self._patience = None
        if not self._serves() and not self.transport.is_closing():
            self.transport.close()
