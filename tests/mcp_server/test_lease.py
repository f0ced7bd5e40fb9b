"""The device lease between real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server.lease import Lease, shared_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

HOLDER = """
import sys
from pathlib import Path
from mcp_server.lease import Lease
lease = Lease("gpu-1", Path(sys.argv[1]))
assert lease.try_take()
print("held", flush=True)
sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that holds the lease until its input ends."""
    argv = [sys.executable, "-c", HOLDER, str(folder)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_shared_holders_stand_beside_each_other_and_never_beside_one_that_is_alone(
    tmp_path: Path,
) -> None:
    one, two, three = (Lease("gpu-1", tmp_path) for _ in range(3))
    assert one.try_take(shared=True)
    assert two.try_take(shared=True)
    assert not three.try_take()
    one.free()
    two.free()
    assert three.try_take()
    assert not one.try_take(shared=True)
    three.free()
    assert (one.held_s, two.held_s) == (0.0, 0.0)
    assert three.held_s > 0


async def test_who_waits_to_be_alone_lets_no_more_shared_ones_in(tmp_path: Path) -> None:
    first, alone, late = (Lease("gpu-1", tmp_path) for _ in range(3))
    assert first.try_take(shared=True)
    order: list[str] = []

    async def take(lease: Lease, name: str, *, shared: bool) -> None:
        await lease.take(shared=shared)
        order.append(name)
        lease.free()

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: take(alone, "alone", shared=False))
        await anyio.wait_all_tasks_blocked()
        group.start_soon(lambda: take(late, "late", shared=True))
        await anyio.wait_all_tasks_blocked()
        first.free()
    assert order == ["alone", "late"]


def test_closed_twice_it_closes_nobody_else_s_file(tmp_path: Path) -> None:
    lease = Lease("gpu-1", tmp_path)
    lease.close()
    others = [os.open("/dev/null", os.O_RDONLY) for _ in range(8)]
    lease.free()
    lease.close()
    for other in others:
        os.fstat(other)
        os.close(other)
    with pytest.raises(OSError, match="closed"):
        lease.try_take()


def test_two_processes_never_hold_one_device(tmp_path: Path) -> None:
    with holder(tmp_path):
        assert not Lease("gpu-1", tmp_path).try_take()
        assert Lease("gpu-2", tmp_path).try_take()


def test_a_killed_holder_frees_the_lease(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        assert Lease("gpu-1", tmp_path).try_take()


def test_a_judge_that_shares_the_descriptor_keeps_the_lease_of_a_killed_server(
    tmp_path: Path,
) -> None:
    lease = Lease("gpu-1", tmp_path)
    assert lease.try_take()
    argv = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=(lease.fd,)) as judge:
        os.close(lease.fd)
        assert not Lease("gpu-1", tmp_path).try_take()
        judge.kill()
        judge.wait()
        assert Lease("gpu-1", tmp_path).try_take()


async def test_who_waits_goes_before_a_holder_that_wants_it_again(tmp_path: Path) -> None:
    first, second = Lease("gpu-1", tmp_path), Lease("gpu-1", tmp_path)
    order: list[str] = []

    async def waiter() -> None:
        await second.take()
        order.append("second")
        second.free()

    await first.take()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(waiter)
            await anyio.wait_all_tasks_blocked()
            first.free()
            await first.take()
            order.append("first")
    assert order == ["second", "first"]


def test_every_user_may_use_the_shared_folder() -> None:
    folder = shared_folder()
    assert folder.stat().st_mode & 0o777 == 0o777
    lease = Lease("test-of-rights")
    assert lease.path.stat().st_mode & 0o777 == 0o666
    lease.close()


def test_two_users_who_come_first_at_once_find_one_folder_and_may_both_use_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.lease._FOLDERS", (tmp_path,))
    seen: set[str] = set()
    done = threading.Event()

    def another() -> None:
        """Look all the time, as a second user does who comes in the same moment."""
        while not done.is_set():
            for path in (tmp_path / "pike-leases", tmp_path / "pike-leases" / "gpu-1.lock"):
                with suppress(FileNotFoundError):
                    seen.add(f"{path.name} {path.stat().st_mode & 0o777:o}")

    previous = os.umask(0o077)
    looking = threading.Thread(target=another)
    looking.start()
    try:
        for _ in range(200):
            Lease("gpu-1").close()
            shutil.rmtree(tmp_path / "pike-leases")
    finally:
        done.set()
        looking.join()
        os.umask(previous)
    assert seen == {"pike-leases 777", "gpu-1.lock 666"}
    assert list(tmp_path.iterdir()) == []


def test_who_comes_second_leaves_the_first_ones_folder_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.lease._FOLDERS", (tmp_path,))
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            leases = list(pool.map(Lease, ["gpu-1"] * 8))
            assert len({os.fstat(lease.fd).st_ino for lease in leases}) == 1, number
            for lease in leases:
                lease.close()
            shutil.rmtree(tmp_path / "pike-leases")
    assert list(tmp_path.iterdir()) == []


WANTING = """
import sys, time
from pathlib import Path
import anyio
from mcp_server.lease import Lease

async def main():
    async def job():
        lease = Lease("gpu-1", Path(sys.argv[1]))
        while True:
            await lease.take()
            print(time.monotonic(), flush=True)
            await anyio.sleep(0.05)
            lease.free()
    async with anyio.create_task_group() as jobs:
        for _ in range(int(sys.argv[2])):
            jobs.start_soon(job)

anyio.run(main)
"""


def test_a_server_with_many_jobs_does_not_starve_one_with_few(tmp_path: Path) -> None:
    with wanting(tmp_path, 6) as many, wanting(tmp_path, 1) as one:
        assert one.stdout is not None
        assert many.stdout is not None
        many.stdout.readline()
        ours = [float(one.stdout.readline()) for _ in range(21)]
        many.kill()
        others = [float(line) for line in many.stdout.read().splitlines()]
    between = [at for at in others if ours[0] < at < ours[-1]]  # not what it took alone at first
    assert len(between) < 100, "to twenty of one server"


@contextmanager
def wanting(folder: Path, jobs: int) -> Generator[subprocess.Popen[bytes]]:
    """Run a process that has so many jobs for the device, for ever."""
    argv = [sys.executable, "-c", WANTING, str(folder), str(jobs)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()
