"""Who calls, and what a caller may: one client on stdio, the owner of a token over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.auth_context import get_access_token

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

LOCAL = "local"
"""The one client on stdio; no token's client may be called so."""
ENGINE, TASKS, ALL_SESSIONS = "engine", "tasks", "sessions:all"
BASIC = "kernels"
"""The scope without which a token opens nothing."""
SCOPES = (BASIC, ENGINE, TASKS, ALL_SESSIONS)


@dataclass(frozen=True, slots=True)
class Callers:
    """The rule of one server."""

    remote: bool = False
    """Whether every call comes with a token, over HTTP."""
    engine: bool = False
    """Whether every caller may use `evaluate_kernel`."""

    def name(self) -> str:
        """Return whose jobs, candidates and sessions the current call may see.

        Raises:
            PermissionError: a call over HTTP without a token, which the transport lets nobody make.
        """
        return self._token().client_id if self.remote else LOCAL

    def may(self, scope: str) -> bool:
        """Return whether the current call's caller has a scope; on stdio it is whoever started the server."""
        if scope == ENGINE and self.engine:
            return True
        return scope in self._token().scopes if self.remote else scope != ENGINE

    def _token(self) -> AccessToken:
        token = get_access_token()
        if token is None:
            raise PermissionError("a call over HTTP without a token")
        return token
