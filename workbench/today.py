"""What was spent since midnight, over all sessions."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.folder import SessionFolder
from sessions.journal import JournalError, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def midnight(now: float) -> float:
    """Return when this person's day began, in seconds since the epoch."""
    local = datetime.fromtimestamp(now, UTC).astimezone()
    return local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


class Today:
    """Sums what was spent today; a journal is read only if it spans midnight and was written since the last look."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, float, float], float] = {}

    def spent(self, rows: Iterable[Mapping[str, Any]], now: float) -> float:
        """Return dollars, from rows of `sessions.summary.rows`; queries of unknown price are not in it."""
        begin = midnight(now)
        return sum(self._of(row, begin) for row in rows)

    def _of(self, row: Mapping[str, Any], begin: float) -> float:
        updated = float(row.get("updated_at") or 0)
        cost = float(row.get("cost_usd") or 0)
        if updated < begin or not cost:
            return 0.0
        if float(row.get("created_at") or 0) >= begin:
            return cost
        key = (str(row.get("folder")), updated, begin)
        if key not in self._known:
            self._known[key] = min(cost, _since(Path(key[0]), begin))
        return self._known[key]


def _since(folder: Path, begin: float) -> float:
    try:
        with Reader(SessionFolder(folder).journal) as reader:
            return reader.cost_since(begin)
    except (JournalError, sqlite3.Error):
        return 0.0  # its row says that it cannot be read
