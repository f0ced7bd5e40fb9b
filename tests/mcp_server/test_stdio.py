"""The server as a real child process on stdio, and what is left when somebody is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mcp_server.lease import Lease
from mcp_server.machine import cpu
from tests.mcp_server.conftest import candidate, needs_bwrap
from tests.mcp_server.test_tools import fields

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
ENDING_LIMIT_S = 10


def server(home: Path, level: str = "process") -> StdioServerParameters:
    """Return how a client starts the server with the small programs."""
    arguments = ["-m", "tests.mcp_server.programs.small_server", str(home), level]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
    return StdioServerParameters(
        command=sys.executable, args=arguments, cwd=str(ROOT), env=environment
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    home = tmp_path / "state"
    home.mkdir()
    return home


async def test_a_server_answers_before_anything_is_started(state: Path) -> None:
    async with Client(server(state)) as client:
        tools = await client.list_tools()
        tasks = fields(await client.call_tool("list_tasks", {}))
        assert len(tools.tools) == 11
        assert len(tasks["tasks"]) == 8
        assert _scratch(state) == []


def test_a_started_server_has_imported_no_torch() -> None:
    program = (
        "import sys\n"
        "import mcp_server.app, mcp_server.evaluate_command, mcp_server.doctor\n"
        "from mcp_server.setting import Setting\n"
        "from pathlib import Path\n"
        "mcp_server.app.build(Setting(Path('nowhere')), engine=True)\n"
        "print([m for m in ('torch', 'triton', 'numpy') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60, cwd=ROOT
    )
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])
async def test_nothing_is_left_when_the_client_closes(state: Path, level: str) -> None:
    async with Client(server(state, level)) as client:
        arguments = {"task_id": "starter/softmax", "source": candidate("said = 1")}
        done = fields(await client.call_tool("evaluate_kernel", arguments))
        assert done["sandbox_level"] == level
        assert _processes(state) != []
    await _until(lambda: _processes(state) == [])
    await _until(lambda: _scratch(state) == [])


@pytest.mark.parametrize("level", ["process", pytest.param("bwrap", marks=needs_bwrap)])
async def test_a_killed_server_leaves_no_process_and_frees_the_lease(
    state: Path, level: str
) -> None:
    with anyio.move_on_after(30):
        async with Client(server(state, level)) as client, anyio.create_task_group() as group:
            sleeps = candidate("import time\ntime.sleep(300)")
            arguments = {"task_id": "starter/softmax", "source": sleeps, "wait_s": 0}
            pending = fields(await client.call_tool("evaluate_kernel", arguments))
            await _until(lambda: not _lease_is_free(state))
            [server_pid] = _servers(state)
            os.kill(server_pid, signal.SIGKILL)
            await _until(lambda: _processes(state) == [])
            await _until(lambda: _lease_is_free(state))
            assert pending["state"] in ("queued", "running")
            group.cancel_scope.cancel()
    assert _processes(state) == []


async def test_the_next_server_removes_what_a_killed_one_left(state: Path) -> None:
    (state / "pike-server-left").mkdir()
    (state / "pike-server-left" / ".held").touch()
    async with Client(server(state)) as client:
        arguments = {"task_id": "starter/softmax", "source": candidate("said = 1")}
        await client.call_tool("evaluate_kernel", arguments)
        assert "pike-server-left" not in _scratch(state)


def _scratch(state: Path) -> list[str]:
    return [p.name for p in state.glob("pike-server-*")]


def _processes(state: Path) -> list[int]:
    """Return the processes that belong to this test: its state folder is in their command or environment."""
    pids = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]
    return [p for p in pids if p != os.getpid() and _belongs(Path(f"/proc/{p}"), state)]


def _belongs(folder: Path, state: Path) -> bool:
    return str(state).encode() in _words(folder) + _read(folder / "environ")


def _servers(state: Path) -> list[int]:
    return [p for p in _processes(state) if b"small_server" in _words(Path(f"/proc/{p}"))]


def _words(folder: Path) -> bytes:
    return _read(folder / "cmdline")


def _read(path: Path) -> bytes:
    """Return what a process tells of itself; nothing if it has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _lease_is_free(state: Path) -> bool:
    lease = Lease(cpu().uuid, state)
    free = lease.try_take()
    lease.free()
    lease.close()
    return free


async def _until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(ENDING_LIMIT_S):
        while not holds():  # noqa: ASYNC110 -- other processes end
            await anyio.sleep(0.05)
