"""The sessions of a report, read: each as a run of it, or left out and why."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.fold import fold
from sessions.journal import JournalError, Reader
from sessions.lock import presence
from sessions.report import LeftOut, Report, report_of
from sessions.report_lines import lines_changed
from sessions.report_names import configuration_names
from sessions.report_runs import Run, run_of
from sessions.summary import seen, shown_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.model import State
    from sessions.report_sources import Chosen, Sources


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
        state, live = fold(reader.facts()), reader.live()
        lines = lines_changed(state, reader.text)
    looked = seen(presence(chosen.folder), *live, state.last_at, time.time())
    shown = shown_state(state, looked)
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
