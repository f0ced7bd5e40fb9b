"""Where sessions live, and what a session folder holds.

```
$PIKE_HOME (else the platform's user data directory)/
  sessions/NAME/  journal.db  lineage.git/  engine.log  engine.lock  artifacts/  task/TASK.py
  tasks/  cache/  last-copy.txt
```
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.errors import AmbiguousSession, FolderUnusable, NameTaken, NoSuchSession

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
"""What a session may be called."""


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """One session on disk."""

    path: Path

    @property
    def name(self) -> str:
        """The session's name."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The database of facts."""
        return self.path / "journal.db"

    @property
    def lineage(self) -> Path:
        """The bare git repository."""
        return self.path / "lineage.git"

    @property
    def log(self) -> Path:
        """What the engine says."""
        return self.path / "engine.log"

    @property
    def lock(self) -> Path:
        """Who runs it."""
        return self.path / "engine.lock"

    @property
    def artifacts(self) -> Path:
        """Kept output."""
        return self.path / "artifacts"

    @property
    def ballast(self) -> Path:
        """Room held back for a full disk."""
        return self.path / "ballast"

    @property
    def task(self) -> Path:
        """The folder of the task's copy."""
        return self.path / "task"


def root(environ: Mapping[str, str] | None = None) -> Path:
    """Return the state folder, which may not exist yet."""
    home = (os.environ if environ is None else environ).get("PIKE_HOME", "")
    if home:
        return Path(home).expanduser()
    import platformdirs  # only needed without PIKE_HOME

    return Path(platformdirs.user_data_dir("pike", appauthor=False))


def sessions_root(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of all sessions."""
    return root(environ) / "sessions"


def create(under: Path, *, name: str = "", stem: str = "") -> SessionFolder:
    """Make an empty session folder: `name`, or the first free `STEM-N`.

    Raises:
        NameTaken: the name is in use, or is no name.
        FolderUnusable: the state folder is read-only, full, or no folder.
    """
    try:
        under.mkdir(parents=True, exist_ok=True)
        made = _named(under, name) if name else _numbered(under, stem_of(stem))
        for part in ("artifacts", "task"):
            (made / part).mkdir()
    except OSError as error:
        raise FolderUnusable(unusable(under, error)) from error
    return SessionFolder(made)


def check_name(under: Path, name: str) -> None:
    """Refuse what no new session may be called; an empty name is chosen later.

    Raises:
        NameTaken: the name is in use, or is no name.
    """
    if name and not NAME.match(name):
        raise NameTaken(f"'{name}' is no session name: letters, digits, dots, dashes, at most 64")
    if name and (under / name).exists():
        raise NameTaken(_taken(name))


def find(under: Path, prefix: str) -> SessionFolder:
    """Return the session of that name, or the only one that begins with it.

    Raises:
        NoSuchSession: none does; near names are listed.
        AmbiguousSession: several do.
    """
    names = [folder.name for folder in all_in(under)]
    if prefix in names:
        return SessionFolder(under / prefix)
    found = sorted(name for name in names if prefix and name.startswith(prefix))
    if len(found) == 1:
        return SessionFolder(under / found[0])
    if found:
        raise AmbiguousSession(
            f"several sessions begin with '{prefix}': {', '.join(found[:8])}; write more of it"
        )
    raise NoSuchSession(_missing(prefix, names))


def all_in(under: Path) -> list[SessionFolder]:
    """Return every session, by name; none if the folder does not exist.

    Raises:
        FolderUnusable: the folder cannot be read.
    """
    try:
        found = [entry for entry in under.iterdir() if (entry / "journal.db").is_file()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FolderUnusable(unusable(under, error)) from error
    return [SessionFolder(path) for path in sorted(found)]


def stem_of(task: str) -> str:
    """Return the part of a task's name that names its sessions: `level3/44_MiniGPT` to `minigpt`."""
    last = task.rsplit("/", 1)[-1].removesuffix(".py")
    bare = re.sub(r"^\d+_", "", last)
    bare = re.sub(r"-[0-9a-f]{8}$", "", bare)
    return re.sub(r"[^a-z0-9.]+", "-", bare.lower()).strip("-.")[:40] or "session"


def unusable(path: Path, error: OSError) -> str:
    """Return what a person can do about a folder that refuses."""
    why = error.strerror or str(error)
    return f"cannot use the state folder {path}: {why}; make room or set PIKE_HOME to a folder you may write"


def _named(under: Path, name: str) -> Path:
    check_name(under, name)
    try:
        (under / name).mkdir()
    except FileExistsError as error:
        raise NameTaken(_taken(name)) from error
    return under / name


def _taken(name: str) -> str:
    return f"a session '{name}' exists; choose another --name, or: pike attach {name}"


def _numbered(under: Path, stem: str) -> Path:
    number = 1
    while True:
        try:
            (under / f"{stem}-{number}").mkdir()
        except FileExistsError:
            number += 1
        else:
            return under / f"{stem}-{number}"


def _missing(prefix: str, names: list[str]) -> str:
    near = get_close_matches(prefix, names, n=4, cutoff=0.5) or names[-4:]
    listed = (
        f"there are: {', '.join(near)}"
        if near
        else "there are none yet: pike run or pike demo starts one"
    )
    return f"no session '{prefix}'; {listed}"
