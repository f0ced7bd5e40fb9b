"""The Diff tab: what exactly changed, coloured, with the changed words marked; in one column or beside each other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from workbench import patches
from workbench.plain import inert, inert_line
from workbench.widgets.document import LINES_LIMIT, Document, Half, Pair, left_out
from workbench.widgets.lines import EMPTY, Line, span
from workbench.widgets.matching import LineMatcher
from workbench.widgets.syntax import source_lines
from workbench.widgets.word_marks import Changed, marked, marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from workbench.plain import Inert

CONTEXT = 3
CONTEXTS = (0, 1, CONTEXT, 10, 25, 100_000)
"""Unchanged lines around each change, as a person may choose; the last is the whole file."""
DIGITS = 3
"""Cells of a line number, more where there are more lines."""

Opcode = tuple[str, int, int, int, int]
"""As difflib has them: equal, replace, delete or insert; then where in the old lines, where in the new."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two sources: its lines as text and in colour."""

    text: list[str]
    shown: list[Line]


@dataclass(frozen=True, slots=True)
class _Diff:
    """What differs, in hunks."""

    old: _Side
    new: _Side
    hunks: list[list[Opcode]]

    @property
    def digits(self) -> int:
        """How many cells a line number takes."""
        return max(DIGITS, len(str(max(len(self.old.text), len(self.new.text)))))

    def count(self) -> tuple[int, int]:
        """Return how many lines came and how many went."""
        changed = [code for hunk in self.hunks for code in hunk if code[0] != "equal"]
        return sum(code[4] - code[3] for code in changed), sum(
            code[2] - code[1] for code in changed
        )

    def marks(self, code: Opcode) -> tuple[dict[int, Changed], dict[int, Changed]]:
        """Return the words that changed, by the line of each side."""
        return marks(self.old.text[code[1] : code[2]], self.new.text[code[3] : code[4]])


class _Row(NamedTuple):
    """One line of the document in the making."""

    line: Line
    under: str = ""
    pair: Pair | None = None


@dataclass(slots=True)
class _Page:
    """The lines of a document, and its hunks."""

    rows: list[_Row] = field(default_factory=list[_Row])
    stops: list[int] = field(default_factory=list[int])


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
    diff = _compared(_side(before), _side(after), context, whitespace=whitespace)
    added, removed = diff.count()
    hidden = "" if whitespace else " · white space aside"
    title = f"to {base} · +{added} −{removed}{hidden}"
    count = len(diff.hunks)
    counted = f" · {count} {'hunk' if count == 1 else 'hunks'}" if count else " · the same source"
    head: list[Line] = [(span(title, "dim"), span(counted, "dim")), *above]
    note = inert_line(title, 60)

    def laid_out(rows: Callable[[_Diff, Opcode], Iterator[_Row]]) -> Document:
        found = _document(_page(diff, rows), head, below, note)
        return replace(
            found,
            copies=lambda: patch(before, after, base),
            pages=lambda: patches.patch(before, after, base, "candidate.py", context),
        )

    found = laid_out(_unified)
    return found.with_beside(lambda: laid_out(_beside)) if count else found


def patch(before: str, after: str, base: str, name: str = "candidate.py") -> str:
    """Return the difference as a patch that `git apply` and `patch` read; `base` and `name`: the two files."""
    return patches.patch(before, after, base, name)


def wider(context: int, by: int) -> int:
    """Return how many unchanged lines are the next more (`by` 1) or fewer (`by` -1) to show."""
    at = CONTEXTS.index(context) if context in CONTEXTS else CONTEXTS.index(CONTEXT)
    return CONTEXTS[max(0, min(len(CONTEXTS) - 1, at + by))]


def _document(
    page: _Page,
    head: Sequence[Line],
    below: Sequence[Line],
    note: Inert,
) -> Document:
    rows = [*(_Row(line) for line in head), *page.rows]
    rows += [_Row(line) for line in (EMPTY, *below)] if below else []
    return Document(
        lines=tuple(row.line for row in rows),
        stops=tuple(stop + len(head) for stop in page.stops),
        note=note,
        under=tuple(row.under for row in rows),
        pairs={at: row.pair for at, row in enumerate(rows) if row.pair},
    )


