"""Which sessions a report is over, and what each of them is called: from experiments, or named one by one.

```
$PIKE_HOME/experiments/NAME/runs.json   [{configuration, task, repeat, session, state, why}, …]
```
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions import folder as folders
from sessions.errors import AmbiguousSession, FolderUnusable, NoSuchSession
from sessions.report import LeftOut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sessions.folder import SessionFolder


@dataclass(frozen=True, slots=True)
class Chosen:
    """One session that a report is over."""

    folder: SessionFolder
    configuration: str = ""
    """Empty: told from the session itself."""
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """What was named, found."""

    name: str
    sessions: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gathering:
    """What has been found so far; a session counts once, by the first name that holds it."""

    under: Path
    several: bool
    """Whether experiments are told apart in the names of configurations."""
    chosen: dict[Path, Chosen] = field(default_factory=dict["Path", Chosen])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])


def find(home: Path, names: Sequence[str]) -> Sources:
    """Return the sessions of these experiments and sessions; of no names, all sessions.

    Raises:
        NoSuchSession: a name is neither; near names are listed.
        AmbiguousSession: a beginning fits several.
        FolderUnusable: a folder or an experiment's list cannot be read.
    """
    under = home / "sessions"
    if not names:
        return Sources("", tuple(Chosen(folder) for folder in folders.all_in(under)))
    listings = _listings(home)
    meant = [(name, _experiment_of(under, listings, name)) for name in names]
    titles = list(dict.fromkeys(title for _, title in meant if title))
    found = _Gathering(under, len(titles) > 1)
    for name, title in meant:
        if title:
            _add_experiment(found, title, listings[title])
        else:
            folder = _session(under, name, listings)
            found.chosen.setdefault(folder.path, Chosen(folder))
    return Sources(", ".join(titles), tuple(found.chosen.values()), tuple(found.left_out))


def _listings(home: Path) -> dict[str, Path]:
    """Return the list of runs of each experiment."""
    found = sorted((home / "experiments").glob("*/runs.json"))
    return {path.parent.name: path for path in found if not path.parent.name.startswith(".")}


def _experiment_of(under: Path, listings: dict[str, Path], name: str) -> str:
    """Return the experiment that is meant; empty: a session is. Whole names go before beginnings."""
    is_session = bool(folders.NAME.match(name)) and (under / name / "journal.db").is_file()
    if name in listings or is_session:
        return name if name in listings else ""
    found = [title for title in listings if name and title.startswith(name)]
    if len(found) > 1:
        listed = ", ".join(found[:8])
        raise AmbiguousSession(f"several experiments begin with '{name}': {listed}; write more")
    return found[0] if found else ""


def _session(under: Path, name: str, listings: dict[str, Path]) -> SessionFolder:
    try:
        return folders.find(under, name)
    except NoSuchSession as error:
        told = f"; experiments: {', '.join(list(listings)[:8])}" if listings else ""
        raise NoSuchSession(f"no experiment '{name}', {error}{told}") from error


def _add_experiment(found: _Gathering, title: str, listing: Path) -> None:
    for row in _rows(listing):
        session = str(row.get("session") or "")
        name = str(row.get("configuration") or "") or "unnamed"
        configuration = f"{title}/{name}" if found.several else name
        folder = folders.SessionFolder(found.under / session)
        if folders.NAME.match(session) and folder.journal.is_file():
            repeat = row.get("repeat")
            chosen = Chosen(folder, configuration, repeat if isinstance(repeat, int) else None)
            found.chosen.setdefault(folder.path, chosen)
        else:
            task = str(row.get("task") or "")
            found.left_out.append(LeftOut(session, configuration, task, _why(row)))


def _why(row: dict[str, Any]) -> str:
    """Return why a run has no session."""
    state, why = str(row.get("state") or ""), str(row.get("why") or "")
    if state in ("", "waiting"):
        return why or "not begun"
    if state in ("finished", "stopped", "running", "paused"):
        return f"{state}, but its session is not there any more"
    return f"{state}: {why}" if why else state


def _rows(listing: Path) -> list[dict[str, Any]]:
    try:
        rows: object = json.loads(listing.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FolderUnusable(
            f"cannot read {listing}: {error}; `pike experiment run` writes it"
        ) from error
    if not isinstance(rows, list):
        raise FolderUnusable(f"{listing} is no list of runs; `pike experiment run` writes it")
    return [row for row in rows if isinstance(row, dict)]  # pyright: ignore[reportUnknownVariableType] -- JSON
