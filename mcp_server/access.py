"""Where a server listens over HTTP, under which names it answers, and who may call."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from mcp_server.callers import BASIC
from mcp_server.errors import BadAddress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.tokens import Tokens

DEFAULT_ADDRESS = "127.0.0.1:8765"


@dataclass(frozen=True, slots=True)
class Web:
    """What was asked for."""

    address: str = DEFAULT_ADDRESS
    token_file: Path | None = None
    """Of digests; read again when it changes."""
    hosts: tuple[str, ...] = ()


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
    named = re.fullmatch(r"[\w.-]*|[0-9A-Fa-f:.]+", host)
    if not named or not re.fullmatch(r"[0-9]{0,5}", port) or int(port or 0) > 65_535:
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
        beyond = [name for name in self.names[1:] if ":" in name] if not self.at.is_loopback else []
        return f"http://{beyond[0] if beyond else self.at}/mcp"

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
