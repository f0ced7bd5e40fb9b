"""The lineages: the original, then each line of descent with its trajectories under it.

Rows of a `RowList` rather than Textual's `Tree`: a closed lineage then costs one row however long it is, and nothing
foreign meets a parser of markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.best import best, best_of
from sessions.model import ORIGINAL
from workbench.format import NONE, milliseconds
from workbench.glyphs import UNICODE, word
from workbench.widgets.attempt_rows import TONE_OF_VERDICT, speedup_cell
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.facts import Fact
    from sessions.model import AttemptRecord, LineageRecord, State

OPEN_AT_FIRST = 6
"""Lineages unfolded when a session is opened: those that moved last."""
TRAJECTORIES = 100
"""Of one lineage, the newest that are shown at first."""
LINEAGES = 400
"""Those that moved last are shown: with the trajectories of the unfolded ones about a thousand rows."""
EARLIER = "earlier:"
"""Begins the key of a row that stands for what is left out."""


@dataclass(frozen=True, slots=True)
class LineageRow:
    """The original, a lineage, or a trajectory in it."""

    key: str
    """`c0`, `lineage:003`, or the trajectory's last attempt."""
    kind: str
    """`original`, `lineage`, `trajectory`, or `earlier` for what is left out."""
    number: str
    """Its speedup, which comes first."""
    label: str
    word: str = ""
    fixes: int = 0
    best: bool = False
    open: bool = False


class LineageRows:
    """Makes the tree as rows, again only for lineages in which something happened."""

    def __init__(self) -> None:
        self.whole: set[str] = set()
        """Lineages shown with all their trajectories, however many."""
        self._made: dict[str, tuple[object, list[LineageRow]]] = {}
        self._tops: dict[str, AttemptRecord | None] = {}
        """What stands for each lineage; a verdict is compared with it alone, not with all before."""

    def touch(self, facts: Iterable[Fact], state: State) -> None:
        """Forget the rows of the lineages that these facts are about."""
        for fact in facts:
            body = fact.body
            if isinstance(body, f.Steered):
                self._made.clear()
                self._tops.clear()
            elif isinstance(body, f.AttemptMade):
                self._made.pop(body.lineage, None)
            elif isinstance(body, f.VerdictReached | f.Remeasured):
                attempt = state.attempts.get(body.candidate)
                if attempt is not None:
                    self._made.pop(attempt.lineage, None)
                    self._judged(attempt)

    def _judged(self, attempt: AttemptRecord) -> None:
        if attempt.lineage in self._tops:
            before = self._tops[attempt.lineage]
            self._tops[attempt.lineage] = _top([before, attempt] if before else [attempt])

    def _top_of(self, lineage: str, attempts: list[AttemptRecord]) -> AttemptRecord | None:
        if lineage not in self._tops:
            self._tops[lineage] = _top(attempts)
        return self._tops[lineage]

    def rows(self, state: State, unfolded: Iterable[str]) -> list[LineageRow]:
        """Return the tree, with the trajectories of the unfolded lineages; the newest where there are too many."""
        opened, champion = set(unfolded), best(state)
        lineages = sorted(
            (one for one in state.lineages.values() if one.id), key=lambda one: one.id
        )
        kept = lineages
        if len(lineages) > LINEAGES:
            lively = newest_lineages(state, LINEAGES) | {champion.lineage if champion else ""}
            kept = [one for one in lineages if one.id in lively]
        rows = [_original(state), *_earlier("", len(lineages) - len(kept), "quiet lineages")]
        for lineage in kept:
            rows += self._of(state, lineage, champion, opened=lineage.id in opened)
        return rows

    def _of(
        self, state: State, lineage: LineageRecord, champion: AttemptRecord | None, *, opened: bool
    ) -> list[LineageRow]:
        has_best = champion.id if champion and champion.lineage == lineage.id else ""
        stage = (opened, has_best, lineage.id in self.whole, len(lineage.attempts))
        made = self._made.get(lineage.id)
        if made is None or made[0] != stage:
            attempts = [state.attempts[a] for a in lineage.attempts if a in state.attempts]
            top = self._top_of(lineage.id, attempts)
            rows = [_lineage(lineage, top, champion=bool(has_best), opened=opened)]
            if opened:
                limit = len(attempts) if lineage.id in self.whole else TRAJECTORIES
                rows += _trajectories(lineage.id, attempts, champion, limit)
            made = self._made[lineage.id] = (stage, rows)
        return made[1]


def lineage_rows(state: State, unfolded: Iterable[str]) -> list[LineageRow]:
    """Return the tree as rows, with the trajectories of the unfolded lineages."""
    return LineageRows().rows(state, unfolded)


def _original(state: State) -> LineageRow:
    eager = state.baseline.eager_ms if state.baseline else None
    number = f"{milliseconds(eager)} ms" if eager else ""
    return LineageRow(ORIGINAL, "original", number, "main c0")


def _earlier(lineage: str, count: int, what: str) -> list[LineageRow]:
    """Return the row that stands for what is left out; enter shows it."""
    if count <= 0:
        return []
    return [LineageRow(f"{EARLIER}{lineage}", "earlier", f"{count:,}", what)]


