"""Git: one commit per attempt, one branch per lineage, the original as the root on `main`.

A bare repository, no work tree, no index. What a commit holds comes from facts alone, so making it again gives the same
commit. One thread owns the repository.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sessions.errors import LineageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import git

MAIN = "main"
GC_EVERY = 1_000
"""Commits between collections of garbage."""
_NONE = "0" * 40
_FILE = 0o100644
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewCommit:
    """One commit, all of it from facts."""

    branch: str
    parents: tuple[str, ...]
    """Commits; none for the root."""
    before: str
    """The branch's commit until now; empty: the branch is new."""
    files: Mapping[str, str]
    message: str
    author: str
    at: float
    """Seconds since the epoch."""


class Lineages:
    """One session's repository."""

    def __init__(self, path: Path) -> None:
        """Name the repository; `prepare` makes or mends it."""
        self.path = path
        self._thread = ThreadPoolExecutor(1, "lineage")
        self._repo: git.Repo | None = None
        self._commits = 0

    async def prepare(self) -> None:
        """Make the repository, or mend what a kill left: one made by half, stale locks, half-written objects.

        Raises:
            LineageError: there is no git, or it failed.
        """
        await self._run(self._prepare)

    async def commit(self, new: NewCommit) -> str:
        """Make a commit, or find it made; return its hash.

        Raises:
            LineageError: git failed; the message holds what it said.
        """
        return await self._run(lambda: self._commit(new))

    async def tidy(self) -> None:
        """Pack what is loose."""
        await self._run(self._gc)

    async def close(self) -> None:
        """End the thread, after what it does now."""
        await asyncio.to_thread(self._thread.shutdown)
        if self._repo is not None:
            self._repo.close()

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _guarded(work))

    def _prepare(self) -> None:
        if shutil.which("git") is None:
            raise LineageError(
                "git is not installed; pike keeps every attempt as a commit. Install git and try again"
            )
        import git  # takes 0.1 s, and fails where there is no git

        for left in (*stale_locks(self.path), self.path / "packed-refs.new"):
            left.unlink(missing_ok=True)
        git.Repo.init(self.path, bare=True, initial_branch=MAIN).close()  # one that is whole stays
        self._repo = git.Repo(self.path)
        self._repo.git.update_environment(GIT_CONFIG_NOSYSTEM="1", LC_ALL="C")
        self._repo.git.prune("--expire=now")
        self._gc()

    def _gc(self) -> None:
        """Pack what is loose, unless git says that it does so already.

        That is the gc of a killed engine that goes on, or its mark in a folder that came from another host.
        """
        from git.exc import GitCommandError

        try:
            self._open.git.gc("--quiet")
        except GitCommandError as error:
            if "gc is already running" not in str(error):
                raise

    def _commit(self, new: NewCommit) -> str:
        made = _make(self._open, new)
        ref = f"refs/heads/{new.branch}"
        if new.before != made:
            self._move(ref, made, new.before or _NONE)
        self._commits += 1
        if self._commits % GC_EVERY == 0:
            self._gc()
        return made

    def _move(self, ref: str, to: str, before: str) -> None:
        from git.exc import GitCommandError

        try:
            self._open.git.update_ref(ref, to, before)
        except GitCommandError:
            if self._tip(ref) != to:
                raise

    def _tip(self, ref: str) -> str:
        return str(self._open.git.for_each_ref("--format=%(objectname)", ref))

    @property
    def _open(self) -> git.Repo:
        if self._repo is None:
            raise LineageError(f"the repository {self.path} was not prepared")
        return self._repo


def stale_locks(repository: Path) -> list[Path]:
    """Return the locks in a repository; the gc of a killed engine may still remove folders in it."""
    return [
        Path(here, name)
        for here, _, names in os.walk(repository)  # passes over what vanishes, as `rglob` does not
        for name in names
        if name.endswith(".lock")
    ]


def _guarded(work: Callable[[], T]) -> Callable[[], T]:
    def guarded() -> T:
        from git.exc import GitError

        try:
            return work()
        except (GitError, OSError, ValueError) as error:
            raise LineageError(f"git failed: {last_words(error)}") from error

    def without_git() -> T:
        try:
            return guarded()
        except ImportError as error:
            raise LineageError(f"git cannot be used: {error}") from error

    return without_git


def _make(repo: git.Repo, new: NewCommit) -> str:
    from git import Actor, Commit

    author = Actor(_name(new.author), f"{_name(new.author).lower()}@pike.invalid")
    at = datetime.fromtimestamp(int(new.at), UTC)
    made = Commit.create_from_tree(
        repo,
        _tree(repo, new.files),
        new.message,
        parent_commits=[Commit(repo, bytes.fromhex(parent)) for parent in new.parents],
        author=author,
        committer=Actor("pike", "pike@pike.invalid"),
        author_date=at,
        commit_date=at,
    )
    return _whole(made.binsha).hex()


def _whole(sha: bytes) -> bytes:
    """Return the hash of an object; git leaves it empty where it could not write one."""
    if len(sha) != 20:
        raise OSError("an object could not be written; is the disk full?")
    return sha


def _tree(repo: git.Repo, files: Mapping[str, str]) -> git.Tree:
    from git import Tree
    from git.objects.fun import tree_to_stream

    entries = [(_store(repo, b"blob", _bytes(files[name])), _FILE, name) for name in sorted(files)]
    stream = BytesIO()
    tree_to_stream(entries, stream.write)
    return Tree(repo, _store(repo, b"tree", stream.getvalue()))


def _store(repo: git.Repo, kind: bytes, data: bytes) -> bytes:
    from gitdb.base import IStream

    database: Any = repo.odb  # gitdb has no types
    return _whole(bytes(database.store(IStream(kind, len(data), BytesIO(data))).binsha))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _name(author: str) -> str:
    """Return an author that git takes: foreign names may hold anything."""
    kept = "".join(c for c in author if c.isprintable() and c not in "<>\"'\\,;:")
    return "-".join(kept.split())[:60] or "unknown"


def subject_of(text: str) -> str:
    """Return foreign text as one printable line of at most 72 characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 72 else line[:71] + "…"


def message_of(subject: str, trailers: Sequence[tuple[str, str]]) -> str:
    """Return a commit message: one line, then the trailers that have a value."""
    lines = [f"{name}: {subject_of(value)}" for name, value in trailers if value]
    return "\n".join([subject, "", *lines]) + "\n"


def last_words(error: Exception) -> str:
    """Return what git itself said; the whole error where it said nothing."""
    said = str(getattr(error, "stderr", "") or "").partition("stderr: ")[2].strip().strip("'")
    return " ".join((said or str(error)).split())[:500]
