"""The journal on disk: SQLite, facts out, commands in, one overwritten row of live state.

| who | opens it | through |
| --- | --- | --- |
| the engine | to write, alone | `Journal` (aiosqlite) |
| viewers, plain commands | read-only | `Reader` (sqlite3) |
| viewers that ask something | to append one command | `commands.send` |
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from sessions.facts import JOURNAL_VERSION, Body, Fact, Opened, decode, encode
from sessions.storage import ROOM_BYTES, storage_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

    import aiosqlite

BUSY_MS = 10_000


class JournalError(Exception):
    """The journal cannot be used; the message says what to do."""


class JournalNewer(JournalError):
    """A newer pike wrote it."""


class JournalUnreadable(JournalError):
    """Not a journal, or damaged."""


def key_of(text: str) -> str:
    """Return the key under which a text is kept: SHA-256 of its UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredReply:
    """An answer already paid for."""

    text: str
    finish: str
    usage: dict[str, Any]
    """`input_tokens`, `cached_tokens`, `output_tokens`, `cost_usd`, `seconds`: null where unknown."""


@dataclass(frozen=True, slots=True)
class NewReply:
    """An answer to store together with its fact."""

    model: str
    prompt_hash: str
    sample: int
    text: str
    finish: str
    usage: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """What someone asked of the engine."""

    id: int
    at: float
    author: str
    act: str
    args: dict[str, Any]
    seen_seq: int
    """The newest fact its author had seen."""


