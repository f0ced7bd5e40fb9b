"""Ideas out of a model's text: the first form that yields any."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

IDEAS_LIMIT = 10
IDEA_LENGTH = 2_000
"""Characters of one idea; more would crowd the prompt that carries it."""
_TEXT_LIMIT = 200_000
_ARRAYS_TRIED = 20

_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)")
_RULE = re.compile(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}")
_FENCE = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})[^`]*")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_STRONG = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*|(?<![\w*])\*(\S(?:[^*\n]*\S)?)\*(?![\w*])")
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)


def ideas(text: str, limit: int = IDEAS_LIMIT) -> tuple[str, ...]:
    """Return at most `limit` distinct ideas, in the order given. Never raises."""
    storable = text[:_TEXT_LIMIT].encode("utf-8", "replace").decode().replace("\r\n", "\n")
    plain = _THOUGHT.sub("", storable, count=1)
    prose = "\n".join(_HEADING.sub("", line) for line in plain.split("\n") if not _skipped(line))
    for form in (_array(plain), _items(prose), _paragraphs(prose), prose.split("\n")):
        found = _distinct(form)
        if found:
            return tuple(found[: min(limit, IDEAS_LIMIT)])
    return ()


def _skipped(line: str) -> bool:
    return bool(_FENCE.fullmatch(line) or _RULE.fullmatch(line))


def _array(text: str) -> list[str]:
    """Return the strings of the first JSON array that opens a line and holds any."""
    decoder = json.JSONDecoder()
    openings = [m.start(1) for m in re.finditer(r"^[ \t]*(\[)", text, re.MULTILINE)]
    for start in openings[:_ARRAYS_TRIED]:
        try:
            array: list[object] = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        strings = [_entry(entry) for entry in array]
        if any(strings):
            return strings
    return []


def _entry(entry: object) -> str:
    """Return an entry's text: a string, or the strings of an object such as title, description."""
    # JSON's objects have string keys and any values; isinstance alone leaves both unknown.
    parts = cast("dict[str, object]", entry).values() if isinstance(entry, dict) else (entry,)
    return ": ".join(part for part in parts if isinstance(part, str))


def _items(text: str) -> list[str]:
    """Return list items with what continues them: deeper lines, and the line right below."""
    items: list[list[str]] = []
    base = 0
    goes_on = False
    for line in text.split("\n"):
        item = _ITEM.fullmatch(line)
        depth = len(line) - len(line.lstrip())
        if item and (not items or depth <= base):
            base, goes_on = depth, True
            items.append([item.group(2)])
        elif not line.strip():
            goes_on = False
        elif items and (depth > base or goes_on):
            items[-1].append(line.strip())
    return [" ".join(item) for item in items]


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs, if there are several."""
    found = [" ".join(part.split("\n")) for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
    return found if len(found) > 1 else []


def _distinct(texts: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for text in texts:
        idea = _clean(text)
        if idea and not (idea.endswith(":") and len(found) == 0):
            found.setdefault(idea.casefold(), idea)
    return list(found.values())


def _clean(text: str) -> str:
    """Return the text on one line, without emphasis, quotes of code and control characters."""
    unmarked = _STRONG.sub(lambda m: m.group(1) or m.group(2), text).replace("`", "")
    visible = "".join(c if c.isprintable() else " " for c in unmarked)
    idea = " ".join(visible.split())[:IDEA_LENGTH].strip()
    return idea if any(c.isalnum() for c in idea) else ""
