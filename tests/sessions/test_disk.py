"""A full disk, a read-only folder, a newer journal, no git: a clear word, and nothing lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import git
import pytest

from sessions.errors import FolderUnusable, LineageError
from sessions.folder import SessionFolder
from sessions.journal import Journal, JournalError, JournalNewer, Reader
from sessions.lineage import last_words, stale_locks
from sessions.states import SessionState
from sessions.summary import rows
from tests.fakes import FatedModel
from tests.sessions.searches import Search, search
from tests.sessions.test_control import ask, engine, paused, until

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@contextmanager
def small_disk(at: Path, megabytes: int) -> Generator[None]:
    """Mount a disk of its own; skip where that is not allowed."""
    at.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(at)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)


def fill(at: Path) -> None:
    """Leave no byte free."""
    with (at / "filler").open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.mark.parametrize("step", ["p2", "p5"])
async def test_a_full_disk_pauses_the_search_which_goes_on_when_there_is_room(
    tmp_path: Path, step: str
) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 16):
        model = FatedModel(
            fail=lambda r: fill(disk) if r.proposal == step and r.step == 0 else None
        )
        running = search(disk, model=model)
        async with engine(running) as task:
            state = await until(running, paused)
            assert state.code == "disk_full"
            assert str(running.folder.path) in state.cause
            done = {q.id for q in state.queries.values() if q.end == "done"}
            assert done, "the answer that found the disk full is kept"
            (disk / "filler").unlink()
            model.fail = lambda _request: None
            await ask(running, "resume")
            assert await task is SessionState.FINISHED
        state = running.state
        assert state.spending.queries == 12
        assert len(model.asked) == 12, "nothing was paid twice"
        assert all(a.commit for a in state.attempts.values())
        fsck = ["git", "-C", str(running.folder.lineage), "fsck"]
        assert (await asyncio.to_thread(subprocess.run, fsck, check=False)).returncode == 0


def test_no_session_begins_on_a_disk_with_hardly_any_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 4):
        with pytest.raises(FolderUnusable, match=r"kB are free.*make room or set PIKE_HOME"):
            search(disk)
        assert list(disk.iterdir()) == []


async def test_a_disk_too_full_for_the_repository_is_called_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 16):
        running = search(disk)
        begun = await running.engine()
        fill(disk)
        with pytest.raises(LineageError, match=r"^the disk is full: free some room .*then resume"):
            await begun.run()
        (disk / "filler").unlink()
        assert await running.run() is SessionState.FINISHED


def test_a_journal_that_needs_room_to_be_read_says_so(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 16):
        running = search(disk)
        running.folder.journal.with_name("journal.db-wal").touch()
        fill(disk)
        with pytest.raises(JournalError, match="its disk is full, free some room"):
            Reader(running.folder.journal)


def test_a_failing_git_is_told_in_its_own_last_words(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("nothing", encoding="utf-8")
    command = git.Git(tmp_path)
    with pytest.raises(git.GitCommandError) as caught:
        command.rev_parse("--verify", "no-such-thing")
    assert last_words(caught.value).startswith("fatal: ")


async def test_a_read_only_session_can_be_read_but_not_run(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, 16):
        finished = search(disk)
        await finished.run()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)  # noqa: ASYNC221 - quick
        assert finished.state.state is SessionState.FINISHED
        assert [row["state"] for row in rows(disk)] == ["finished"]
        with pytest.raises(JournalError, match=r"read-?only|unable to open"):
            await finished.run()


async def test_a_journal_of_a_newer_version_is_refused_by_name_and_version(tmp_path: Path) -> None:
    running = search(tmp_path)
    db = sqlite3.connect(running.folder.journal)
    with db:
        db.execute("UPDATE meta SET value='99' WHERE key='version'")
    db.close()
    with pytest.raises(JournalNewer, match=r"version 99.*update pike"):
        Reader(running.folder.journal)
    with pytest.raises(JournalNewer, match=r"version 99.*update pike"):
        await Journal.open(running.folder.journal, wal=True)
    assert [row["state"] for row in rows(tmp_path)] == ["unreadable"]


async def test_without_git_the_engine_says_so_and_spends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = search(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LineageError, match="git is not installed"):
        await running.run()
    assert running.model.asked == []


async def test_a_session_folder_that_was_copied_resumes_elsewhere(tmp_path: Path) -> None:
    hold = asyncio.Event()
    running = search(tmp_path / "here", model=FatedModel(hold=hold))
    async with engine(running) as task:
        hold.set()
        await until(running, lambda s: len(s.attempts) >= 2)
        await ask(running, "stop")
        await task
    there = tmp_path / "there"
    copy = ["cp", "-r", str(running.folder.path), str(there)]
    await asyncio.to_thread(subprocess.run, copy, check=True)
    moved = Search(SessionFolder(there))
    await ask(moved, "resume")
    assert await moved.run() is SessionState.FINISHED
    assert moved.state.spending.queries == 12


@pytest.mark.parametrize("host", [socket.gethostname(), "gpu017"])
async def test_a_gc_that_a_killed_engine_left_or_another_host_marked_stops_no_search(
    tmp_path: Path, host: str
) -> None:
    running = search(tmp_path)
    git.Repo.init(running.folder.lineage, bare=True, initial_branch="main").close()
    (running.folder.lineage / "gc.pid").write_text(f"{os.getpid()} {host}", encoding="utf-8")
    assert await running.run() is SessionState.FINISHED
    assert all(attempt.commit for attempt in running.state.attempts.values())


LEFT = (
    "packed-refs.new",
    "packed-refs.lock",
    "objects/info/commit-graph.lock",
    "refs/heads/lineage/001.lock",
)
"""What a git that was killed leaves, and what no later git would get past."""


@pytest.mark.parametrize("left", LEFT)
async def test_what_a_killed_git_leaves_half_written_stops_no_search(
    tmp_path: Path, left: str
) -> None:
    running = search(tmp_path)
    git.Repo.init(running.folder.lineage, bare=True, initial_branch="main").close()
    (running.folder.lineage / left).parent.mkdir(parents=True, exist_ok=True)
    (running.folder.lineage / left).write_text("half", encoding="utf-8")
    assert await running.run() is SessionState.FINISHED
    assert all(attempt.commit for attempt in running.state.attempts.values())


def test_stale_locks_are_found_beside_a_gc_that_still_removes_folders(tmp_path: Path) -> None:
    (tmp_path / "packed-refs.lock").touch()
    folders, over = [tmp_path / f"{n:02x}" for n in range(64)], threading.Event()

    def gc() -> None:
        while not over.is_set():
            for folder in folders:
                folder.mkdir()
            for folder in folders:
                folder.rmdir()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(gc)
        try:
            found = [stale_locks(tmp_path) for _ in range(300)]
        finally:
            over.set()
        other.result()
    assert found == [[tmp_path / "packed-refs.lock"]] * 300


@pytest.mark.parametrize(
    "kept", [("HEAD",), ("HEAD", "refs", "config.lock"), ("HEAD", "objects", "refs")]
)
async def test_a_repository_that_a_kill_left_half_made_is_made_whole(
    tmp_path: Path, kept: tuple[str, ...]
) -> None:
    running = search(tmp_path)
    git.Repo.init(running.folder.lineage, bare=True, initial_branch="main").close()
    (running.folder.lineage / "config.lock").touch()
    for left in running.folder.lineage.iterdir():
        if left.name not in kept:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    assert await running.run() is SessionState.FINISHED
    assert all(attempt.commit for attempt in running.state.attempts.values())
