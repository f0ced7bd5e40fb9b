"""Which words changed in lines that stand against each other, and those words in another tone."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.plain import Inert
from workbench.widgets.lines import Line, Span
from workbench.widgets.matching import LineMatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINES = 60
"""More lines in one change than this are not compared word by word."""
CHARACTERS = 600
"""Of two lines together; longer ones are not compared either."""
_WORDS = re.compile(r"\w+|\s+|.")

Changed = list[tuple[int, int]]
"""Stretches of characters: first, and after the last."""


def marks(old: Sequence[str], new: Sequence[str]) -> tuple[dict[int, Changed], dict[int, Changed]]:
    """Return which characters changed, for the lines of each side that are alike enough to say so."""
    left: dict[int, Changed] = {}
    right: dict[int, Changed] = {}
    if len(old) != len(new) or len(old) > LINES:
        return left, right
    for index, (a, b) in enumerate(zip(old, new, strict=True)):
        if len(a) + len(b) > CHARACTERS:
            continue
        words: tuple[list[str], list[str]] = (_WORDS.findall(a), _WORDS.findall(b))
        matcher = LineMatcher(*words)
        if matcher.ratio() > 0.5:
            left[index], right[index] = _changed(matcher, *words)
    return left, right


def _changed(matcher: LineMatcher, old: list[str], new: list[str]) -> tuple[Changed, Changed]:
    ends_old, ends_new = _ends(old), _ends(new)
    left: Changed = []
    right: Changed = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            left.append((ends_old[i1], ends_old[i2]))
            right.append((ends_new[j1], ends_new[j2]))
    return left, right


def _ends(words: Sequence[str]) -> list[int]:
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return ends


def marked(line: Line, changed: Changed | None, tone: str) -> Line:
    """Return a coloured line with the changed stretches in another tone."""
    return tuple(_split(line, changed, tone)) if changed else line


def _split(line: Line, changed: Changed, tone: str) -> Iterator[Span]:
    at = 0
    edges = sorted({edge for pair in changed for edge in pair})
    for part in line:
        end = at + len(part.text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for start, stop in pairwise(cuts):
            inside = any(a <= start and stop <= b for a, b in changed)
            yield Span(Inert(part.text[start - at : stop - at]), tone if inside else part.tone)
        at = end
