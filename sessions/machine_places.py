"""Places that all of a user's sessions on this machine share: who waits is served in turn, who dies gives them back.

| in one folder of this machine | holds |
| --- | --- |
| `places.db`, table `tickets` | who holds and who waits for a place of which pool |
| `places.db`, table `pace` | from when on the next may start: what spaces tries, and holds them back |
| `owners/ID` | a file that a process keeps locked as long as it lives |
| `opening` | a file that a process locks while it opens `places.db` |

A free place goes to the session that holds the fewest of its pool, then to who has waited longest: no session starves
behind one with more trajectories. Whoever looks grants every free place, to itself or not.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import sqlite3
import stat
import tempfile
import time
import uuid
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

log = logging.getLogger(__name__)

BUSY_S = 5.0
LONGEST_HOLD_S = 900.0
"""A pace further ahead than this is a clock that was set back."""
SWEEP_S = 1.0
"""Between two looks for the dead, while a pool is full."""
FORGOTTEN_S = 3600.0
"""After it, the file of a process that is gone is removed."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tickets (
  id INTEGER PRIMARY KEY AUTOINCREMENT, pool TEXT NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS by_pool ON tickets (pool, taken);
CREATE TABLE IF NOT EXISTS pace (pool TEXT PRIMARY KEY, free_at REAL NOT NULL);
"""
_HELD = "SELECT count(*) FROM tickets WHERE pool=? AND taken=1"
_NEXT = """
SELECT waiting.id FROM tickets AS waiting WHERE pool=?1 AND taken=0 ORDER BY
  (SELECT count(*) FROM tickets WHERE pool=?1 AND taken=1 AND session=waiting.session), id LIMIT 1