def newest_lineages(state: State, count: int = OPEN_AT_FIRST) -> set[str]:
    """Return the lineages that moved last."""
    found: dict[str, None] = {}
    for attempt in reversed(state.attempts.values()):
        found.setdefault(attempt.lineage)
        if len(found) >= count:
            break
    return set(found)


def _top(attempts: list[AttemptRecord]) -> AttemptRecord | None:
    """Return the best of a lineage; without one its fastest suspect, if there is one."""
    return best_of(attempts) or max(
        (a for a in attempts if a.suspect), key=lambda a: a.speedup or 0.0, default=None
    )


def _lineage(
    lineage: LineageRecord, top: AttemptRecord | None, *, champion: bool, opened: bool
) -> LineageRow:
    return LineageRow(
        key=f"lineage:{lineage.id}",
        kind="lineage",
        number=_number(top) if top else NONE,
        label=lineage.id,
        word="suspect" if top and top.suspect else "",
        best=champion,
        open=opened,
    )


def _number(attempt: AttemptRecord) -> str:
    """Write the speedup as the table does, with its sign."""
    cell = speedup_cell(attempt)
    return f"{cell}×" if attempt.speedup is not None and cell[0].isdigit() else cell


def _trajectories(
    lineage: str, attempts: list[AttemptRecord], champion: AttemptRecord | None, limit: int
) -> list[LineageRow]:
    groups = dict.fromkeys(attempt.proposal for attempt in attempts)
    kept: dict[str, list[AttemptRecord]] = (
        {name: [] for name in list(groups)[-limit:]} if limit else {}
    )
    for attempt in attempts:
        if attempt.proposal in kept:
            kept[attempt.proposal].append(attempt)
    shown = list(kept.values())
    left = _earlier(lineage, len(groups) - len(shown), "earlier")
    return [*left, *(_trajectory(group, champion) for group in shown)]


def _trajectory(group: list[AttemptRecord], champion: AttemptRecord | None) -> LineageRow:
    last = group[-1]
    return LineageRow(
        key=last.id,
        kind="trajectory",
        number=_number(last),
        label=last.id,
        word=word(last),
        fixes=len(group) - 1,
        best=last is champion,
    )


class LineageTree(RowList[LineageRow]):
    """Lineages that fold; the number comes first in every label."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._chosen: dict[str, bool] = {}
        """Lineages a person unfolded or folded; the others are unfolded while they are new."""
        self._state: State | None = None
        self._maker = LineageRows()

    def show_state(self, state: State, facts: Iterable[Fact] = ()) -> None:
        """Show the lineages of a session; `facts`: what happened since they were shown last."""
        self._state = state
        self._maker.touch(facts, state)
        unfolded = newest_lineages(state) | {
            name for name, is_open in self._chosen.items() if is_open
        }
        unfolded -= {name for name, is_open in self._chosen.items() if not is_open}
        self.show(self._maker.rows(state, unfolded))

    def line(self, row: LineageRow, width: int) -> Line:
        """Return one row in `width` cells."""
        star: Line = (span(" ★", "best"),) if row.best else ()
        if row.kind == "original":
            return (Span(fit(f" {row.label}  ", 11)), span(row.number, "dim"))
        if row.kind == "earlier":
            return (Span(fit(f"    … {row.number} {row.label}", width), "dim"),)
        if row.kind == "lineage":
            return (
                span(" ▾ " if row.open else " ▸ ", "dim"),
                span(f"{row.label}  ", "strong"),
                span(row.number, "warn" if row.word == "suspect" else ""),
                *star,
            )
        glyph = UNICODE.verdict(row.word)
        return (
            span("  "),
            Span(fit(row.number, 7, right=True), "dim" if row.number == NONE else ""),
            Span(fit(f"  {row.label}", 7)),
            span(f"{glyph} ", TONE_OF_VERDICT.get(row.word, "")),
            *((span(f"+{row.fixes}", "dim"),) if row.fixes else ()),
            *star,
        )

    def action_unfold(self) -> None:
        """Show the trajectories of the lineage under the cursor."""
        self._fold(unfold=True)

    def action_fold(self) -> None:
        """Hide the trajectories of the lineage under the cursor."""
        self._fold(unfold=False)

    def show_earlier(self) -> None:
        """Show all trajectories of the lineage whose row of left-out ones the cursor stands on."""
        lineage = self.selected.key.removeprefix(EARLIER) if self.selected else ""
        if lineage and self._state:
            self._maker.whole.add(lineage)
            self.show_state(self._state)

    def toggle(self) -> None:
        """Fold or unfold the lineage under the cursor."""
        self._fold(unfold=not (self.selected and self.selected.open))

    def _fold(self, *, unfold: bool) -> None:
        if self.selected is None or self._state is None:
            return
        lineage = self._lineage_of(self.selected)
        if not lineage:
            return
        self._chosen[lineage] = unfold
        if not unfold:
            self.select(f"lineage:{lineage}")
        self.show_state(self._state)

    def _lineage_of(self, row: LineageRow) -> str:
        if row.kind in ("lineage", "earlier"):
            return row.key.partition(":")[2]
        attempt = self._state.attempts.get(row.key) if self._state else None
        return attempt.lineage if attempt else ""
