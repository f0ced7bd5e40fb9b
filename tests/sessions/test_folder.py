"""Where sessions live: free names, near names, folders that refuse, disks of other hosts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sessions import folder as folders
from sessions.errors import AmbiguousSession, FolderUnusable, NameTaken, NoSuchSession, StartRefused
from sessions.journal import Journal, Reader
from sessions.start import create_session
from sessions.storage import kind_of, storage_of
from sessions.summary import rows
from tests.sessions.searches import request, search

NFS = """\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
31 22 0:40 / /data rw,relatime shared:1 - nfs4 server:/data rw,vers=4.2
32 31 0:41 / /data/scratch rw - tmpfs tmpfs rw
"""


def test_the_root_is_pike_home_if_set(tmp_path: Path) -> None:
    assert folders.root({"PIKE_HOME": str(tmp_path)}) == tmp_path
    assert folders.root({}).name == "pike"


@pytest.mark.parametrize(
    ("task", "stem"),
    [
        ("starter/softmax", "softmax"),
        ("level3/44_MiniGPTBlock", "minigptblock"),
        ("local/my_net-0123abcd", "my-net"),
        ("local/---", "session"),
    ],
)
def test_a_session_is_named_after_its_task(task: str, stem: str) -> None:
    assert folders.stem_of(task) == stem


def test_names_count_up_and_a_taken_name_is_refused(tmp_path: Path) -> None:
    assert [search(tmp_path).folder.name for _ in range(2)] == ["twice-1", "twice-2"]
    search(tmp_path, name="mine")
    with pytest.raises(NameTaken, match="pike attach mine"):
        search(tmp_path, name="mine")
    with pytest.raises(NameTaken, match="no session name"):
        search(tmp_path, name="../mine")


def test_a_unique_prefix_finds_a_session_and_near_names_are_listed(tmp_path: Path) -> None:
    for name in ("softmax-1", "softmax-2", "scan"):
        search(tmp_path, name=name)
    assert folders.find(tmp_path, "sc").name == "scan"
    assert folders.find(tmp_path, "softmax-1").name == "softmax-1"
    with pytest.raises(AmbiguousSession, match="softmax-1, softmax-2"):
        folders.find(tmp_path, "soft")
    with pytest.raises(NoSuchSession, match="softmax"):
        folders.find(tmp_path, "sotfmax")
    with pytest.raises(NoSuchSession, match="none yet"):
        folders.find(tmp_path / "empty", "x")


@pytest.mark.parametrize("limit", [{"queries": 0}, {"cost_usd": 0}, {"hours": -1.0}])
def test_a_budget_of_nothing_is_refused_before_a_folder_exists(
    tmp_path: Path, limit: dict[str, float | int | None]
) -> None:
    with pytest.raises(StartRefused, match="leaves nothing"):
        create_session(request(limits=limit), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_state_folder_that_refuses_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(FolderUnusable, match="set PIKE_HOME"):
        create_session(request(), tmp_path / "file" / "sessions")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_state_folder_says_what_to_do(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FolderUnusable, match="set PIKE_HOME"):
        create_session(request(), tmp_path / "sessions")


def test_network_file_systems_are_told_by_the_deepest_mount() -> None:
    here = Path("/")
    assert not storage_of(here, NFS).network
    paths = ("/home/ada", "/data/ada", "/data/scratch/ada", "/database")
    assert [kind_of(Path(path), NFS) for path in paths] == ["ext4", "nfs4", "tmpfs", "ext4"]


async def test_a_journal_on_a_network_file_system_uses_no_shared_memory(tmp_path: Path) -> None:
    running = search(tmp_path)
    journal = await Journal.open(running.folder.journal, wal=False)
    await journal.close()
    assert not list(running.folder.path.glob("journal.db-*"))
    with Reader(running.folder.journal) as reader:
        assert len(reader.facts()) == 1


def test_a_session_that_is_being_made_is_never_seen_half(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(lambda: [search(tmp_path, name=f"new-{n}") for n in range(8)])
        while not making.done():
            assert {row["state"] for row in rows(tmp_path)} <= {"running"}
    assert len(making.result()) == len(rows(tmp_path)) == 8


def test_a_session_list_shows_a_damaged_journal_as_such_and_the_others_all_the_same(
    tmp_path: Path,
) -> None:
    search(tmp_path, name="good")
    bad = search(tmp_path, name="bad")
    bad.folder.journal.write_bytes(b"not a database, " * 400)
    found = {row["id"]: row for row in rows(tmp_path)}
    assert found["good"]["state"] == "running"
    assert found["bad"]["state"] == "unreadable"
    assert "not a database" in found["bad"]["cause"]


async def test_a_row_says_what_a_finished_search_came_to(tmp_path: Path) -> None:
    running = search(tmp_path)
    await running.run()
    [row] = rows(tmp_path)
    assert row["state"] == "finished"
    assert row["queries"] == 12
    assert row["queries_limit"] == 12
    assert row["attempts"] == len(running.state.attempts)
    assert row["best_speedup"] == max(a.speedup or 0 for a in running.state.attempts.values())
    assert row["best_class"] == "fp32"
    assert row["engine"] == "none"