"""


class MachinePlaces:
    """One process's way to the shared places. Not shared between threads."""

    def __init__(
        self,
        folder: Path,
        session: str,
        *,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Join the places kept in `folder`, on behalf of a session.

        Raises:
            OSError, sqlite3.Error: the folder or its file cannot be used.
        """
        self._session, self._now, self._sleep = session, now, sleep
        self._owners = folder / "owners"
        self._owners.mkdir(parents=True, exist_ok=True)
        self.owner = uuid.uuid4().hex
        self._alive = _locked_file(self._owners / self.owner)
        with _one_at_a_time(folder / "opening"):
            self._db = _opened(folder / "places.db")
        self._swept = 0.0
        self._forget()

    @asynccontextmanager
    async def place(self, pool: str, places: int) -> AsyncGenerator[None]:
        """Hold one of so many places, waiting for it in line."""
        ticket = await self.take(pool, places)
        try:
            yield
        finally:
            self.free(ticket)

    async def take(self, pool: str, places: int, on_wait: Callable[[], None] = lambda: None) -> int:
        """Return the ticket of a place, once it is ours; a cancelled wait leaves nothing behind.

        `on_wait`: called once, if none is free.

        Raises:
            sqlite3.Error: the file cannot be used any more.
        """
        row = (pool, self._session, self.owner)
        made = self._db.execute("INSERT INTO tickets (pool, session, owner) VALUES (?, ?, ?)", row)
        ticket = int(made.lastrowid or 0)
        pause_s = 0.02
        try:
            if not self._is_ours(ticket, pool, places):
                on_wait()
            while not self._is_ours(ticket, pool, places):
                await self._sleep(pause_s)
                pause_s = min(0.25, pause_s * 1.5)
        except BaseException:
            self.free(ticket)
            raise
        return ticket

    def free(self, ticket: int) -> None:
        """Give a place back, or leave the line."""
        with suppress(sqlite3.Error):
            self._db.execute("DELETE FROM tickets WHERE id=?", (ticket,))

    async def pace(self, pool: str, spacing_s: float) -> None:
        """Wait until the next start of a pool, which is at least `spacing_s` after the last one, by any session."""
        wait_s = self._next_start(pool, spacing_s) - self._now()
        if wait_s > 0:
            await self._sleep(wait_s)

    def hold(self, pool: str, seconds: float) -> None:
        """Let nothing of a pool start for so long, in any session."""
        until = self._now() + min(seconds, LONGEST_HOLD_S)
        self._db.execute(
            "INSERT INTO pace VALUES (?1, ?2) ON CONFLICT (pool) DO UPDATE SET free_at=max(free_at, ?2)",
            (pool, until),
        )

    def rows(self, pool: str) -> list[tuple[int, str, bool]]:
        """Return the tickets of a pool, oldest first: number, session, whether it holds a place."""
        found = self._db.execute(
            "SELECT id, session, taken FROM tickets WHERE pool=? ORDER BY id", (pool,)
        )
        return [(row[0], row[1], bool(row[2])) for row in found]

    def close(self) -> None:
        """Give everything back."""
        with suppress(sqlite3.Error):
            self._db.execute("DELETE FROM tickets WHERE owner=?", (self.owner,))
        self._db.close()
        (self._owners / self.owner).unlink(missing_ok=True)
        os.close(self._alive)

    def _next_start(self, pool: str, spacing_s: float) -> float:
        with _transaction(self._db):
            row = self._db.execute("SELECT free_at FROM pace WHERE pool=?", (pool,)).fetchone()
            now = self._now()
            free_at = float(row[0]) if row else now
            at = now if free_at > now + LONGEST_HOLD_S else max(now, free_at)
            self._db.execute("INSERT OR REPLACE INTO pace VALUES (?, ?)", (pool, at + spacing_s))
        return at

    def _is_ours(self, ticket: int, pool: str, places: int) -> bool:
        if self._taken(ticket):
            return True
        if self._held(pool) >= places and not self._sweep():
            return False
        with _transaction(self._db):
            for _ in range(places - self._held(pool)):
                found = self._db.execute(_NEXT, (pool,)).fetchone()
                if found is None:
                    break
                self._db.execute("UPDATE tickets SET taken=1 WHERE id=?", found)
        return self._taken(ticket)

    def _taken(self, ticket: int) -> bool:
        row = self._db.execute("SELECT taken FROM tickets WHERE id=?", (ticket,)).fetchone()
        if row is None:
            raise sqlite3.OperationalError("the file of shared places was made anew")
        return bool(row[0])

    def _held(self, pool: str) -> int:
        return int(self._db.execute(_HELD, (pool,)).fetchone()[0])

    def _sweep(self) -> bool:
        """Take back what the dead hold, now and then; return whether there were any."""
        now = time.monotonic()
        if now - self._swept < SWEEP_S:
            return False
        self._swept = now
        owners = [row[0] for row in self._db.execute("SELECT DISTINCT owner FROM tickets")]
        dead = [owner for owner in owners if owner != self.owner and self._is_dead(owner)]
        for owner in dead:
            self._db.execute("DELETE FROM tickets WHERE owner=?", (owner,))
            (self._owners / owner).unlink(missing_ok=True)
        return bool(dead)

    def _forget(self) -> None:
        """Remove what the dead left, who may hold nothing."""
        for path in self._owners.iterdir():
            old = time.time() - _made_at(path) > FORGOTTEN_S
            if old and path.name != self.owner and self._is_dead(path.name):
                self._db.execute("DELETE FROM tickets WHERE owner=?", (path.name,))
                path.unlink(missing_ok=True)

    def _is_dead(self, owner: str) -> bool:
        try:
            descriptor = os.open(self._owners / owner, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True


def machine_folder() -> Path:
    """Return the folder of this machine that only this user can use; it may not exist yet.

    Raises:
        OSError: there is one of that name that is not ours.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "pike"
    folder = Path(tempfile.gettempdir()) / f"pike-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise OSError(f"{folder} is not a folder of this user")
    return folder


def joined(session: str) -> MachinePlaces | None:
    """Return the shared places of this machine, or None, with a warning, where they cannot be used."""
    try:
        return MachinePlaces(machine_folder(), session)
    except (OSError, sqlite3.Error) as error:
        log.warning("sessions of this machine cannot share their places: %s", error)
        return None


@asynccontextmanager
async def place_or_none(
    shared: MachinePlaces | None,
    pool: str,
    places: int,
    on_wait: Callable[[], None] = lambda: None,
) -> AsyncGenerator[None]:
    """Hold a place where places are shared; a file that fails stops no search."""
    ticket = None
    if shared is not None:
        try:
            ticket = await shared.take(pool, places, on_wait)
        except sqlite3.Error as error:
            log.warning("no place of %s could be asked for: %s", pool, error)
    try:
        yield
    finally:
        if shared is not None and ticket is not None:
            shared.free(ticket)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Generator[None]:
    """Write all or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _made_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _locked_file(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


@contextmanager
def _one_at_a_time(path: Path) -> Generator[None]:
    """Keep others from opening the file: SQLite does not wait where two make it a WAL file, it fails one of them."""
    descriptor = _locked_file(path)
    try:
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error) and "malformed" not in str(error):
            raise
        log.warning("%s is made anew: %s", path, error)
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_S, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")  # what a power cut loses, its processes lost before
        db.executescript(_SCHEMA)
    except sqlite3.Error:
        db.close()
        raise
    return db