# --- what differs


def _side(source: str) -> _Side:
    lines = inert(source).split("\n")
    return _Side(lines, source_lines(source, limit=len(lines)))


def _compared(old: _Side, new: _Side, context: int, *, whitespace: bool) -> _Diff:
    sides = (old.text, new.text) if whitespace else (_squeezed(old.text), _squeezed(new.text))
    groups = LineMatcher(*sides).get_grouped_opcodes(context)
    return _Diff(old, new, [group for group in groups if _changes(group)])


def _squeezed(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def _changes(group: Sequence[Opcode]) -> bool:
    """Return whether a group holds a change: with no context, difflib makes groups of nothing too."""
    return any(kind != "equal" for kind, *_ in group)


# --- how it is laid out


def _page(diff: _Diff, rows: Callable[[_Diff, Opcode], Iterator[_Row]]) -> _Page:
    page = _Page()
    for number, hunk in enumerate(diff.hunks, 1):
        page.stops.append(len(page.rows))
        (_, i1, _, j1, _), (_, _, i2, _, j2) = hunk[0], hunk[-1]
        where = f"⋯ {i1 + 1}–{i2} → {j1 + 1}–{j2}   hunk {number}/{len(diff.hunks)}"
        page.rows.append(_Row((span(where, "gutter"),)))
        for code in hunk:
            page.rows += rows(diff, code)
    left = len(page.rows) - LINES_LIMIT
    if left > 0:
        page.rows[LINES_LIMIT:] = [_Row(left_out(left))]
        page.stops = [stop for stop in page.stops if stop < LINES_LIMIT]
    return page


def _unified(diff: _Diff, code: Opcode) -> Iterator[_Row]:
    """Yield the lines of one stretch under each other: what went, then what came."""
    kind, i1, i2, j1, j2 = code
    blank, digits = " " * diff.digits, diff.digits
    if kind == "equal":
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            numbers = span(f"{i + 1:>{digits}} {j + 1:>{digits}}", "gutter")
            yield _Row((numbers, span("   "), *diff.new.shown[j]))
        return
    old, new = diff.marks(code)
    for i in range(i1, i2):
        line = marked(diff.old.shown[i], old.get(i - i1), "removed-word")
        number = span(f"{i + 1:>{digits}} {blank}", "gutter")
        yield _Row((number, span(" − ", "removed"), *line), "removed")
    for j in range(j1, j2):
        line = marked(diff.new.shown[j], new.get(j - j1), "added-word")
        number = span(f"{blank} {j + 1:>{digits}}", "gutter")
        yield _Row((number, span(" + ", "added"), *line), "added")


def _beside(diff: _Diff, code: Opcode) -> Iterator[_Row]:
    """Yield the lines of one stretch with the old ones at the left and the new ones at the right."""
    kind, i1, i2, j1, j2 = code
    old, new = ({}, {}) if kind == "equal" else diff.marks(code)
    removed, added = ("", "") if kind == "equal" else ("removed", "added")
    for step in range(max(i2 - i1, j2 - j1)):
        i, j = i1 + step, j1 + step
        left = right = None
        if i < i2:
            line = marked(diff.old.shown[i], old.get(step), "removed-word")
            left = _half(diff, i, line, removed, "−")
        if j < j2:
            line = marked(diff.new.shown[j], new.get(step), "added-word")
            right = _half(diff, j, line, added, "+")
        yield _Row(_both(left, right), pair=Pair(left, right))


def _half(diff: _Diff, at: int, line: Line, under: str, sign: str) -> Half:
    number = span(f"{at + 1:>{diff.digits}}", "gutter")
    return Half((number, span(f" {sign} " if under else "   ", under)), line, under)


def _both(left: Half | None, right: Half | None) -> Line:
    """Return what is searched in a line with two sides."""
    same = left and right and left.text == right.text
    sides = [half.text for half in (right if same else left, None if same else right) if half]
    return tuple(part for side in sides for part in (*side, span(" ")))
