"""Bearer tokens: a file of digests says who may call over HTTP, and what; a token itself is kept nowhere.

One JSON object a line: `{"digest": "…64 hex digits…", "client_id": "laptop", "scopes": ["kernels", "engine"]}`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcp.server.auth.provider import AccessToken

from mcp_server.callers import BASIC, LOCAL, SCOPES
from mcp_server.errors import BadTokenFile, NotAGrant

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

log = logging.getLogger(__name__)

_CLIENT = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FILE_LIMIT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Grant:
    """What one token opens."""

    digest: str
    """SHA-256 of the token, in hex."""
    client_id: str
    scopes: tuple[str, ...] = (BASIC,)

    def line(self) -> str:
        """Return it as a line of a token file."""
        shown = {"digest": self.digest, "client_id": self.client_id, "scopes": list(self.scopes)}
        return json.dumps(shown) + "\n"


def new(client_id: str, scopes: Iterable[str] = ()) -> tuple[str, Grant]:
    """Return a new token and what it opens; scope `kernels` is always among it.

    Raises:
        NotAGrant: the client's name or a scope is none.
    """
    if not _CLIENT.fullmatch(client_id) or client_id == LOCAL:
        raise NotAGrant(
            f"{client_id!r} cannot name a client: at most 64 letters, digits, '.', '_' and '-', not {LOCAL!r}."
        )
    token = f"pike_{secrets.token_urlsafe(32)}"
    wanted = tuple(dict.fromkeys((BASIC, *scopes)))
    strange = next((scope for scope in wanted if scope not in SCOPES), None)
    if strange is not None:
        raise NotAGrant(f"There is no scope {strange!r}: there are {', '.join(SCOPES)}.")
    return token, Grant(digest(token), client_id, wanted)


def digest(token: str) -> str:
    """Return what a token file keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def append(path: Path, grant: Grant) -> None:
    """Add a line to a token file, which is made for its owner alone if there is none.

    Raises:
        BadTokenFile: the file cannot be written, or is no token file.
    """
    if path.exists():
        read(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(grant.line())
    except OSError as error:
        raise BadTokenFile(f"{path} cannot be written ({error.strerror}): name another.") from error


def read(path: Path) -> tuple[Grant, ...]:
    """Return what a token file grants.

    Raises:
        BadTokenFile: it cannot be read, a line is not as it should be, or others may write it.
    """
    try:
        if path.stat().st_mode & 0o022:
            raise BadTokenFile(f"Others may write {path}: chmod go-w it, then start again.")
        with path.open(encoding="utf-8") as file:
            text = file.read(_FILE_LIMIT_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise BadTokenFile(f"The token file {path} cannot be read ({why}): check it.") from error
    numbered = enumerate(text.splitlines(), 1)
    return tuple(_parsed(line, f"{path}, line {n}") for n, line in numbered if line.strip())


@dataclass(slots=True)
class Tokens:
    """The SDK's verifier: reads its file again when it changes, so that a removed line closes at once."""

    path: Path | None = None
    grants: tuple[Grant, ...] = ()
    """Of tokens made for this run; the file's are added to them."""
    _stamp: tuple[int, int, int] | None = None
    _read: tuple[Grant, ...] = field(default=())

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whose token it is, or None; all entries are compared, whichever fits."""
        wanted = digest(token)
        fitting = [g for g in self.all() if hmac.compare_digest(g.digest, wanted)]
        if not fitting:
            return None
        grant = fitting[0]
        scopes = list(grant.scopes)
        # The token is not handed on: nothing behind this needs it. Two tokens of a client are two subjects, since
        # an HTTP session must not pass from one to the other's scopes.
        return AccessToken(
            token="", client_id=grant.client_id, subject=grant.digest[:16], scopes=scopes
        )

    def all(self) -> tuple[Grant, ...]:
        """Return every grant in force; none of a file that is not as it should be any more."""
        if self.path is None:
            return self.grants
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if stamp != self._stamp:
                self._read, self._stamp = read(self.path), stamp
        except (OSError, BadTokenFile) as error:
            if self._read or self._stamp is None:
                log.error("no token is valid until this is mended: %s", error)
            self._read, self._stamp = (), (0, 0, 0)
        return (*self.grants, *self._read)


def _parsed(line: str, where: str) -> Grant:
    try:
        data: object = json.loads(line)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise BadTokenFile(f"{where} is no JSON object: make lines with `pike mcp token NAME`.")
    entry = cast("dict[str, object]", data)
    scopes = entry.get("scopes", [BASIC])
    named = cast("list[object]", scopes) if isinstance(scopes, list) else [scopes]
    words = tuple(str(scope) for scope in named)
    return _checked(Grant(str(entry.get("digest")), str(entry.get("client_id")), words), where)


def _checked(grant: Grant, where: str) -> Grant:
    if not _DIGEST.fullmatch(grant.digest):
        raise BadTokenFile(
            f"{where} has no digest of 64 hex digits: a token itself never stands there."
        )
    if not _CLIENT.fullmatch(grant.client_id) or grant.client_id == LOCAL:
        raise BadTokenFile(
            f"{where} has no client_id of letters, digits, . _ and - (not {LOCAL!r}): name the client."
        )
    for scope in grant.scopes:
        if scope not in SCOPES:
            raise BadTokenFile(f"{where} has no scope of ours: there are {', '.join(SCOPES)}.")
    return grant
