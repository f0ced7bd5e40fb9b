"""KernelBench-format tasks by id: the starter suite, files that people added, and the suites that they added.

| id | where |
| --- | --- |
| `starter/NAME` | ships with the product |
| `local/STEM-SHA8` | a file kept in the state folder's `tasks/` |
| `SUITE/STEM`, `SUITE/LEVEL/STEM` | a file of a folder of the person's, which stays where it is |

A task's file is read when it is asked for, and executed in a sandbox, never here.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server import catalog, projects, scan, task_text
from mcp_server.added_suites import AddedSuites
from mcp_server.errors import NotASuite, NotATask, StateUnusable, UnknownSuite, UnknownTask
from mcp_server.whole_files import write_whole

if TYPE_CHECKING:
    from mcp_server.added_suites import AddedSuite
    from mcp_server.catalog import Described
    from mcp_server.errors import EvaluatorError
    from mcp_server.scan import File

STARTER = Path(__file__).parent / "starter"
_AGENT_MARK = ".agent"


@dataclass(frozen=True, slots=True)
class Task:
    """A module to speed up."""

    id: str
    title: str
    source: str
    path: Path
    by_agent: bool = False
    """Whether an agent added it; people are trusted."""
    reads: tuple[str, ...] = field(default_factory=tuple)
    """Folders and files of the person's that it may read in the sandbox, beside the environment's."""

    @property
    def sha256(self) -> str:
        """Return the digest of the file: what makes two machines' tasks the same."""
        return hashlib.sha256(self.source.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Listed:
    """A task as its suite lists it."""

    id: str
    path: Path
    told: Described


def kept_name(path: Path, source: str) -> str:
    """Return the `STEM-SHA8` under which a person's file is kept.

    Raises:
        NotATask: it is not in KernelBench format.
    """
    task_text.check(source, path.name)
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-.")[:60] or "task"
    return f"{stem}-{digest}"


class Tasks:
    """The tasks of one state folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "tasks"
        self.suites = AddedSuites(home)
        self._home = home
        self._catalog = catalog.Catalog(home)

    def ids(self) -> list[str]:
        """Return every id, starter tasks first; a suite whose folder is gone has none."""
        return [listed.id for listed in self.listed()]

    def listed(self) -> list[Listed]:
        """Return every task with what its text tells.

        Raises:
            StateUnusable: the file that names the added suites is damaged.
        """
        found = [*self._plain("starter", STARTER), *self._plain("local", self.folder)]
        for suite in self.suites.all():
            with suppress(UnknownSuite, NotASuite):
                found += self.of(suite.name, files_of(suite))
        return found

    def troubles(self) -> list[EvaluatorError]:
        """Return why added suites cannot be listed, for each that cannot."""
        found: list[EvaluatorError] = []
        for suite in self.suites.all():
            try:
                files_of(suite)
            except (UnknownSuite, NotASuite) as error:
                found.append(error)
        return found

    def _plain(self, suite: str, folder: Path) -> list[Listed]:
        """Return the tasks of a folder of ours, without those of folders in it."""
        files = scan.folder(folder, suite).files if folder.is_dir() else []
        return self.of(suite, [file for file in files if "/" not in file.name])

    def of(self, suite: str, files: list[File]) -> list[Listed]:
        """Return the tasks among the files of a suite."""
        told = self._catalog.of(suite, files)
        return [Listed(f"{suite}/{f.name}", f.path, told[f.name]) for f in files if f.name in told]

    def matching(self, name: str) -> list[str]:
        """Return the ids that a name may mean: itself; else those that begin so, or do so without their suite.

        Raises:
            UnknownSuite: it is of a suite whose folder is gone.
        """
        if self.path(name) is not None:
            return [name]
        if "/" not in name:
            return []
        ids = self.ids()
        begun = [i for i in ids if i.startswith(name)]
        begun = begun or [i for i in ids if i.partition("/")[2].startswith(name)]
        # `level3/4` is 4_LeNet5 before it is any of 40 to 49.
        numbered = [i for i in begun if name[-1].isdigit() and f"{name}_" in i]
        return numbered if len(numbered) == 1 else begun

    def get(self, task_id: str) -> Task:
        """Return the task of an id; a prefix of its name will do if it is the only one.

        Raises:
            UnknownTask: there is none, or several begin so.
            UnknownSuite: its suite's folder is gone.
            NotATask: its file cannot be read.
        """
        matching = self.matching(task_id)
        if len(matching) != 1:
            raise UnknownTask(_unknown(task_id, matching))
        return self._read(matching[0])

    def add(self, path: Path) -> Task:
        """Keep a copy of a person's file as `local/STEM-SHA8` and return it.

        Raises:
            NotATask: it cannot be read, or is not in KernelBench format.
            StateUnusable: the state folder cannot be written.
        """
        source = task_text.read(path)
        kept = self.folder / f"{kept_name(path, source)}.py"
        _write(kept, source)
        return self._read(f"local/{kept.stem}")

    def find(self, name: str) -> Task:
        """Return the task of an id, or of a file's path, which is then kept.

        Raises:
            UnknownTask: it is neither.
            NotATask: the file is not in KernelBench format.
        """
        path = Path(name).expanduser()
        if path.is_file() or (name.endswith(".py") and self.path(name) is None):
            return self.add(path)
        return self.get(name)

    def path(self, task_id: str) -> Path | None:
        """Return the file of a whole id, None where no task has it.

        Raises:
            UnknownSuite: it is of a suite whose folder is gone.
        """
        suite, _, name = task_id.partition("/")
        own = {"starter": STARTER, "local": self.folder}.get(suite)
        if own is not None:
            return scan.file_of(own, name) if "/" not in name else None
        for added in self.suites.all():
            if added.name == suite:
                if not added.is_here:
                    raise added.gone()
                return scan.file_of(added.path, name)
        return None

    def _read(self, task_id: str) -> Task:
        path = self.path(task_id)
        if path is None:  # between two looks
            raise UnknownTask(_unknown(task_id, []))
        source = task_text.read(path)
        name = task_id.rpartition("/")[2]
        told = catalog.of_source(source, path.name, name)
        if told is None:
            raise NotATask(f"{task_id} holds nothing of a task any more: its file has changed.")
        marked = is_by_agent(path)
        may_read = task_id.startswith("local/") and not marked
        reads = projects.opened(self._home, source) if may_read else ()
        return Task(task_id, told.title, source, path, by_agent=marked, reads=reads)


def files_of(suite: AddedSuite) -> list[File]:
    """Return the files of an added suite.

    Raises:
        UnknownSuite: its folder is gone.
        NotASuite: its folder holds more than anybody's tasks by now.
    """
    if not suite.is_here:
        raise suite.gone()
    return scan.folder(suite.path, suite.name).files


def is_by_agent(path: Path) -> bool:
    """Return whether an agent added the task of a kept file."""
    return path.with_suffix(_AGENT_MARK).exists()


def _write(path: Path, text: str) -> None:
    if path.exists():
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise StateUnusable(
            f"{path.parent} cannot be written ({error.strerror}): set PIKE_HOME to a folder of yours."
        ) from error


def _unknown(task_id: str, matching: list[str]) -> str:
    if matching:
        return f"{task_id!r} could be {', '.join(matching[:5])}: give the whole id."
    return f"There is no task {task_id[:120]!r}: call list_tasks for the ids."