class Journal:
    """The engine's end: the one writer of facts."""

    def __init__(self, path: Path, db: aiosqlite.Connection, seq: int) -> None:
        self.path = path
        self._db = db
        self._seq = seq

    @classmethod
    async def open(cls, path: Path, *, wal: bool) -> Journal:
        """Open the journal, making it if it is new. `wal=False` on network file systems.

        Raises:
            JournalError: newer, damaged, read-only or full; the message says which.
        """
        import aiosqlite  # the viewers' half of this module starts without asyncio

        try:
            sqlite3.connect(path).close()  # aiosqlite leaves its thread behind where this fails
            db = await aiosqlite.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise JournalUnreadable(f"cannot open {path}: {error}") from error
        try:
            await db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            await db.execute(f"PRAGMA journal_mode={'WAL' if wal else 'DELETE'}")
            await db.execute("PRAGMA synchronous=FULL")
            await db.executescript(schema())
            await db.execute(
                "INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(JOURNAL_VERSION),)
            )
            rows = await db.execute_fetchall("SELECT value FROM meta WHERE key='version'")
            _check_version(path, next(iter(rows))[0])
            last = await db.execute_fetchall("SELECT coalesce(max(seq), 0) FROM facts")
            return cls(path, db, int(next(iter(last))[0]))
        except sqlite3.Error as error:
            await db.close()
            raise JournalUnreadable(f"cannot use {path}: {error}") from error
        except JournalError:
            await db.close()
            raise

    async def facts(self) -> list[Fact]:
        """Return every fact."""
        rows = await self._db.execute_fetchall("SELECT seq, at, kind, body FROM facts ORDER BY seq")
        return [_fact(row) for row in rows]

    async def record(
        self,
        at: float,
        bodies: Sequence[Body],
        *,
        texts: Iterable[str] = (),
        reply: NewReply | None = None,
        taken: Iterable[int] = (),
        summary: dict[str, Any] | None = None,
    ) -> list[Fact]:
        """Append facts, with the texts, the paid answer and the commands that belong to them: all or nothing."""
        await self._db.execute("BEGIN IMMEDIATE")
        try:
            for text in texts:
                await self._text(text)
            if reply is not None:
                await self._reply(reply)
            for command in taken:
                await self._db.execute("UPDATE commands SET taken_at=? WHERE id=?", (at, command))
            facts = [Fact(self._seq + 1 + n, at, body) for n, body in enumerate(bodies)]
            await self._db.executemany(
                "INSERT INTO facts VALUES (?, ?, ?, ?)",
                [(x.seq, x.at, x.body.KIND, json.dumps(encode(x.body))) for x in facts],
            )
            if summary is not None:
                await self._db.execute(
                    "INSERT OR REPLACE INTO summary VALUES (1, ?)", (json.dumps(summary),)
                )
            await self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back when the disk is full
                await self._db.execute("ROLLBACK")
            raise
        self._seq += len(facts)
        return facts

    async def text(self, key: str) -> str:
        """Return a kept text.

        Raises:
            KeyError: no such text.
        """
        rows = await self._db.execute_fetchall("SELECT body FROM texts WHERE key=?", (key,))
        for row in rows:
            return bytes(row[0]).decode("utf-8", "surrogatepass")
        raise KeyError(key)

    async def stored_reply(self, model: str, prompt_hash: str, sample: int) -> StoredReply | None:
        """Return the answer already paid for, if there is one."""
        rows = await self._db.execute_fetchall(
            "SELECT reply_key, finish, usage FROM replies WHERE model=? AND prompt_hash=? AND sample=?",
            (model, prompt_hash, sample),
        )
        for row in rows:
            return StoredReply(await self.text(row[0]), row[1], json.loads(row[2]))
        return None

    async def commands(self) -> list[Command]:
        """Return the commands not yet taken, oldest first."""
        rows = await self._db.execute_fetchall(
            "SELECT id, at, author, act, args, seen_seq FROM commands WHERE taken_at IS NULL ORDER BY id"
        )
        return [Command(r[0], r[1], r[2], r[3], json.loads(r[4]), r[5]) for r in rows]

    async def take(self, at: float, command: int) -> None:
        """Mark a command that leaves no fact as taken."""
        await self._db.execute("UPDATE commands SET taken_at=? WHERE id=?", (at, command))

    async def live(self, at: float, body: dict[str, Any]) -> None:
        """Overwrite the live row."""
        await self._db.execute(
            "INSERT OR REPLACE INTO live VALUES (1, ?, ?)", (at, json.dumps(body))
        )

    async def summarise(self, summary: dict[str, Any]) -> None:
        """Overwrite the row that session lists show."""
        await self._db.execute(
            "INSERT OR REPLACE INTO summary VALUES (1, ?)", (json.dumps(summary),)
        )

    async def data_version(self) -> int:
        """Return a number that changes when another process wrote."""
        rows = await self._db.execute_fetchall("PRAGMA data_version")
        return int(next(iter(rows))[0])

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that the folder can be copied."""
        await self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Close the file."""
        await self._db.close()

    async def _text(self, text: str) -> None:
        await self._db.execute(
            "INSERT OR IGNORE INTO texts VALUES (?, ?)",
            (key_of(text), text.encode("utf-8", "surrogatepass")),
        )

    async def _reply(self, reply: NewReply) -> None:
        await self._text(reply.text)
        await self._db.execute(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)",
            (
                reply.model,
                reply.prompt_hash,
                reply.sample,
                key_of(reply.text),
                reply.finish,
                json.dumps(reply.usage),
            ),
        )


