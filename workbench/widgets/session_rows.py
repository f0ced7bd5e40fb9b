"""Sessions as rows of the list, and what the top line says about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from workbench.format import amount, ratio
from workbench.glyphs import NEEDS_YOU, UNICODE
from workbench.plain import Inert, inert_line
from workbench.shown import TONE_OF_STATE, class_name
from workbench.widgets.lines import Line, Span, fit, span
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session, as shown."""

    key: str
    """Its name."""
    word: str
    strategy: Inert
    task: Inert
    best: str
    queries: str
    cost: str
    cost_usd: float
    needs: Inert
    cause: Inert
    engine: str
    labels: Inert
    running: bool = False
    """Whether an engine is at work on it."""
    rests: bool = False
    """Whether it is paused, by a person or by itself."""
    stopped: bool = False
    """Whether it needs its person before it can go on."""
    code: str = ""
    """Why it needs its person: a code of `sessions.attention`."""
    marked: bool = False
    """Whether it is to be compared."""


def session_row(row: dict[str, Any]) -> SessionRow:
    """Return a row of `sessions.summary` as shown."""
    needs = str(row.get("needs") or "")
    word = NEEDS_YOU if needs else str(row.get("state") or "")
    return SessionRow(
        key=str(row["id"]),
        word=word,
        strategy=inert_line(str(row.get("strategy") or ""), 20),
        task=inert_line(str(row.get("task") or ""), 60),
        best=_best(row),
        queries=_of(row.get("queries"), row.get("queries_limit")),
        cost=_cost(row),
        cost_usd=float(row.get("cost_usd") or 0.0),
        needs=inert_line(needs, 200),
        cause=inert_line(str(row.get("cause") or ""), 200),
        engine=str(row.get("engine") or ""),
        rests=row.get("state") in ("paused", "pausing"),
        stopped=bool(row.get("needs_stopped")),
        code=str(row.get("needs_code") or ""),
        running=row.get("state") in ("running", "waiting", "pausing"),
        labels=inert_line(", ".join(sorted(set(_models(row)))), 60),
    )


HINTS = {
    "budget": ("enter, B", "a higher budget"),
    "no_gain": ("enter, s", "steer it"),
    "suspect": ("enter", "look at its verdict"),
}
"""What a person may do about each cause, and on which keys."""


def wants(row: SessionRow) -> Line:
    """Return the sentence under the list: what the session needs, or what became of it, and the key for that."""
    if row.needs:
        asks = f"{row.key} {'needs you' if row.stopped else 'asks'}: {row.needs}. "
        key, act = HINTS.get(row.code, ("enter", "look"))
        if row.stopped:
            key, act = "p", "goes on, once that is settled"
        return (Span(inert_line(asks), "warn"), span(key, "key"), span(f" {act}"))
    if row.word == "crashed":
        lost = inert_line(f"{row.key}: its engine is gone, and nothing else is lost. ")
        return (Span(lost, "dim"), span("p", "key"), span(" starts another"))
    if row.cause and row.word in ("finished", "paused", "stopped", "unreadable"):
        return (Span(inert_line(f"{row.key}: {row.cause}"), "dim"),)
    return ()


def _models(row: dict[str, Any]) -> list[str]:
    models: dict[str, str] = row.get("models") or {}
    return list(models.values())


def _best(row: dict[str, Any]) -> str:
    if row.get("best_speedup") is None:
        return "–"
    sure = "" if row.get("best_confirmed", True) else "~"
    return f"{ratio(row['best_speedup'])}{sure} {class_name(row.get('best_class'))}".strip()


def _of(used: object, limit: object) -> str:
    if not isinstance(used, int | float):
        return "–"
    return f"{used:g}/{limit:g}" if isinstance(limit, int | float) else f"{used:g}"


def _cost(row: dict[str, Any]) -> str:
    cost = row.get("cost_usd")
    if not isinstance(cost, int | float):
        return "–"
    unknown = "+?" if row.get("cost_unknown") else ""
    limit = row.get("cost_limit_usd")
    return f"{amount(cost)}{unknown}/{limit:g}" if limit else f"{amount(cost)}{unknown}"


def keep_sessions(rows: Sequence[SessionRow], words: str) -> list[SessionRow]:
    """Return the sessions whose row holds every word."""
    terms = words.lower().split()
    return [
        row
        for row in rows
        if all(term in f"{row.key} {row.word} {row.strategy} {row.task}".lower() for term in terms)
    ]


def _task(task: Inert, cells: int) -> Inert:
    """Return a task without its suite where there is no room for both."""
    return task if cell_len(task) <= cells else inert_line(task.rpartition("/")[2])


class SessionTable(RowList[SessionRow]):
    """Sessions: state, name, strategy, task, best, queries, money."""

    def header(self, width: int) -> Line:
        """Return the names of the columns."""
        name, task = self._flexible(width)
        return (
            span(" "),
            Span(fit("  state", 12)),
            Span(fit("name", name)),
            Span(fit("strategy", 9)),
            Span(fit("task", task)),
            Span(fit("best ×", 15)),
            Span(fit("queries", 8, right=True)),
            Span(fit("cost $", 11, right=True)),
        )

    def line(self, row: SessionRow, width: int) -> Line:
        """Return one session in `width` cells."""
        name, task = self._flexible(width)
        state = inert_line(f"{UNICODE.session(row.word).strip() or '?'} {row.word}")
        gap = " " if cell_len(state) > 11 else ""
        return (
            span("•" if row.marked else " ", "key"),
            Span(fit(state, 12), TONE_OF_STATE.get(row.word, "worse")),
            Span(fit(inert_line(f"{gap}{row.key}"), name - 1), "strong"),
            span(" "),
            Span(fit(row.strategy, 8), "dim"),
            span(" "),
            Span(fit(_task(row.task, task - 1), task - 1)),
            span(" "),
            Span(fit(row.best, 15), "" if row.best != "–" else "dim"),
            Span(fit(row.queries, 8, right=True)),
            Span(fit(row.cost, 11, right=True), "dim"),
        )

    @staticmethod
    def _flexible(width: int) -> tuple[int, int]:
        """Share what the fixed columns leave between name and task."""
        room = max(18, width - 1 - 12 - 9 - 15 - 8 - 11)
        name = max(10, min(28, room * 2 // 5))
        return name, room - name
