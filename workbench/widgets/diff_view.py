"""The Diff tab: what exactly changed, unified, coloured, with the changed words marked."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench import patches
from workbench.plain import Inert, inert, inert_line
from workbench.widgets.document import LINES_LIMIT, Document
from workbench.widgets.lines import EMPTY, Line, Span, span
from workbench.widgets.syntax import source_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONTEXT = 3
CONTEXTS = (0, 1, CONTEXT, 10, 25, 100_000)
"""Unchanged lines around each change, as a person may choose; the last is the whole file."""
_WORDS = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two sources: its lines as text and in colour."""

    text: list[str]
    shown: list[Line]


@dataclass(slots=True)
class _Page:
    """The document in the making."""

    lines: list[Line]
    under: list[str]
    stops: list[int]
    added: int = 0
    removed: int = 0

    def add(self, line: Line, under: str = "") -> None:
        self.lines.append(line)
        self.under.append(under)


def diff_document(
    before: str,
    after: str,
    base: str,
    below: Sequence[Line] = (),
    *,
    above: Sequence[Line] = (),
    context: int = CONTEXT,
    whitespace: bool = True,
) -> Document:
    """Return the difference between two sources as a document.

    Args:
        before: the source compared with.
        after: the attempt's source.
        base: what `before` is, as `parent c131`.
        below: lines after the diff, such as the error.
        above: lines before it.
        context: unchanged lines around each change.
        whitespace: whether a line that differs in white space alone counts as changed.
    """
    old, new = _side(before), _side(after)
    page = _Page([], [], [])
    sides = (old.text, new.text) if whitespace else (_squeezed(old.text), _squeezed(new.text))
    matcher = difflib.SequenceMatcher(None, *sides, autojunk=len(old.text) > 2_000)
    groups = [group for group in matcher.get_grouped_opcodes(context) if _changes(group)]
    for number, group in enumerate(groups, 1):
        _hunk(page, old, new, group, number, len(groups))
    _cut(page)
    hidden = "" if whitespace else " · white space aside"
    title = f"to {base} · +{page.added} −{page.removed}{hidden}"
    counted = f" · {len(groups)} {'hunk' if len(groups) == 1 else 'hunks'}" if groups else ""
    head: list[Line] = [
        (span(title, "dim"), span(counted or " · the same source", "dim")),
        *above,
    ]
    shift = len(head)
    return Document(
        lines=(*head, *page.lines, *((EMPTY, *below) if below else ())),
        stops=tuple(stop + shift for stop in page.stops),
        note=inert_line(title, 60),
        copies=lambda: patch(before, after, base),
        under=("",) * shift + tuple(page.under),
    )


def patch(before: str, after: str, base: str, name: str = "candidate.py") -> str:
    """Return the difference as a patch that `git apply` and `patch` read; `base` and `name`: the two files."""
    return patches.patch(before, after, base, name)


def wider(context: int, by: int) -> int:
    """Return how many unchanged lines are the next more (`by` 1) or fewer (`by` -1) to show."""
    at = CONTEXTS.index(context) if context in CONTEXTS else CONTEXTS.index(CONTEXT)
    return CONTEXTS[max(0, min(len(CONTEXTS) - 1, at + by))]


def _squeezed(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def _changes(group: Sequence[tuple[str, int, int, int, int]]) -> bool:
    """Return whether a group holds a change: with no context, difflib makes groups of nothing too."""
    return any(kind != "equal" for kind, *_ in group)


def _side(source: str) -> _Side:
    lines = inert(source).split("\n")
    return _Side(lines, source_lines(source, limit=len(lines)))


def _hunk(
    page: _Page,
    old: _Side,
    new: _Side,
    group: Sequence[tuple[str, int, int, int, int]],
    number: int,
    count: int,
) -> None:
    page.stops.append(len(page.lines))
    first, last = group[0], group[-1]
    where = f"⋯ {first[1] + 1}–{last[2]} → {first[3] + 1}–{last[4]}   hunk {number}/{count}"
    page.add((span(where, "gutter"),))
    for kind, i1, i2, j1, j2 in group:
        if kind == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                page.add((_numbers(i, j), span("   "), *new.shown[j]))
            continue
        marks = _marks(old.text[i1:i2], new.text[j1:j2])
        for i in range(i1, i2):
            page.add(
                (
                    _numbers(i, None),
                    span(" − ", "removed"),
                    *_marked(old.shown[i], marks[0].get(i - i1), "removed-word"),
                ),
                "removed",
            )
        for j in range(j1, j2):
            page.add(
                (
                    _numbers(None, j),
                    span(" + ", "added"),
                    *_marked(new.shown[j], marks[1].get(j - j1), "added-word"),
                ),
                "added",
            )
        page.removed += i2 - i1
        page.added += j2 - j1


def _numbers(old: int | None, new: int | None) -> Span:
    left = "" if old is None else str(old + 1)
    right = "" if new is None else str(new + 1)
    return span(f"{left:>3} {right:>3}", "gutter")


Changed = list[tuple[int, int]]


def _marks(old: list[str], new: list[str]) -> tuple[dict[int, Changed], dict[int, Changed]]:
    """Return which characters changed, in lines that stand against each other and are alike."""
    left: dict[int, Changed] = {}
    right: dict[int, Changed] = {}
    if len(old) != len(new) or len(old) > 60:
        return left, right
    for index, (a, b) in enumerate(zip(old, new, strict=True)):
        if len(a) + len(b) > 600:
            continue
        words: tuple[list[str], list[str]] = (_WORDS.findall(a), _WORDS.findall(b))
        matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
        if matcher.ratio() > 0.5:
            left[index], right[index] = _changed(matcher, *words)
    return left, right


def _changed(
    matcher: difflib.SequenceMatcher[str], old: list[str], new: list[str]
) -> tuple[Changed, Changed]:
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


def _marked(line: Line, changed: Changed | None, tone: str) -> Line:
    """Return a coloured line with the changed stretches in another tone."""
    if not changed:
        return line
    return tuple(_split(line, changed, tone))


def _split(line: Line, changed: Changed, tone: str) -> Iterator[Span]:
    at = 0
    for part in line:
        cuts = sorted({at, at + len(part.text), *(c for pair in changed for c in pair)})
        for start, end in pairwise(cuts):
            if start < at or end > at + len(part.text):
                continue
            inside = any(a <= start and end <= b for a, b in changed)
            yield Span(Inert(part.text[start - at : end - at]), tone if inside else part.tone)
        at += len(part.text)


def _cut(page: _Page) -> None:
    left = len(page.lines) - LINES_LIMIT
    if left > 0:
        del page.lines[LINES_LIMIT:], page.under[LINES_LIMIT:]
        page.stops = [stop for stop in page.stops if stop < LINES_LIMIT]
        page.add((span(f"… {left:,} more lines; Y copies the patch, E writes the file", "warn"),))