class Reader:
    """A viewer's end: read-only, cheap to poll. Not shared between threads."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise JournalUnreadable(f"no journal at {path}")
        try:
            self._db, version = _read_only(path)
        except sqlite3.Error as error:
            raise JournalUnreadable(f"cannot read {path}: {_why(path, error)}") from error
        _check_version(path, version)
        self.path = path

    def __enter__(self) -> Reader:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def data_version(self) -> int:
        """Return a number that changes when the engine or another viewer wrote."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def facts(self, after: int = 0) -> list[Fact]:
        """Return the facts numbered above `after`."""
        rows = self._db.execute(
            "SELECT seq, at, kind, body FROM facts WHERE seq > ? ORDER BY seq", (after,)
        )
        return [_fact(row) for row in rows.fetchall()]

    def text(self, key: str) -> str:
        """Return a kept text, or an empty one if the journal lacks it."""
        row = self._db.execute("SELECT body FROM texts WHERE key=?", (key,)).fetchone()
        return bytes(row[0]).decode("utf-8", "surrogatepass") if row else ""

    def live(self) -> tuple[float, dict[str, Any]]:
        """Return the live row and its time; (0, {}) before the engine's first."""
        row = self._db.execute("SELECT at, body FROM live WHERE id=1").fetchone()
        return (float(row[0]), json.loads(row[1])) if row else (0.0, {})

    def summary(self) -> dict[str, Any]:
        """Return the row that session lists show; {} in a journal without facts."""
        row = self._db.execute("SELECT body FROM summary WHERE id=1").fetchone()
        return json.loads(row[0]) if row else {}

    def opened(self) -> Opened | None:
        """Return what was decided at the session's start; None in a journal without facts."""
        row = self._db.execute("SELECT seq, at, kind, body FROM facts WHERE seq=1").fetchone()
        body = _fact(row).body if row else None
        return body if isinstance(body, Opened) else None

    def cost_since(self, at: float) -> float:
        """Return the dollars of the answers that arrived since then; those of unknown cost count nothing."""
        row = self._db.execute(
            "SELECT TOTAL(json_extract(body, '$.cost_usd')) FROM facts WHERE kind='query_done' AND at >= ?",
            (at,),
        ).fetchone()
        return float(row[0])

    def waiting_commands(self) -> list[Command]:
        """Return the commands no engine has taken, oldest first."""
        rows = self._db.execute(
            "SELECT id, at, author, act, args, seen_seq FROM commands WHERE taken_at IS NULL ORDER BY id"
        ).fetchall()
        return [Command(r[0], r[1], r[2], r[3], json.loads(r[4]), r[5]) for r in rows]

    def reply(self, model: str, prompt_hash: str, sample: int) -> StoredReply | None:
        """Return an answer of this session's response store."""
        row = self._db.execute(
            "SELECT reply_key, finish, usage FROM replies WHERE model=? AND prompt_hash=? AND sample=?",
            (model, prompt_hash, sample),
        ).fetchone()
        return StoredReply(self.text(row[0]), row[1], json.loads(row[2])) if row else None

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def schema() -> str:
    """Return the statements that make an empty journal."""
    return resources.files("sessions").joinpath("schema.sql").read_text(encoding="utf-8")


def _why(path: Path, error: sqlite3.Error) -> str:
    """Return what stands in the way: reading needs a little room too, beside a journal that was not closed."""
    if storage_of(path.parent).free_bytes < ROOM_BYTES:
        return f"its disk is full, free some room there ({error})"
    return str(error)


def _read_only(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open a journal to read, and tell its version.

    A write-ahead log needs a file beside the journal, which a read-only disk refuses: without one being left, nobody
    writes, and the journal is read as it stands.
    """
    try:
        return _opened(f"{path.resolve().as_uri()}?mode=ro")
    except sqlite3.OperationalError:
        if path.with_name(f"{path.name}-wal").exists():
            raise
        return _opened(f"{path.resolve().as_uri()}?mode=ro&immutable=1")


def _opened(uri: str) -> tuple[sqlite3.Connection, str]:
    db = sqlite3.connect(uri, uri=True, isolation_level=None)
    try:
        db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        row = db.execute("SELECT value FROM meta WHERE key='version'").fetchone()
    except BaseException:
        db.close()
        raise
    return db, row[0] if row else "0"


def _check_version(path: Path, found: str) -> None:
    if int(found) > JOURNAL_VERSION:
        raise JournalNewer(
            f"{path} was written by a newer pike (journal version {found}, this one reads "
            f"{JOURNAL_VERSION}); update pike to open it"
        )


def _fact(row: Any) -> Fact:
    return Fact(int(row[0]), float(row[1]), decode(row[2], json.loads(row[3])))
