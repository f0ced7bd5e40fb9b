"""Ideas and candidates out of a model's text. Nothing here raises, whatever the text.

```
text ──ideas()──────▶ at most ten ideas: JSON array, else list items, else paragraphs, else lines
     └─candidate()──▶ Found(source): the last complete block that defines ModelNew
                      Unusable(fault): what to tell the model
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from strategies.fixing import Unusable
from strategies.ideas import ideas
from strategies.python import defines, parses

__all__ = ["SOURCE_LIMIT", "Found", "candidate", "change", "ideas"]

SOURCE_LIMIT = 100_000
"""Characters of a candidate."""
_TEXT_LIMIT = 1_000_000
_REACH = 12
"""How many fences further a block may end, for fences inside its strings."""

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_CHANGE = re.compile(r"#\s*change\s*:\s*(.*)", re.IGNORECASE)
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)

_CUT_OFF = (
    "The answer was cut off before the file was complete. Write a shorter file: "
    "one idea, no long comments, nothing before or after the block."
)
_NOTHING = (
    "The answer held no complete Python file that defines `ModelNew` in one fenced block. "
    "Answer with the whole file."
)
_TOO_LONG = f"The file is over {SOURCE_LIMIT:,} characters. Write a shorter one."


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate's file, ready for the evaluator, which may still refuse it."""

    source: str


@dataclass(frozen=True, slots=True)
class _Block:
    source: str
    closed: bool
    parses: bool


@dataclass(frozen=True, slots=True)
class _Fence:
    line: int
    bare: bool
    """Without a language: it may close a block."""


def candidate(text: str, cut_off: bool = False) -> Found | Unusable:
    """Take the candidate out of a reply.

    `cut_off`: the vendor's finish reason says that the answer hit its length limit.
    """
    if cut_off:
        return Unusable(_CUT_OFF)
    if len(text) > _TEXT_LIMIT:
        return Unusable(_TOO_LONG)
    plain = _plain(text)
    blocks = _blocks(plain)
    source = _chosen(blocks) if blocks else (plain if parses(plain) and defines(plain) else None)
    if source is None:
        open_block = bool(blocks) and not blocks[-1].closed
        return Unusable(_CUT_OFF if open_block else _NOTHING)
    return Found(source.strip("\n") + "\n") if len(source) <= SOURCE_LIMIT else Unusable(_TOO_LONG)


def change(source: str) -> str:
    """Return what the candidate's first line says it changes, or nothing."""
    match = _CHANGE.match(source.lstrip().split("\n", 1)[0])
    return match.group(1).strip() if match else ""


def _plain(text: str) -> str:
    storable = text.encode("utf-8", "replace").decode()
    return _THOUGHT.sub("", storable.replace("\r\n", "\n"), count=1)


def _chosen(blocks: list[_Block]) -> str | None:
    """Return the last complete block that defines `ModelNew`; one that parses comes first.

    One that does not parse is still an attempt: the evaluator names the error for the fix.
    """
    ready = [block for block in blocks if block.closed and defines(block.source)]
    parsed = [block for block in ready if block.parses]
    chosen = (parsed or ready)[-1:]
    return chosen[0].source if chosen else None


def _blocks(text: str) -> list[_Block]:
    lines = text.split("\n")
    fences = [
        _Fence(i, not match.group(2))
        for i, line in enumerate(lines)
        if (match := _FENCE.fullmatch(line))
    ]
    blocks: list[_Block] = []
    at = 0
    while at < len(fences):
        block, at = _block(lines, fences, at)
        blocks.append(block)
    return blocks


def _block(lines: list[str], fences: list[_Fence], at: int) -> tuple[_Block, int]:
    """Return the block that opens at fence `at`, and the fence to go on from."""
    start = fences[at].line + 1
    for end in range(at + 1, min(at + 1 + _REACH, len(fences))):
        source = "\n".join(lines[start : fences[end].line])
        if fences[end].bare and parses(source):
            return _Block(source, closed=True, parses=True), end + 1
    if at + 1 == len(fences):
        return _Block("\n".join(lines[start:]), closed=False, parses=False), at + 1
    following = fences[at + 1]
    source = "\n".join(lines[start : following.line])
    return _Block(source, following.bare, parses=False), at + 1 + following.bare
