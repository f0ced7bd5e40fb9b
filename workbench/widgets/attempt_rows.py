"""Attempts as rows of the table: what each cell says, and which rows a filter keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.best import best
from workbench.format import NONE, amount, milliseconds, ratio
from workbench.glyphs import word
from workbench.outcome_words import NOT_TOLD
from workbench.plain import Inert, first_line, inert_line
from workbench.shown import class_name, since
from workbench.widgets.lines import NO_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.model import AttemptRecord, State
    from workbench.shown import Live

SHOWN_ROWS = 1_000
"""More would be slow to scroll and nobody reads them; a filter reaches the rest."""

TONE_OF_VERDICT = {
    "correct": "better",
    "suspect": "warn",
    "wrong": "worse",
    "rejected": "worse",
    "error": "worse",
    "timeout": "worse",
    "unavailable": "dim",
    "running": "busy",
}


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt, as shown."""

    key: str
    word: str
    parent: Inert
    by: Inert
    speedup: str
    """The cell: `1.41`, `(9.80)`, `≈1`, or a dash."""
    ratio: float | None
    precision: Inert
    ms: str
    cost: str
    why: Inert
    """First line of the error, or what the evaluator is doing."""
    lineage: Inert
    best: bool = False
    unsure: bool = False
    """Correct and not confirmed yet."""
    banned: bool = False
    pinned: bool = False
    change: Inert = NO_TEXT


class RowMaker:
    """Makes rows, again only for attempts that changed."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[object, AttemptRow]] = {}

    def rows(self, state: State, live: Live, now: float) -> list[AttemptRow]:
        """Return every attempt as a row, newest first."""
        champion = best(state)
        doing = {str(row.get("candidate")): row for row in live.rows("evaluations")}
        found = [
            self._row(
                attempt, attempt is champion, attempt.id in state.pins, doing.get(attempt.id), now
            )
            for attempt in state.attempts.values()
        ]
        found.reverse()
        return found

    def _row(
        self,
        attempt: AttemptRecord,
        champion: bool,
        pinned: bool,
        doing: dict[str, Any] | None,
        now: float,
    ) -> AttemptRow:
        if not attempt.kind:
            return _row(attempt, champion, pinned, doing, now)
        stage = (attempt.verdict_at, bool(attempt.remeasured), attempt.banned, champion, pinned)
        made = self._made.get(attempt.id)
        if made is None or made[0] != stage:
            made = self._made[attempt.id] = (stage, _row(attempt, champion, pinned, None, now))
        return made[1]


def why(attempt: AttemptRecord) -> Inert:
    """Return in one line why an attempt is not simply correct."""
    verdict = attempt.verdict
    if attempt.correct:
        if attempt.refutation:
            return first_line(attempt.refutation, 400)
        flags = [flag for flag in verdict.get("flags") or () if isinstance(flag, str)]
        return inert_line(", ".join(flag.replace("_", " ") for flag in flags), 200)
    text = str(verdict.get("cause") or verdict.get("code") or "")
    return first_line(text, 400)


def _row(
    attempt: AttemptRecord,
    champion: bool,
    pinned: bool,
    doing: dict[str, Any] | None,
    now: float,
) -> AttemptRow:
    return AttemptRow(
        key=attempt.id,
        word=word(attempt),
        parent=inert_line(attempt.parent, 12),
        by=inert_line(attempt.author or "–", 24),
        speedup=speedup_cell(attempt),
        ratio=attempt.speedup,
        precision=inert_line(class_name(attempt.verdict.get("precision_class")), 12),
        ms=milliseconds(attempt.runtime_ms) if attempt.runtime_ms else "",
        cost=amount(attempt.cost_usd) if attempt.cost_usd is not None else NONE,
        why=why(attempt) if attempt.kind else _doing(doing, attempt, now),
        lineage=inert_line(attempt.lineage, 12),
        best=champion,
        unsure=attempt.correct and not attempt.suspect and not attempt.confirmed,
        banned=attempt.banned,
        pinned=pinned,
        change=inert_line(attempt.change, 200),
    )


def speedup_cell(attempt: AttemptRecord) -> str:
    """Write a speedup: `1.41`, `(9.80)` for a suspect one, `≈1` for one not told apart, or a dash."""
    if attempt.speedup is None:
        return NONE
    if attempt.suspect:
        return f"({ratio(attempt.speedup)})"
    if attempt.verdict.get("outcome") == NOT_TOLD:
        return "≈1"
    return ratio(attempt.speedup)


def _doing(doing: dict[str, Any] | None, attempt: AttemptRecord, now: float) -> Inert:
    if doing is None:
        return Inert("waits to be judged")
    stage = {"timing": "benchmark", "build": "compile"}.get(
        str(doing.get("stage")), str(doing.get("stage") or "evaluating")
    )
    parts = [stage, str(doing.get("detail") or ""), since(doing, now)]
    return inert_line(", ".join(part for part in parts if part), 80)


# --- filters

_FASTER = re.compile(r"^([<>])(\d+(?:\.\d+)?)[x×]?$")


def keep(rows: Sequence[AttemptRow], query: str) -> list[AttemptRow]:
    """Return the rows a filter keeps: every word must hold; `!` before a word turns it round."""
    terms = query.split()
    return [row for row in rows if all(_holds(row, term) for term in terms)]


def _holds(row: AttemptRow, term: str) -> bool:
    if term.startswith("!") and len(term) > 1:
        return not _holds(row, term[1:])
    compared = _FASTER.match(term)
    if compared:
        return _compares(row, compared[1], float(compared[2]))
    field, colon, value = term.partition(":")
    if colon and value:
        named = _field(row, field.lower())
        if named is not None:
            return value.lower() in named.lower()
    return _says(row, term.lower())


def _compares(row: AttemptRow, sign: str, limit: float) -> bool:
    if row.ratio is None:
        return False
    return row.ratio > limit if sign == ">" else row.ratio < limit


def _field(row: AttemptRow, field: str) -> str | None:
    return {
        "by": row.by,
        "lineage": row.lineage,
        "parent": row.parent,
        "class": row.precision,
        "id": row.key,
    }.get(field)


def _says(row: AttemptRow, word_: str) -> bool:
    if word_ in TONE_OF_VERDICT:
        return row.word == word_
    if word_ in ("best", "banned", "pinned"):
        return bool(getattr(row, word_))
    return any(word_ in text.lower() for text in (row.key, row.word, row.why, row.change, row.by))
