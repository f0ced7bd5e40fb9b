"""How many HTTP sessions of the 2025 era each token may hold: a share of all, so that there are some left for others.

The newer era has no such sessions. A client that was killed leaves its own behind; so where a share is full, the one
that has been idle longest makes way. Only where all of them are in use is the next one refused.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from mcp_types import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mcp_server.tokens import Tokens

log = logging.getLogger(__name__)

_SESSION, _VERSION = "mcp-session-id", "mcp-protocol-version"
_OF_A_BODY = (b"content-length", b"content-type", b"transfer-encoding")
_MADE, _GONE = 200, 404


@dataclass(slots=True)
class _Held:
    """An open session."""

    caller: str
    used: int
    """When its last request ended, counted in turns."""
    busy: int = 0
    """Requests under way, an open stream among them."""


@dataclass(slots=True)
class Shares:
    """ASGI: keeps each token to its share of the sessions."""

    app: ASGIApp
    known: Tokens
    share: int
    """Sessions that one token may hold at once."""
    _held: dict[str, _Held] = field(default_factory=dict[str, _Held])
    _opening: Counter[str] = field(default_factory=Counter[str])
    """Caller to how many it is about to open."""
    _turns: Iterator[int] = field(default_factory=count)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        caller = await self._caller(scope) if scope["type"] == "http" else None
        session = Headers(scope=scope).get(_SESSION) if caller is not None else None
        held = self._held.get(session) if session is not None else None
        if session is not None and held is not None and held.caller == caller:
            await self._use(session, held, scope, receive, send)
        elif caller is None or not _opens(scope):
            await self.app(scope, receive, send)
        elif await self._has_room(caller, scope):
            await self._open(caller, scope, receive, send)
        else:
            log.warning("a token has %d sessions in use: the next is refused", self.share)
            await _refusal(self.share)(scope, receive, send)

    async def _caller(self, scope: Scope) -> str | None:
        """Return whose token comes with a request; None: none that is valid, as will be said further in."""
        kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        found = await self.known.verify_token(token) if kind.lower() == "bearer" else None
        return found.subject if found is not None else None

    async def _use(
        self, session: str, held: _Held, scope: Scope, receive: Receive, send: Send
    ) -> None:
        ends = scope["method"] == "DELETE"

        async def noted(message: Message) -> None:
            status: int = message.get("status", 0)
            if status == _GONE or (ends and status == _MADE):
                self._held.pop(session, None)
            await send(message)

        held.busy += 1
        try:
            await self.app(scope, receive, noted)
        finally:
            held.busy -= 1
            held.used = next(self._turns)

    async def _has_room(self, caller: str, scope: Scope) -> bool:
        """Return whether a caller may open another session; one of its own that is idle makes way."""
        mine = {name: held for name, held in self._held.items() if held.caller == caller}
        if len(mine) + self._opening[caller] < self.share:
            return True
        idle = [name for name, held in mine.items() if held.busy == 0]
        if not idle:
            return False
        oldest = min(idle, key=lambda name: mine[name].used)
        del self._held[oldest]
        await self.app(_ending(scope, oldest), _nothing, _unheard)
        return True

    async def _open(self, caller: str, scope: Scope, receive: Receive, send: Send) -> None:
        held: _Held | None = None

        async def noted(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and message["status"] == _MADE:
                session = Headers(raw=message["headers"]).get(_SESSION)
                if session is not None:
                    self._opening[caller] -= 1
                    held = self._held[session] = _Held(caller, next(self._turns), busy=1)
            await send(message)

        self._opening[caller] += 1
        try:
            await self.app(scope, receive, noted)
        finally:
            if held is None:
                self._opening[caller] -= 1
            else:
                held.busy -= 1


def _opens(scope: Scope) -> bool:
    """Return whether a request may open a session: none is named, and its revision has them."""
    headers = Headers(scope=scope)
    version = headers.get(_VERSION)
    named = headers.get(_SESSION) is not None
    return (
        scope["method"] == "POST" and not named and version in (None, *HANDSHAKE_PROTOCOL_VERSIONS)
    )


def _ending(scope: Scope, session: str) -> Scope:
    """Return the request with which a client ends a session itself, with the token of the one that came."""
    kept = [(name, value) for name, value in scope["headers"] if name not in _OF_A_BODY]
    named = (_SESSION.encode(), session.encode())
    return {**scope, "method": "DELETE", "headers": [*kept, named]}


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(message: Message) -> None:
    del message


def _refusal(share: int) -> JSONResponse:
    said = f"This token has {share} sessions in use, which is its share: end one, then try again."
    error = {"code": INTERNAL_ERROR, "message": said}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 503)
