"""Drives an experiment: begins its runs as places fall free, and says how they go. Only a driver.

The sessions are the truth. A run's session has a name decided beforehand, and its folder is made in one step, so a
runner killed at any moment begins nothing twice and loses nothing: the next one looks at the sessions, and goes on.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions import commands, prompts
from sessions import folder as folders
from sessions.errors import NameTaken, SessionBusy
from sessions.experiments.course import Course, course
from sessions.experiments.folder import Wanted
from sessions.experiments.plan import RunState, request_of
from sessions.folder import SessionFolder
from sessions.lock import Presence
from sessions.start import create_session
from sessions.summary import row_of
from workbench import experiment_plan, kept_models, launch, lookup
from workbench.commands import control
from workbench.errors import WorkbenchError
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.experiments.folder import ExperimentFolder
    from sessions.experiments.plan import Run

    Tell = Callable[[Run, Mapping[str, Any]], None]

LOOK_S = 1.0
"""Between two looks at the sessions under way."""
SHOWN_LIMIT_S = 5.0
"""How long a session that goes on may still be listed as at rest: lists are refreshed every second."""
_AT_REST = ("paused", "pausing", "stopped")


class Runner:
    """Drives one experiment, in this process."""

    def __init__(
        self,
        folder: ExperimentFolder,
        tell: Tell = lambda _run, _row: None,
        say: Callable[[str], None] = lambda _: None,
        *,
        take_over: bool = False,
    ) -> None:
        """Take up an experiment; whoever does holds its `RunnerLock`.

        `tell`: told of a run, with its session's row, whenever it comes to another state. `say`: told why none begins.
        `take_over`: a person says that engines on other hosts are gone.
        """
        self._folder, self._tell, self._say = folder, tell, say
        self._take_over = take_over
        self.plan = folder.plan
        self.runs = folder.runs
        self.rows: dict[str, dict[str, Any]] = {}
        """Of the sessions that there are, as last seen."""
        self._sources: dict[str, str] = {}
        self._ours: set[str] = set()
        self._stopped: set[str] = set()
        self._held = ""

    def drive(self) -> Course:
        """Go on until nothing runs and nothing will, or until a person wants otherwise; return how it stands.

        Raises:
            sessions.errors.SessionError: the state folder cannot be used.
        """
        while True:
            now = self.look()
            if now.is_over or self._folder.wanted is not Wanted.RUN:
                self._hold(now.held)
                return now
            if now.stop:
                self._stop(now)
            for run in now.revive:
                self._start_engine(run)
            if now.start is not None:
                self._begin(now.start)
            else:
                self._hold(now.held)
                time.sleep(LOOK_S)

    def look(self, *, keep: bool = True) -> Course:
        """Return how the runs stand now; what changed is told and, with `keep`, kept: by one process at a time."""
        for run in self.runs:
            if run.session not in self.rows or not run.is_over:
                self._see(run)
        found = course(self.plan, self.runs, self.rows)
        before, self.runs = self.runs, list(found.runs)
        if keep and before != self.runs:
            self._folder.keep_runs(self.runs)
        for old, new in zip(before, self.runs, strict=True):
            if old.state is not new.state:
                self._tell(new, self.rows.get(new.session, {}))
        return found

    def go_on(self, run: Run) -> None:
        """Have a paused or stopped run go on."""
        from workbench import renewing

        folder = self.session(run)
        found = lookup.state(folder)
        if renewing.is_outdated(found) and launch.is_alive(folder):
            renewing.make_way(folder, found)
        command = commands.send(
            folder.journal, "resume", {}, author=self.author, seen_seq=found.seq
        )
        if not launch.is_alive(folder):
            self._start_engine(run, counted=False)
        control.taken(folder, command, control.TAKEN_LIMIT_S)
        deadline = time.monotonic() + SHOWN_LIMIT_S
        while row_of(folder)["state"] in _AT_REST and time.monotonic() < deadline:
            time.sleep(0.1)  # or its place would be given to another

    @property
    def author(self) -> str:
        """In whose name it sends commands."""
        return f"the experiment {self.plan.name}"

    def is_elsewhere(self, run: Run) -> bool:
        """Return whether an engine of another host runs a run's session, or ran it and did not end by itself."""
        return launch.presence_now(self.session(run)) is Presence.FOREIGN

    def replace_engine(self, run: Run) -> None:
        """Start an engine on a session whose own is gone with its host."""
        self._start_engine(run, counted=False)

    def forgive(self) -> None:
        """Give runs whose engines did not stay alive another try."""
        again = {RunState.FAILED: RunState.CRASHED}
        self.runs = [replace(r, state=again.get(r.state, r.state), revived=0) for r in self.runs]

    def session(self, run: Run) -> SessionFolder:
        """Return the folder of a run's session, which may not exist yet."""
        return SessionFolder(folders.sessions_root() / run.session)

    def _see(self, run: Run) -> None:
        """Look at a run's session; one of that name that is not the run's is none."""
        folder = self.session(run)
        if not folder.path.exists() or _is_debris(folder):
            self.rows.pop(run.session, None)
            return
        row = row_of(folder)
        if run.session not in self._ours:
            if row["state"] != "unreadable" and not self._is_ours(run, folder):
                row |= {"state": "unreadable", "cause": "another session has its name"}
            else:
                self._ours.add(run.session)
        if row["state"] == "running":  # its row is as old as its last fact
            told_s = float(row.get("running_s") or 0.0)
            row["running_s"] = told_s + time.time() - float(row["updated_at"])
        self.rows[run.session] = row

    def _is_ours(self, run: Run, folder: SessionFolder) -> bool:
        opened = lookup.state(folder).opened
        wanted = (self.plan.name, run.configuration, str(run.repeat), run.task)
        held = opened.labels if opened else {}
        names = ("experiment", "configuration", "repeat")
        return wanted == (*(held.get(n) for n in names), opened.task if opened else "")

    def _begin(self, run: Run) -> None:
        """Write a run's session and start its engine; a kill in between is mended by the next look."""
        try:
            source = self._source(run.task)
        except WorkbenchError as error:
            self._put(replace(run, state=RunState.PASSED_OVER, why=str(error)))
            return
        folder = self.session(run)
        if folder.path.exists():
            shutil.rmtree(folder.path)  # it holds no fact: a killed runner was making it
        request = request_of(self.plan, run, source)
        request = replace(
            request,
            device=self._device(request.device),
            template_hash=prompts.load().digest,
            product_version=version(),
        )
        try:
            create_session(request)
        except NameTaken as error:
            self._put(replace(run, state=RunState.FAILED, why=str(error)))
        else:
            self._start_engine(run, counted=False)

    def _source(self, task: str) -> str:
        if task not in self._sources:
            self._sources[task] = experiment_plan.source_of(self.plan, task)
        return self._sources[task]

    def _device(self, device: str) -> str:
        """Return the GPU that the fewest runs under way use."""
        gpus = self.plan.places.gpus
        if not gpus:
            return device
        active = {run.session for run in self.runs if run.state is RunState.RUNNING}
        used = Counter(str(self.rows[s].get("device")) for s in active if s in self.rows)
        return min(gpus, key=lambda gpu: (used[gpu], gpus.index(gpu)))

    def _start_engine(self, run: Run, *, counted: bool = True) -> None:
        """Start an engine on a run's session; one that ends at once is tried again, a few times."""
        folder = self.session(run)
        models = kept_models.each(self.plan.configuration(run.configuration).request["models"])
        kept_models.keep(folder, models, self.plan.tables)
        why = ""
        try:
            launch.start(folder, take_over=self._take_over)
        except SessionBusy:
            counted = False
        except WorkbenchError as error:
            counted, why = True, str(error)
        if counted or why:
            self._put(
                replace(self._now(run), revived=self._now(run).revived + 1, why=why or run.why)
            )

    def _now(self, run: Run) -> Run:
        return next(one for one in self.runs if one.session == run.session)

    def _put(self, run: Run) -> None:
        """Keep what became of a run, and tell it."""
        before = self._now(run)
        self.runs = [run if one.session == run.session else one for one in self.runs]
        self._folder.keep_runs(self.runs)
        if before.state is not run.state:
            self._tell(run, self.rows.get(run.session, {}))

    def _stop(self, now: Course) -> None:
        """Stop what is under way, once each."""
        for run in now.runs:
            if run.state is RunState.RUNNING and run.session not in self._stopped:
                self._stopped.add(run.session)
                send(self.session(run), "stop", f"{self.author}: {now.stop}")

    def _hold(self, why: str) -> None:
        if why and why != self._held:
            self._say(f"no other run is begun: {why}")
        self._held = why


def send(folder: SessionFolder, act: str, author: str, *, now: bool = False) -> None:
    """Ask a session's engine to pause or stop.

    Raises:
        sessions.errors.SessionError, sessions.journal.JournalError: its journal cannot be used.
    """
    seen = lookup.state(folder).seq
    commands.send(folder.journal, act, {"now": now}, author=author, seen_seq=seen)


def _is_debris(folder: SessionFolder) -> bool:
    """Whether a folder is what a killed runner left of a session that it was making: no fact was written.

    Opened to write, since only so SQLite mends a file that was left half made.
    """
    if not folder.journal.is_file():
        return True
    try:
        with closing(
            sqlite3.connect(f"{folder.journal.resolve().as_uri()}?mode=rw", uri=True)
        ) as db:
            return db.execute("SELECT count(*) FROM facts").fetchone()[0] == 0
    except sqlite3.Error as error:
        return "no such table" in str(error)
