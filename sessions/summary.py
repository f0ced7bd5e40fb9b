"""The row that session lists show: kept in each journal, so that a list opens none of them."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sessions import budget, tool_rounds
from sessions import folder as folders
from sessions.attention import attention
from sessions.best import best
from sessions.journal import JournalError, Reader
from sessions.labels import told_models
from sessions.lock import Presence, presence
from sessions.model import WAITING
from sessions.states import ENDED, SessionState

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.folder import SessionFolder
    from sessions.model import State


def summarise(state: State) -> dict[str, Any]:
    """Return the row of a session, as JSON."""
    opened, spending, found, needs = state.opened, state.spending, best(state), attention(state)
    return {
        "id": state.name,
        "state": shown_state(state).value,
        "cause": state.cause,
        "code": state.code,
        "task": opened.task if opened else "",
        "strategy": opened.strategy if opened else "",
        "attempts": len(state.attempts),
        "agent_tools": tool_rounds.limit(state) > 0,
        "tool_calls": len(tool_rounds.answered(state)),
        "best_speedup": found.speedup if found else None,
        "best_class": found.verdict.get("precision_class") if found else None,
        "best_candidate": found.id if found else None,
        "best_confirmed": found.confirmed if found else None,
        "queries": spending.queries,
        "queries_limit": state.limits.get("queries"),
        "cost_usd": round(spending.cost_usd, 6),
        "cost_unknown": state.cost_unknown,
        "cost_limit_usd": state.limits.get("cost_usd"),
        "models": _models(state),
        "needs": needs.cause if needs else "",
        "needs_stopped": bool(needs and needs.stopped),
        "needs_code": needs.code if needs else "",
        "phase": state.phase,
        "device": opened.device if opened else "",
        "opened_by": opened.opened_by if opened else "",
        "title": opened.title if opened else "",
        "attempts_limit": state.limits.get("attempts"),
        "eager_ms": state.baseline.eager_ms if state.baseline else None,
        "device_name": state.baseline.device_name if state.baseline else "",
        "running_s": round(budget.running_s(state, state.last_at), 3),
        "created_at": state.opened_at,
        "updated_at": state.last_at,
    }


def shown_state(
    state: State, engine: Presence = Presence.ALIVE, waits_for: str = ""
) -> SessionState:
    """Return the state a person should see: crashed, pausing and waiting are no facts.

    `waits_for`: from the live row.
    """
    if state.state not in ENDED and engine is Presence.CRASHED:
        return SessionState.CRASHED
    if state.state is SessionState.STOPPED and state.code == WAITING:
        return SessionState.WAITING
    if state.state is SessionState.PAUSED:
        busy = len(state.in_flight) > len(state.awaited) or any(
            a.evaluating for a in state.attempts.values()
        )
        return SessionState.PAUSING if busy else SessionState.PAUSED
    if state.state is SessionState.RUNNING and waits_for:
        return SessionState.WAITING
    return state.state


def rows(under: Path) -> list[dict[str, Any]]:
    """Return the rows of all sessions: those that need you, running, paused, crashed, the rest newest first.

    An unreadable journal is a row too, with `state` `unreadable` and its `cause`.

    Raises:
        FolderUnusable: the folder of sessions cannot be read.
    """
    found = [row_of(folder) for folder in folders.all_in(under)]
    return sorted(found, key=lambda row: (_order(row), -float(row["updated_at"] or 0)))


def row_of(folder: SessionFolder) -> dict[str, Any]:
    """Return one session's row as it is now, whether or not its engine is alive."""
    try:
        with Reader(folder.journal) as reader:
            row, live = reader.summary(), reader.live()[1]
    except (JournalError, sqlite3.Error, ValueError) as error:
        return _unreadable(folder, str(error))
    if not row:
        return _unreadable(folder, "the journal is empty")
    row["id"] = folder.name  # a folder may have been renamed since; commands find it by its name
    row["folder"] = str(folder.path)
    row["engine"] = presence(folder).value
    row["waits_for"] = live.get("waits_for") or ""
    row["state"] = _state_now(row, live.get("waits_for") or "")
    return row


def _state_now(row: dict[str, Any], waits_for: str) -> str:
    state = str(row.get("state", ""))
    if state not in ENDED and row["engine"] == Presence.CRASHED:
        return SessionState.CRASHED.value
    if state == SessionState.RUNNING and waits_for:
        return SessionState.WAITING.value
    return state


def _order(row: dict[str, Any]) -> int:
    if row.get("needs"):
        return 0
    order = ["running", "waiting", "pausing", "paused", "crashed"]
    return 1 + order.index(row["state"]) if row["state"] in order else 9


def _models(state: State) -> dict[str, str]:
    thinking = state.opened.thinking if state.opened else {}
    return told_models(state.models, state.labels, thinking)


def _unreadable(folder: SessionFolder, cause: str) -> dict[str, Any]:
    return {
        "id": folder.name,
        "state": "unreadable",
        "cause": cause,
        "task": "",
        "strategy": "",
        "attempts": None,
        "best_speedup": None,
        "needs": "",
        "updated_at": 0.0,
        "folder": str(folder.path),
        "engine": presence(folder).value,
    }
