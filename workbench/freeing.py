"""What on disk no session needs, and freeing it.

| what | why it can go |
| --- | --- |
| folders of evaluators that were killed | their jobs are over, and nobody reads them any more |
| compiled baselines and extensions | built again when they are needed; not while an evaluator runs |
| room held back by a search that is finished or stopped | taken again when it goes on |
| folders that never became a session | their start was interrupted |
| experiments that are over, of which no session is left | nothing can be read in them any more |
| a whole session, or a whole experiment with its sessions, by name only | a person said so |

A lineage is never among what goes unless its session was named. Measurements that took long (qualifications, machine
facts, suites) stay: they are small.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.journal import JournalError
from sessions.lock import Presence
from sessions.states import ENDED
from workbench import launch, lookup
from workbench.errors import CannotGoOn

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from sessions.folder import SessionFolder
    from sessions.states import SessionState

SERVERS = "pike-server-*"
"""Folders of the evaluators' processes, in the folder for temporary files."""
REBUILT = {
    "baselines": "compiled baselines",
    "extensions": "compiled extensions",
    "headers-precompiled": "precompiled headers",
}
"""Folders of the evaluator's cache that cost only time."""
YOUNG_S = 3600
"""A folder without a journal may be a session that starts just now."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on disk that can go."""

    what: str
    path: Path
    size: int
    """Bytes."""
    why: str
    session: str = ""
    """The session that goes with all its lineages; empty: none does."""
    asks: str = ""
    """What a person must type for it to go: the name of its session, or of the experiment that goes as a whole."""


def found(named: tuple[str, ...] = ()) -> list[Item]:
    """Return what can go; of the sessions, only those that were named.

    Raises:
        sessions.errors.NoSuchSession: one that was named does not exist.
        CannotGoOn: an engine runs it.
    """
    from workbench import freeing_experiments as of_experiments  # which makes items of these

    whole: dict[Path, Item] = {}
    for name in named:
        experiment = of_experiments.is_one(name)
        items = of_experiments.whole(name) if experiment else [session(lookup.session(name))]
        whole |= {item.path: item for item in items}
    rest = [*_servers(), *_caches(), *_unfinished(), *_ballasts(), *of_experiments.unneeded()]
    kept = (item for item in rest if not whole.keys() & {item.path, *item.path.parents})
    return [*kept, *whole.values()]


def free(item: Item) -> str:
    """Remove it, if it can still go; return why it stays, empty if it is gone."""
    try:
        if item.session:
            session(folders.find(folders.sessions_root(), item.session))
        if item.path.match(SERVERS):
            with _unheld(item.path) as ours:
                return _removed(item.path) if ours else "an evaluator holds it again"
        return _removed(item.path)
    except CannotGoOn as error:
        return str(error)


def session(folder: SessionFolder, asks: str = "") -> Item:
    """Return a whole session as what goes; `asks`: what must be typed for it, its name by default.

    Raises:
        CannotGoOn: an engine runs it.
    """
    presence = launch.presence_now(folder)
    if presence in (Presence.ALIVE, Presence.FOREIGN):
        where = "an engine" if presence is Presence.ALIVE else "an engine of another host"
        raise CannotGoOn(
            f"{folder.name}: {where} runs it; stop it first (pike stop {folder.name})."
        )
    what = f"session {folder.name}, all its attempts and lineages"
    size, name = size_of(folder.path), folder.name
    return Item(what, folder.path, size, "you named it", name, asks or name)


def _servers() -> Iterator[Item]:
    for path in sorted(Path(tempfile.gettempdir()).glob(SERVERS)):
        with _unheld(path) as ours:
            if ours:
                why = "its evaluator is gone"
                yield Item("an evaluator's scratch and jobs", path, size_of(path), why)


def _caches() -> Iterator[Item]:
    if _evaluator_runs():
        return
    for name, what in REBUILT.items():
        path = folders.root() / "cache" / name
        size = size_of(path)
        if size:
            yield Item(what, path, size, "built again when needed")


def _evaluator_runs() -> bool:
    """Whether any evaluator of this user is alive here: it may be using the cache."""
    for path in Path(tempfile.gettempdir()).glob(SERVERS):
        with _unheld(path) as ours:
            if not ours and _is_mine(path):
                return True
    return False


def _unfinished() -> Iterator[Item]:
    root = folders.sessions_root()
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if path.is_symlink() or not path.is_dir() or (path / "journal.db").exists():
            continue
        if time.time() - path.stat().st_mtime > YOUNG_S and not (path / "lineage.git").exists():
            yield Item("an interrupted start", path, size_of(path), "it never became a session")


def _ballasts() -> Iterator[Item]:
    for folder in folders.all_in(folders.sessions_root()):
        rests = _rests(folder) if folder.ballast.is_file() else None
        if rests:
            size, why = folder.ballast.stat().st_size, f"its search is {rests.value}"
            yield Item(f"room held back for {folder.name}", folder.ballast, size, why)


def _rests(folder: SessionFolder) -> SessionState | None:
    """Return how a search ended that no engine runs; None while it may go on by itself."""
    if launch.presence_now(folder) is not Presence.NONE:
        return None
    try:
        found = lookup.state(folder).state
    except (JournalError, ValueError):
        return None
    return found if found in ENDED else None


@contextmanager
def _unheld(path: Path) -> Generator[bool]:
    """Hold an evaluator's folder if its evaluator is gone; tell whether it is."""
    if path.is_symlink() or not _is_mine(path):
        yield False
        return
    try:
        lock = os.open(path / ".held", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)


def _is_mine(path: Path) -> bool:
    with suppress(OSError):
        return path.lstat().st_uid == os.getuid()
    return False


def size_of(path: Path) -> int:
    """Return the bytes below a path, links not followed; 0 where there is nothing."""
    total = 0
    for here, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += (Path(here) / name).lstat().st_size
    return total


def _removed(path: Path) -> str:
    """Remove a file or folder, even where its writer took away the right to; return why it stays."""
    failed: list[str] = []

    def unlock(_function: object, name: str, error: object) -> None:
        try:
            Path(name).parent.chmod(stat.S_IRWXU)
            Path(name).chmod(stat.S_IRWXU, follow_symlinks=False)
        except (OSError, NotImplementedError):
            pass
        try:
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)
        except OSError as again:
            failed.append(f"{again.filename}: {again.strerror}")

    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, onerror=unlock)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        failed.append(f"{error.filename}: {error.strerror}")
    return failed[0] if failed else ""
