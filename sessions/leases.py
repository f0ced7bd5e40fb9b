"""Which external agent works on which prompt: leases in the session's journal, beside the facts.

No facts: a lease says who was given a prompt and until when, no more. An answer goes into the commands in the same
transaction that marks the prompt answered, so that of several servers, agents and retries exactly one is taken.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sessions.commands import INSERT, REPLY
from sessions.errors import CommandRefused
from sessions.journal import BUSY_MS

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

_TABLE = """CREATE TABLE IF NOT EXISTS leases (
    query TEXT NOT NULL, caller TEXT NOT NULL, until REAL NOT NULL, answered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (query, caller)
) WITHOUT ROWID"""


class Taken(StrEnum):
    """What became of an answer."""

    NEW = "new"
    AGAIN = "again"
    """The same caller answered before."""
    BY_ANOTHER = "by_another"
    UNKNOWN = "unknown"
    """The caller was never given the prompt."""


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of one session."""

    journal: Path

    def take(
        self, wanted: Sequence[str], number: int, caller: str, until: float, now: float
    ) -> list[str]:
        """Lease up to `number` of the queries, oldest first: those that nobody has now and nobody answered.

        Raises:
            CommandRefused: the journal cannot be written.
        """
        with self._writing() as db:
            rows = db.execute(
                "SELECT query FROM leases WHERE answered OR until > ?", (now,)
            ).fetchall()
            held = {row[0] for row in rows}
            given = [query for query in wanted if query not in held][:number]
            db.executemany(
                "INSERT INTO leases VALUES (?, ?, ?, 0) "
                "ON CONFLICT (query, caller) DO UPDATE SET until = excluded.until",
                [(query, caller, until) for query in given],
            )
        return given

    def answer(
        self, query: str, caller: str, command: Mapping[str, Any], now: float, seen_seq: int
    ) -> Taken:
        """Send the answer to the engine, unless one was sent before.

        Raises:
            CommandRefused: the journal cannot be written.
        """
        with self._writing() as db:
            rows = dict(db.execute("SELECT caller, answered FROM leases WHERE query=?", (query,)))
            if caller not in rows:
                return Taken.UNKNOWN
            if any(rows.values()):
                return Taken.AGAIN if rows[caller] else Taken.BY_ANOTHER
            db.execute("UPDATE leases SET answered=1 WHERE query=? AND caller=?", (query, caller))
            db.execute(
                INSERT,
                (now, caller, REPLY, json.dumps(dict(command)), seen_seq),
            )
        return Taken.NEW

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        try:
            with closing(self._open()) as db:
                db.execute(_TABLE)
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as error:
            raise CommandRefused(f"cannot write {self.journal}: {error}") from error

    def _open(self) -> sqlite3.Connection:
        uri = f"{self.journal.resolve().as_uri()}?mode=rw"
        db = sqlite3.connect(uri, uri=True, isolation_level=None)
        db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        return db
