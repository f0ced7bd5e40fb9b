"""The states of a session, and which may follow which: one table."""

from __future__ import annotations

from enum import StrEnum


class SessionState(StrEnum):
    """What a session is doing, as its journal tells it; `crashed` is added by whoever finds no engine alive."""

    RUNNING = "running"
    WAITING = "waiting"
    """Something outside is awaited (an answer, an evaluator); it goes on by itself."""
    PAUSING = "pausing"
    PAUSED = "paused"
    FINISHED = "finished"
    STOPPED = "stopped"
    CRASHED = "crashed"


ALLOWED: dict[SessionState, frozenset[SessionState]] = {
    SessionState.RUNNING: frozenset(SessionState) - {SessionState.RUNNING},
    SessionState.WAITING: frozenset(SessionState) - {SessionState.WAITING},
    SessionState.PAUSING: frozenset(
        {SessionState.PAUSED, SessionState.RUNNING, SessionState.STOPPED, SessionState.CRASHED}
    ),
    SessionState.PAUSED: frozenset(
        {SessionState.RUNNING, SessionState.STOPPED, SessionState.CRASHED}
    ),
    SessionState.STOPPED: frozenset({SessionState.RUNNING}),
    SessionState.CRASHED: frozenset({SessionState.RUNNING}),
    SessionState.FINISHED: frozenset({SessionState.RUNNING}),
}
"""`finished` may run again: a person raised the budget."""

ENDED = frozenset({SessionState.FINISHED, SessionState.STOPPED})
"""No engine is expected to be alive."""


def may_follow(before: SessionState, after: SessionState) -> bool:
    """Return whether a session may go from one state to the other."""
    return before is after or after in ALLOWED[before]
