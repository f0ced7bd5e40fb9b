"""The session that was named, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.fold import fold
from sessions.journal import Reader
from workbench.errors import WrongUsage, nearest

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State


def session(name: str) -> SessionFolder:
    """Return the session of that name, or of a unique beginning of one.

    Raises:
        sessions.errors.NoSuchSession: none, with near ones listed.
        sessions.errors.AmbiguousSession: several.
    """
    return folders.find(folders.sessions_root(), name)


def state(folder: SessionFolder) -> State:
    """Return what the session is now.

    Raises:
        sessions.journal.JournalError: its journal cannot be read.
    """
    with Reader(folder.journal) as reader:
        return fold(reader.facts())


def attempt(found: State, name: str) -> AttemptRecord:
    """Return one attempt.

    Raises:
        WrongUsage: the session has none of that name.
    """
    if name in found.attempts:
        return found.attempts[name]
    listed = ", ".join(list(found.attempts)[-6:]) or "none yet"
    hint = nearest(name, found.attempts)
    raise WrongUsage(f"{found.name} has no attempt {name!r}.{hint} The newest: {listed}.")
