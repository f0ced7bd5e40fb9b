"""A new session: its folder and its first fact, written before any engine starts."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sqlite3
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sessions import folder as folders
from sessions.errors import FolderUnusable, StartRefused
from sessions.facts import JOURNAL_VERSION, Fact, Opened, encode
from sessions.fold import fold
from sessions.journal import BUSY_MS, key_of, schema
from sessions.storage import BALLAST_BYTES, storage_of
from sessions.summary import summarise

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.folder import SessionFolder

NEEDED_BYTES = 4 * BALLAST_BYTES
"""What must be free for a session to begin: room held back, a repository, a journal's first pages."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """All that is decided when a session starts."""

    task: str
    """`SUITE/NAME`."""
    source: str
    """The task file's text."""
    strategy: str
    strategy_version: int
    settings: dict[str, Any]
    """The strategy's, complete."""
    models: dict[str, str]
    """Role (`ideas`, `improve`, `fix`) to model name; a cascade is comma-separated."""
    limits: dict[str, float | int | None]
    """`queries`, `cost_usd`, `hours`."""
    template_hash: str
    product_version: str
    name: str = ""
    """Empty: the task's stem and a counter."""
    seed: int = 0
    device: str = "auto"
    precision: str = "fp32"
    tolerance: str = "budget"
    sandbox: str = "best-effort"
    python: str = ""
    places: int = 10
    instructions: str = ""
    notify: str = ""
    origin: str = ""
    """`--from`, as given."""
    origin_source: str = ""
    """Its text."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    """Model name to what a person should read."""
    strategy_file: str = ""
    """A person's own strategy: file and class."""
    strategy_sha256: str = ""
    opened_by: str = ""
    title: str = ""
    executor: str = ""
    """The cluster whose machines evaluate; empty: this machine, or what the settings say."""
    thinking: dict[str, str] = field(default_factory=dict[str, str])
    """Role to how long its models think."""


def create_session(request: NewSession, under: Path | None = None) -> SessionFolder:
    """Write the folder and the `opened` fact.

    Raises:
        StartRefused: a budget of nothing, or no place to work in.
        NameTaken, FolderUnusable: the folder cannot be made.
    """
    _check(request)
    under = under if under is not None else folders.sessions_root()
    made = folders.create(under, name=request.name, stem=request.task)
    try:
        _need_room(made)
        _write_task(made, request)
        _write_journal(made, request)
    except (OSError, sqlite3.Error) as error:
        shutil.rmtree(made.path, ignore_errors=True)
        why = error if isinstance(error, OSError) else OSError(str(error))
        raise FolderUnusable(folders.unusable(made.path, why)) from error
    return made


def _check(request: NewSession) -> None:
    for name, limit in request.limits.items():
        if limit is not None and limit <= 0:
            raise StartRefused(
                f"a budget of {limit:g} {name} leaves nothing to search with; raise it or leave it out"
            )
    if request.places < 1:
        raise StartRefused("places must be at least 1")


def _need_room(made: SessionFolder) -> None:
    free = storage_of(made.path).free_bytes
    if free < NEEDED_BYTES:
        raise OSError(
            errno.ENOSPC,
            f"{free // 1024:,} kB are free on its disk, and a search needs {NEEDED_BYTES // 1024:,} kB to begin",
        )


def _write_task(made: SessionFolder, request: NewSession) -> None:
    name = request.task.rsplit("/", 1)[-1].removesuffix(".py")
    (made.task / f"{name}.py").write_text(request.source, encoding="utf-8", errors="surrogatepass")


def _write_journal(made: SessionFolder, request: NewSession) -> None:
    """Write the journal aside, then name it in one step: lists, which look at any time, never see half of it."""
    aside = made.journal.with_name(".journal.new")
    _write_first_fact(aside, made, request)
    aside.rename(made.journal)


def _write_first_fact(path: Path, made: SessionFolder, request: NewSession) -> None:
    opened = _opened(made.name, request)
    fact = Fact(1, time.time(), opened)
    wal = not storage_of(made.path).network
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        db.execute("PRAGMA synchronous=FULL")
        db.executescript(schema())
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO meta VALUES ('version', ?)", (str(JOURNAL_VERSION),))
        for text in filter(None, (request.source, request.origin_source)):
            body = text.encode("utf-8", "surrogatepass")
            db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (key_of(text), body))
        row = (fact.seq, fact.at, opened.KIND, json.dumps(encode(opened)))
        db.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", row)
        summary = json.dumps(summarise(fold([fact])))
        db.execute("INSERT INTO summary VALUES (1, ?)", (summary,))
        db.execute("COMMIT")
        if wal:  # last, so that all is in the file, nothing in a log beside it
            db.execute("PRAGMA journal_mode=WAL")
    finally:
        db.close()


def _opened(name: str, request: NewSession) -> Opened:
    sha = hashlib.sha256(request.source.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(
        Opened(
            session=name,
            task=request.task,
            task_sha256=sha,
            source_key=key_of(request.source),
            strategy=request.strategy,
            strategy_version=request.strategy_version,
            settings=dict(request.settings),
            seed=request.seed,
            models=dict(request.models),
            limits=dict(request.limits),
            device=request.device,
            precision=request.precision,
            tolerance=request.tolerance,
            sandbox=request.sandbox,
            python=request.python,
            places=request.places,
            template_hash=request.template_hash,
            product_version=request.product_version,
            instructions=request.instructions,
            notify=request.notify,
            origin=request.origin,
        ),
        origin_key=key_of(request.origin_source) if request.origin_source else "",
        labels=dict(request.labels),
        strategy_file=request.strategy_file,
        strategy_sha256=request.strategy_sha256,
        opened_by=request.opened_by,
        title=request.title,
        executor=request.executor,
        thinking=dict(request.thinking),
    )
