"""Builds apart from who wants them: real compilers in real sandboxes, without torch."""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server import interpreter, machine, watch
from mcp_server.build_store import LOG
from mcp_server.builder import Builder
from mcp_server.folders import Workspace
from mcp_server.sandbox import Sandbox
from tests.mcp_server.conftest import needs_bwrap
from tests.mcp_server.test_recipes import USUAL, written

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp_server.sandbox import Level

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
SOURCE = 'extern "C" int add(int a, int b) { return a + b; }\n'
ENDLESS = """
template <int N, int M> struct Slow { static const int value = Slow<N - 1, M>::value ^ Slow<N - 1, M + 1>::value; };
template <int M> struct Slow<0, M> { static const int value = M; };
int add() { return Slow<2500, 0>::value; }
"""
"""Three million types: minutes of compiling, and no value overflows on the way."""


@asynccontextmanager
async def builder(folder: Path, level: Level = "process") -> AsyncGenerator[Builder]:
    """Yield a builder with a home of its own."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    workspace = Workspace(folder / "work")
    try:
        async with anyio.create_task_group() as group:
            sandbox = Sandbox(level, interpreter.find(None), machine.cpu())
            yield Builder(sandbox, workspace, folder / "home", group)
            group.cancel_scope.cancel()
    finally:
        workspace.close()


def wish(
    builder: Builder, name: str, source: str = SOURCE, cflags: str = USUAL
) -> tuple[Path, str]:
    """Write a worker's scratch with a build in it; return it, and the folder as the worker knows it."""
    scratch = builder.workspace.fresh(name)
    seen = f"{builder.sandbox.scratch_seen(scratch)}/ext"
    (scratch / "ext").mkdir()
    written(scratch / "ext", cflags.replace("-isystem /usr/include", ""), source=f"{seen}/main.cpp")
    text = (scratch / "ext" / "build.ninja").read_text().replace("-lc10", "")
    (scratch / "ext" / "build.ninja").write_text(text)
    (scratch / "ext" / "main.cpp").write_text(source)
    return scratch, seen


@pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])
async def test_equal_builds_are_made_once_and_each_gets_a_copy_of_its_own(
    tmp_path: Path, level: Level
) -> None:
    async with builder(tmp_path, level) as ready:
        one, seen = wish(ready, "one")
        first = await ready.build(one, seen, 60)
        assert (first.said, first.kept) == ("built", False), first.log
        two, seen = wish(ready, "two")
        second = await ready.build(two, seen, 60)
        assert (second.said, second.kept, second.seconds) == ("built", True, 0.0)
        assert ctypes.CDLL(str(two / "ext" / "add.so")).add(2, 3) == 5


