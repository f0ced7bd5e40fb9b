"""Texts too long for a result, by id: logs, output, evidence, sources; for their caller only, for an hour."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_server.errors import UnknownId

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_S = 3600.0
_CALLERS_CHARACTERS = 32_000_000
_TOTAL_CHARACTERS = 128_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text that fits a result."""

    text: str
    offset: int
    next_offset: int | None
    """Where the next page begins; None at the end."""
    total: int
    """Characters of the whole text."""


@dataclass(frozen=True, slots=True)
class _Kept:
    caller: str
    text: str
    since: float


def new_id(prefix: str) -> str:
    """Return an id that cannot be guessed."""
    return f"{prefix}_{secrets.token_urlsafe(16)}"


@dataclass(slots=True)
class Artifacts:
    """The kept texts; a caller's oldest go first when it has too many."""

    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, _Kept] = field(default_factory=dict[str, _Kept])

    def keep(self, caller: str, kind: str, text: str) -> str | None:
        """Keep a text and return its id; None if there is nothing to keep."""
        if not text.strip():
            return None
        artifact_id = new_id(kind)
        self._kept[artifact_id] = _Kept(caller, text, self.clock())
        self.expire()
        return artifact_id

    def page(self, caller: str, artifact_id: str, offset: int, limit: int) -> Page:
        """Return a page of at most `limit` serialised bytes, cut at a line's end where one is near.

        Raises:
            UnknownId: the caller has no such artifact, or its hour is over.
        """
        kept = self._kept.get(artifact_id)
        if kept is None or kept.caller != caller:
            raise UnknownId(
                f"There is no artifact {artifact_id!r}: artifacts last an hour, run the tool again."
            )
        text = kept.text
        offset = min(offset, len(text))
        part = _fitting(text[offset : offset + limit], limit)
        end = offset + len(part)
        if end < len(text) and "\n" in part:
            end = offset + part.rindex("\n") + 1
        return Page(text[offset:end], offset, end if end < len(text) else None, len(text))

    def expire(self) -> None:
        """Forget what is too old or too much."""
        now, of_callers = self.clock(), Counter[str]()
        for artifact_id, kept in reversed(list(self._kept.items())):
            of_callers[kept.caller] += len(kept.text)
            too_much = of_callers[kept.caller] > _CALLERS_CHARACTERS
            if now - kept.since > KEPT_S or too_much or of_callers.total() > _TOTAL_CHARACTERS:
                of_callers[kept.caller] -= len(kept.text)
                del self._kept[artifact_id]


def _fitting(text: str, limit: int) -> str:
    """Return the longest beginning whose JSON has at most `limit` bytes."""
    low, high = 1, len(text)
    if _json_bytes(text) <= limit:
        return text
    while low < high:
        middle = (low + high + 1) // 2
        if _json_bytes(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
