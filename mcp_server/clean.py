"""Untrusted program output made fit to show: no control or invisible characters, no paths of this machine."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp_server.sandbox import Sandbox

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~])", re.DOTALL
)
_LINES = re.compile(r"\r\n?")
_KEPT = {"\n", "\t"}


def printable(text: str) -> str:
    """Return text without terminal sequences, control and invisible characters."""
    text = _LINES.sub("\n", _ESCAPES.sub("", text))
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c)[0] not in "C")


class Cleaner:
    """Replaces what a sandbox's processes know of this machine by words."""

    def __init__(self, sandbox: Sandbox) -> None:
        reads = sandbox.interpreter.reads
        pairs = [(path, "ENV") for path in reads if not path.startswith("/usr")]
        self._pairs = sorted(pairs, key=lambda pair: -len(pair[0]))

    def __call__(self, text: str, scratches: Iterable[str] = ()) -> str:
        """Return text fit to show."""
        text = printable(text)
        for scratch in scratches:
            text = text.replace(scratch, "SCRATCH")
        for path, word in self._pairs:
            text = text.replace(path, word)
        return text


def last(text: str, characters: int) -> str | None:
    """Return the end of a text, from a line's start where there is one; None if there is nothing."""
    text = text.strip("\n")
    if len(text) <= characters:
        return text or None
    tail = text[-characters:]
    head, newline, rest = tail.partition("\n")
    return rest if newline and len(head) < characters // 4 else tail