async def test_a_spoilt_copy_spoils_no_other(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        one, seen = wish(ready, "one")
        await ready.build(one, seen, 60)
        whole = (one / "ext" / "add.so").read_bytes()
        (one / "ext" / "add.so").write_bytes(b"spoilt")
        two, seen = wish(ready, "two")
        await ready.build(two, seen, 60)
        assert (two / "ext" / "add.so").read_bytes() == whole


async def test_a_library_that_changed_in_the_store_is_built_anew(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        one, seen = wish(ready, "one")
        await ready.build(one, seen, 60)
        (library,) = ready.workspace.path.glob("extensions/*/library")
        library.write_bytes(b"poison")
        two, seen = wish(ready, "two")
        found = await ready.build(two, seen, 60)
        assert (found.said, found.kept) == ("built", False)
        assert b"poison" not in (two / "ext" / "add.so").read_bytes()


async def test_a_library_that_cannot_be_kept_is_not_said_to_be_there(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        (ready.workspace.path / "extensions").touch()  # as on a disk that is full
        scratch, seen = wish(ready, "one")
        assert (await ready.build(scratch, seen, 60)).said == "left"
        assert not (scratch / "ext" / "add.so").exists()


async def test_without_a_fence_what_another_server_left_is_not_believed(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        one, seen = wish(ready, "one")
        await ready.build(one, seen, 60)
        assert not (tmp_path / "home").exists()


async def test_the_compilers_words_are_kept_and_given_to_the_worker(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        for name, kept in (("one", False), ("two", True)):
            scratch, seen = wish(ready, name, "int add( {\n")
            found = await ready.build(scratch, seen, 60)
            assert (found.said, found.kept) == ("failed", kept)
            assert "error:" in (scratch / "ext" / LOG).read_text()
            assert not (scratch / "ext" / "add.so").exists()


async def test_a_build_that_never_ends_is_ended_with_all_it_started_and_not_kept(
    tmp_path: Path,
) -> None:
    async with builder(tmp_path) as ready:
        scratch, seen = wish(ready, "one", ENDLESS, USUAL + " -ftemplate-depth=100000")
        found = await ready.build(scratch, seen, 2)
        assert found.said == "late"
        assert not list(ready.workspace.path.glob("b*"))
        assert not watch.strays(f"HOME={ready.workspace.path}".encode())
        assert not list(ready.workspace.path.glob("extensions/*"))
        one, seen = wish(ready, "two")
        assert (await ready.build(one, seen, 60)).said == "built"


async def test_a_paused_build_goes_on_and_its_limit_waits(tmp_path: Path) -> None:
    said: list[str] = []
    async with builder(tmp_path) as ready, anyio.create_task_group() as group:
        ready.pause(on=True)
        scratch, seen = wish(ready, "one")

        async def build() -> None:
            said.append((await ready.build(scratch, seen, 20)).said)

        group.start_soon(build)
        with anyio.fail_after(30):
            while not list(ready.workspace.path.glob("b*/plan.json")):  # noqa: ASYNC110 -- a file
                await anyio.sleep(0.05)
        await anyio.wait_all_tasks_blocked()
        assert said == []
        ready.pause(on=False)
        with anyio.fail_after(30):
            while not said:  # noqa: ASYNC110 -- a compiler
                await anyio.sleep(0.05)
    assert said == ["built"]


async def test_a_refused_flag_says_which(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        scratch, seen = wish(ready, "one", cflags=f"{USUAL} -fplugin=/scratch/x.so")
        found = await ready.build(scratch, seen, 60)
        assert found.said == "refused"
        assert "-fplugin" in found.cause


async def test_a_folder_outside_the_scratch_is_left_alone(tmp_path: Path) -> None:
    async with builder(tmp_path) as ready:
        scratch, seen = wish(ready, "one")
        (scratch / "link").symlink_to("/etc")
        for folder in ("/etc", f"{seen}/../../etc", str(scratch / "link")):
            assert (await ready.build(scratch, folder, 60)).said == "left"


KILLED = """
import sys
from pathlib import Path
import anyio
from tests.mcp_server.test_builder import ENDLESS, builder, wish
from tests.mcp_server.test_recipes import USUAL

async def main():
    async with builder(Path(sys.argv[1]), sys.argv[2]) as ready:
        scratch, seen = wish(ready, "one", ENDLESS, USUAL + " -ftemplate-depth=100000")
        await ready.build(scratch, seen, 600)

anyio.run(main)
"""


def started(server: int) -> list[int]:
    """Return a server's processes, once a compiler is among them."""
    members = watch.tree(server)
    names = [name(pid) for pid in members]
    return members[1:] if "cc1plus" in names else []


def name(pid: int) -> str:
    """Return what a process runs."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


@pytest.mark.parametrize("level", [pytest.param("bwrap", marks=needs_bwrap)])
def test_a_killed_server_takes_its_compilers_with_it(tmp_path: Path, level: str) -> None:
    argv = [sys.executable, "-c", KILLED, str(tmp_path), level]
    with subprocess.Popen(argv, cwd=Path(__file__).parents[2]) as server:
        deadline = time.monotonic() + 60
        while not (running := started(server.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert running, "no compiler was started"
        server.send_signal(signal.SIGKILL)
        server.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in running) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not [pid for pid in running if Path(f"/proc/{pid}").exists()]
