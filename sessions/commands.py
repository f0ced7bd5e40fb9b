"""What people ask of the engine: written by viewers and plain commands, taken by the engine, once each, by id.

`pause`, `resume`, `stop` and `reply` become facts of their own; the rest are steers (`steering.py`).
"""

from __future__ import annotations

import getpass
import json
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any

from sessions.errors import CommandRefused
from sessions.journal import BUSY_MS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CONTROLS = ("pause", "resume", "stop")
REPLY = "reply"
"""An external agent's answer to a prompt of the model `mcp`: `query`, `text`, `model` (as claimed), `client`."""
STEERS = ("guide", "pin", "ban", "boost", "fork", "submit", "budget", "model", "withdraw", "edit")
INSERT = "INSERT INTO commands (at, author, act, args, seen_seq) VALUES (?, ?, ?, ?, ?)"
ARGS_LIMIT = 1_000_000
"""Characters of a command's arguments."""


def send(
    journal: Path,
    act: str,
    args: Mapping[str, Any] | None = None,
    *,
    author: str = "",
    seen_seq: int,
) -> int:
    """Append a command; return its id. The engine answers with a fact, if one is alive to take it.

    `seen_seq`: the newest fact its author had seen. `author`: this user, if empty.

    Raises:
        CommandRefused: nobody could carry it out, or the journal cannot be written.
    """
    if act not in (*CONTROLS, *STEERS, REPLY):
        raise CommandRefused(f"no act is called {act!r}; there are: {', '.join(CONTROLS + STEERS)}")
    text = json.dumps(dict(args or {}))
    if len(text) > ARGS_LIMIT:
        raise CommandRefused(
            f"the command has {len(text):,} characters; {ARGS_LIMIT:,} is the most"
        )
    if not journal.is_file():
        raise CommandRefused(f"no journal at {journal}")
    row = (time.time(), author or user(), act, text, seen_seq)
    try:
        return _insert(journal, row)
    except sqlite3.Error as error:
        raise CommandRefused(f"cannot write {journal}: {error}") from error


def user() -> str:
    """Return who asks: the user's name, or number where there is no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def _insert(journal: Path, row: tuple[float, str, str, str, int]) -> int:
    db = sqlite3.connect(f"{journal.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None)
    try:
        db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        cursor = db.execute(INSERT, row)
        return int(cursor.lastrowid or 0)
    finally:
        db.close()
