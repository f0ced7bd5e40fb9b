"""Where an experiment is kept: what was asked, what was decided, how each run stands, who drives it.

```
$PIKE_HOME/experiments/NAME/
  experiment.toml  as read       plan.json  as decided      runs.json  a row per run
  wanted           run, pause or stop       runner.lock  held by its runner      runner.log
```
The folder appears whole or not at all, and every file in it is replaced in one step.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sessions.errors import FolderUnusable, NameTaken, NoSuchSession, SessionBusy
from sessions.experiments import plan as plans
from sessions.folder import NAME, root, unusable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sessions.experiments.plan import Plan, Run

NAME_LIMIT = 32
"""Characters: a session's name begins with it."""


class Wanted(StrEnum):
    """What a person wants of an experiment."""

    RUN = "run"
    PAUSE = "pause"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class ExperimentFolder:
    """One experiment on disk."""

    path: Path

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.path.name

    @property
    def log(self) -> Path:
        """What a detached runner says."""
        return self.path / "runner.log"

    @property
    def plan(self) -> Plan:
        """What was decided.

        Raises:
            FolderUnusable: it cannot be read.
        """
        return self._read("plan.json", plans.of_json)

    @property
    def runs(self) -> list[Run]:
        """How each run stood when its runner last looked.

        Raises:
            FolderUnusable: they cannot be read.
        """
        return self._read("runs.json", plans.runs_of_json)

    @property
    def wanted(self) -> Wanted:
        """What a person wants of it."""
        try:
            return Wanted((self.path / "wanted").read_text(encoding="utf-8").strip())
        except (OSError, ValueError):
            return Wanted.RUN

    def keep_runs(self, runs: Sequence[Run]) -> None:
        """Replace `runs.json`."""
        _replace(self.path / "runs.json", _json([plans.run_to_json(run) for run in runs]))

    def want(self, wanted: Wanted) -> None:
        """Say what a person wants of it: its runner looks every second."""
        _replace(self.path / "wanted", wanted.value + "\n")

    @property
    def driver(self) -> int | None:
        """The process that drives it now; None: nobody does."""
        try:
            descriptor = os.open(self.path / "runner.lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            if _locked(descriptor, fcntl.LOCK_SH):
                return None
            text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            return int(text) if text.isdigit() else 0
        finally:
            os.close(descriptor)

    def _read(self, name: str, read: Any) -> Any:
        path = self.path / name
        try:
            return read(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise FolderUnusable(f"{path} cannot be used: {error}") from error


class RunnerLock:
    """Held by the one process that drives an experiment; a kill frees it."""

    def __init__(self, descriptor: int) -> None:
        """Use `take`."""
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: ExperimentFolder) -> RunnerLock:
        """Become the one that drives it.

        Raises:
            SessionBusy: another process does.
        """
        path = folder.path / "runner.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        while not _locked(descriptor, fcntl.LOCK_EX):
            if _locked(descriptor, fcntl.LOCK_SH):
                continue  # held by who only looks, for a moment
            os.close(descriptor)
            raise SessionBusy(
                f"experiment {folder.name} is already driven by process {folder.driver}; "
                f"`pike experiment show {folder.name}` tells how it stands"
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Let another drive it."""
        os.close(self._descriptor)


def experiments_root(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of all experiments."""
    return root(environ) / "experiments"


def check_name(under: Path, name: str) -> None:
    """Refuse what no new experiment may be called.

    Raises:
        NameTaken: the name is in use, or is no name.
    """
    if not NAME.match(name) or len(name) > NAME_LIMIT:
        raise NameTaken(
            f"'{name}' is no name of an experiment: letters, digits, dots, dashes, at most {NAME_LIMIT}; "
            "give another with --name"
        )
    if (under / name).exists():
        raise NameTaken(
            f"an experiment '{name}' exists: `pike experiment resume {name}` goes on with it, --name starts another"
        )


def create(under: Path, text: str, plan: Plan) -> ExperimentFolder:
    """Write a new experiment: all its runs wait.

    Raises:
        NameTaken: the name is in use, or is no name.
        FolderUnusable: the state folder cannot be written.
    """
    check_name(under, plan.name)
    made = under / f".{plan.name}.{os.getpid()}"
    folder = ExperimentFolder(under / plan.name)
    try:
        made.mkdir(parents=True)
        _replace(made / "experiment.toml", text)
        _replace(made / "plan.json", _json(plans.to_json(plan)))
        ExperimentFolder(made).keep_runs(plans.runs_of(plan))
        made.rename(folder.path)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        check_name(under, plan.name)
        raise FolderUnusable(unusable(under, error)) from error
    return folder


def all_in(under: Path) -> list[ExperimentFolder]:
    """Return every experiment, by name."""
    if not under.is_dir():
        return []
    found = (path for path in under.iterdir() if (path / "plan.json").is_file())
    return [ExperimentFolder(p) for p in sorted(found) if not p.name.startswith(".")]


def find(under: Path, prefix: str) -> ExperimentFolder:
    """Return the experiment of that name, or the only one that begins with it.

    Raises:
        NoSuchSession: none does, or several do.
    """
    names = {folder.name: folder for folder in all_in(under)}
    found = [prefix] if prefix in names else [n for n in names if prefix and n.startswith(prefix)]
    if len(found) == 1:
        return names[found[0]]
    if found:
        listed = ", ".join(found[:8])
        raise NoSuchSession(f"several experiments begin with '{prefix}': {listed}; write more")
    near = get_close_matches(prefix, list(names), n=4, cutoff=0.5) or list(names)[-4:]
    listed = f"there are: {', '.join(near)}" if near else "there are none yet"
    raise NoSuchSession(f"no experiment '{prefix}'; {listed}")


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write a file in one step: a kill leaves the old one or the new one."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
