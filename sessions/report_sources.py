"""Which sessions a report is over, and what each of them is called: from experiments, or named one by one.

```
$PIKE_HOME/experiments/NAME/runs.json   [{configuration, task, repeat, session, state, why}, …]
```
Sessions of no experiment are configurations by what they were started with: strategy, models, and what differs.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions import folder as folders
from sessions.errors import FolderUnusable, NoSuchSession
from sessions.fold import fold
from sessions.journal import JournalError, Reader
from sessions.lock import presence
from sessions.report import LeftOut, Report, report_of
from sessions.report_lines import lines_changed
from sessions.report_names import configuration_names
from sessions.report_runs import Run, run_of
from sessions.summary import shown_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sessions.folder import SessionFolder
    from sessions.model import State


@dataclass(frozen=True, slots=True)
class Chosen:
    """One session that a report is over."""

    folder: SessionFolder
    configuration: str = ""
    """Empty: told from what it was started with."""
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """What was named, found."""

    name: str
    sessions: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...] = ()


def experiments_root(home: Path) -> Path:
    """Return the folder of all experiments."""
    return home / "experiments"


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
    chosen: dict[Path, Chosen] = {}
    left_out: list[LeftOut] = []
    titles: list[str] = []
    for name in names:
        listing = experiments_root(home) / name / "runs.json"
        if folders.NAME.match(name) and listing.is_file():
            titles.append(name)
            _experiment(under, listing, chosen, left_out)
        else:
            folder = _session(under, home, name)
            chosen.setdefault(folder.path, Chosen(folder))
    return Sources(", ".join(titles), tuple(chosen.values()), tuple(left_out))


def _session(under: Path, home: Path, name: str) -> SessionFolder:
    try:
        return folders.find(under, name)
    except NoSuchSession as error:
        known = sorted(path.parent.name for path in experiments_root(home).glob("*/runs.json"))
        told = f"; experiments: {', '.join(known[:8])}" if known else ""
        raise NoSuchSession(f"no experiment is called so, and {error}{told}") from error


def _experiment(
    under: Path, listing: Path, chosen: dict[Path, Chosen], left_out: list[LeftOut]
) -> None:
    for row in _rows(listing):
        session, configuration = str(row.get("session") or ""), str(row.get("configuration") or "")
        folder = folders.SessionFolder(under / session)
        is_there = bool(folders.NAME.match(session)) and folder.journal.is_file()
        if is_there:
            repeat = row.get("repeat")
            number = repeat if isinstance(repeat, int) else None
            chosen.setdefault(folder.path, Chosen(folder, configuration, number))
        else:
            why = str(row.get("why") or row.get("state") or "not started")
            task = str(row.get("task") or "")
            gone = f"its session is not there any more ({why})" if session else why
            left_out.append(LeftOut(session, configuration, task, gone))


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


# --- reading


@dataclass(frozen=True, slots=True)
class Reading:
    """One session, read."""

    chosen: Chosen
    state: State
    shown: str
    lines: dict[int, tuple[int, ...]]

    @property
    def name(self) -> str:
        """Its folder's name: by that, commands find it."""
        return self.chosen.folder.name


def read(sources: Sources) -> Report:
    """Return the report over these sessions, as they are now; what cannot be read is left out, and said."""
    found, left_out = readings(sources)
    runs: list[Run] = []
    for one, run in runs_of(found):
        if isinstance(run, Run):
            runs.append(run)
        else:
            task = one.state.opened.task if one.state.opened else ""
            why = one.state.cause or "the original was not measured"
            left_out.append(LeftOut(one.name, run, task, f"{one.shown}: {why}"))
    return report_of(sources.name, runs, left_out)


def readings(sources: Sources) -> tuple[list[Reading], list[LeftOut]]:
    """Return the sessions that can be read, oldest first, and those left out."""
    left_out = list(sources.left_out)
    found: list[Reading] = []
    for chosen in sources.sessions:
        try:
            found.append(_read(chosen))
        except (JournalError, sqlite3.Error) as error:
            left_out.append(LeftOut(chosen.folder.name, chosen.configuration, "", str(error)))
        except (ValueError, KeyError, TypeError) as error:
            why = f"its journal is damaged, or of a newer pike ({error})"
            left_out.append(LeftOut(chosen.folder.name, chosen.configuration, "", why))
    return sorted(found, key=lambda r: (r.state.opened_at, r.name)), left_out


def _read(chosen: Chosen) -> Reading:
    with Reader(chosen.folder.journal) as reader:
        state, live = fold(reader.facts()), reader.live()[1]
        lines = lines_changed(state, reader.text)
    shown = shown_state(state, presence(chosen.folder), live.get("waits_for") or "")
    return Reading(chosen, state, shown.value, lines)


def runs_of(found: Sequence[Reading]) -> Iterable[tuple[Reading, Run | str]]:
    """Yield each session as a run; where nothing was measured, the name of its configuration."""
    names = configuration_names(one.state for one in found if not one.chosen.configuration)
    taken: dict[tuple[str, str, str], int] = {}
    for one in found:
        name = one.chosen.configuration or names[id(one.state)]
        repeat = one.chosen.repeat
        if repeat is None:
            key = (name, *_place(one.state))
            repeat = taken[key] = taken.get(key, 0) + 1
        yield one, run_of(one.state, one.name, (name, repeat), one.shown, one.lines) or name


def _place(state: State) -> tuple[str, str]:
    task = state.opened.task_sha256 if state.opened else ""
    return task, state.baseline.device_name if state.baseline else ""
