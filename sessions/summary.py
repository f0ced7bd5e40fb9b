"""The row that session lists show: kept in each journal, so that a list opens none of them."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions import budget, tool_rounds
from sessions import folder as folders
from sessions.attention import attention
from sessions.best import best
from sessions.journal import JournalError, Reader
from sessions.labels import told_models
from sessions.live import SILENT_S, tools_at_work
from sessions.lock import Presence, presence
from sessions.model import WAITING
from sessions.states import ENDED, SessionState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sessions.folder import SessionFolder
    from sessions.model import State


NO_ENGINE = "no_engine"
"""The code of a row whose search should run, and no engine was ever there, or is any more."""
_NONE_RUNS = "no engine runs it"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the lock and the live row show beside the facts."""

    engine: Presence = Presence.ALIVE
    waits_for: str = ""
    tools: int = 0
    """Tools that models called, at work now."""
    silent: bool = False
    """Nothing was heard of an engine for a while."""


def seen(
    engine: Presence, live_at: float, live: Mapping[str, Any], last_at: float, now: float
) -> Seen:
    """Return what the lock and the live row show; `last_at`: the last fact's time, all times in seconds."""
    heard = max(float(live.get("heartbeat") or live_at), last_at)
    alive = engine in (Presence.ALIVE, Presence.FOREIGN)
    return Seen(
        engine=engine,
        waits_for=str(live.get("waits_for") or ""),
        tools=tools_at_work(live) if alive else 0,
        silent=now - heard >= SILENT_S,
    )


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


def shown_state(state: State, looked: Seen = Seen()) -> SessionState:
    """Return the state a person should see: crashed, pausing and waiting are no facts."""
    return _now(_by_facts(state), looked)


def _by_facts(state: State) -> SessionState:
    if state.state is SessionState.STOPPED and state.code == WAITING:
        return SessionState.WAITING
    if state.state is SessionState.PAUSED:
        busy = len(state.in_flight) > len(state.awaited) or any(
            a.evaluating for a in state.attempts.values()
        )
        return SessionState.PAUSING if busy else SessionState.PAUSED
    return state.state


def _now(by_facts: SessionState, looked: Seen) -> SessionState:
    """Return what the facts say, as the lock and the live row correct it."""
    if by_facts not in (*ENDED, SessionState.WAITING) and looked.engine is Presence.CRASHED:
        return SessionState.CRASHED
    if by_facts is SessionState.PAUSED and looked.tools:
        return SessionState.PAUSING
    if by_facts is SessionState.RUNNING and looked.engine is Presence.NONE and looked.silent:
        return SessionState.STOPPED
    if by_facts is SessionState.RUNNING and looked.waits_for:
        return SessionState.WAITING
    return by_facts


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
            row, (live_at, live) = reader.summary(), reader.live()
    except (JournalError, sqlite3.Error, ValueError) as error:
        return _unreadable(folder, str(error))
    if not row:
        return _unreadable(folder, "the journal is empty")
    row["id"] = folder.name  # a folder may have been renamed since; commands find it by its name
    row["folder"] = str(folder.path)
    engine, last_at = presence(folder), float(row.get("updated_at") or 0.0)
    looked = seen(engine, live_at, live, last_at, time.time())
    return row | {"engine": engine.value, "waits_for": looked.waits_for} | _standing(row, looked)


def _standing(row: Mapping[str, Any], looked: Seen) -> dict[str, str]:
    """Return the state of a row as it is now, with its cause where only a look can tell it."""
    said = str(row.get("state") or "")
    if said not in set(SessionState):
        return {}
    state = _now(SessionState(said), looked)
    found = {"state": state.value}
    if state is SessionState.STOPPED and said != state:
        found |= {"cause": _NONE_RUNS, "code": NO_ENGINE}
    return found


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
