"""Refusals of the other rooms as words and exit codes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from workbench.errors import FAILED, USAGE


@dataclass(frozen=True, slots=True)
class Told:
    """What to say about an error, and how to leave."""

    text: str
    exit_code: int = FAILED


def told(error: Exception) -> Told | None:
    """Return the words for an error a person can act on; None for one that is our own fault."""
    from strategies.errors import StrategyError

    if isinstance(error, StrategyError):
        return Told(str(error), USAGE)
    return _of_sessions(error) or _of_the_system(error)


def _of_sessions(error: Exception) -> Told | None:
    from sessions import errors
    from sessions.facts import UnknownFact
    from sessions.journal import JournalError

    if isinstance(
        error,
        errors.NoSuchSession | errors.AmbiguousSession | errors.NameTaken | errors.StartRefused,
    ):
        return Told(str(error), USAGE)
    if isinstance(error, errors.SessionError | JournalError | UnknownFact):
        return Told(str(error))
    return None


def _of_the_system(error: Exception) -> Told | None:
    if isinstance(error, OSError | sqlite3.Error):
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Told(f"{where}{words}.")
    return None
