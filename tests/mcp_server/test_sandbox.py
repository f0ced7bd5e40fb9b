"""What a candidate cannot do from inside the bubblewrap level, seen from inside and outside."""

from __future__ import annotations

import os
import platform
import secrets
import socket
import subprocess
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from mcp_server import interpreter, machine, probes, sandbox
from mcp_server.contract import Status
from mcp_server.errors import SandboxUnavailable
from mcp_server.local import open_local
from mcp_server.sandbox import Limits, of_judge
from tests.mcp_server.conftest import FENCES, needs_bwrap, needs_landlock, run

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

MEBIBYTE = 1024 * 1024


async def said(setting: Setting, body: str) -> Any:
    """Return what a candidate says after its body ran in a sandbox."""
    async with open_local(setting) as executor:
        outcome = await run(executor, body)
    return outcome.evidence["answer"]["said"]


async def test_probes_find_what_the_process_level_lets_through() -> None:
    found = await probes.probe("process", interpreter.find(None), machine.cpu())
    assert found.works
    assert {"files", "writes", "network", "environment", "signals"} <= set(found.missing)


@needs_bwrap
async def test_probes_find_nothing_open_under_bwrap_but_fork_bombs_of_root() -> None:
    found = await probes.probe("bwrap", interpreter.find(None), machine.cpu())
    assert found.works, found.reason
    assert set(found.missing) == ({"pids"} if os.getuid() == 0 else set())


@needs_landlock
async def test_probes_find_only_socket_files_open_under_landlock() -> None:
    found = await probes.probe("landlock", interpreter.find(None), machine.cpu())
    assert found.works, found.reason
    root = {"pids"} if os.getuid() == 0 else set[str]()
    assert set(found.missing) == {"unix_sockets"} | root


async def test_strict_names_the_layer_and_the_remedy_when_nothing_passes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match=r"bwrap.*not installed.*--sandbox best-effort"):
        await probes.choose("strict", interpreter.find(None), machine.cpu())


@needs_landlock
async def test_best_effort_takes_landlock_where_there_is_no_bubblewrap(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = await probes.choose("best-effort", interpreter.find(None), machine.cpu())
    assert found.level == "landlock"
    assert "network" not in found.missing


async def test_best_effort_falls_to_the_process_level_where_nothing_else_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    broken = tmp_path / "fence.py"
    broken.write_text("raise SystemExit('no Landlock in this kernel')", encoding="utf-8")
    monkeypatch.setattr(sandbox, "FENCE", broken)
    found = await probes.choose("best-effort", interpreter.find(None), machine.cpu())
    assert found.level == "process"
    assert "network" in found.missing


async def test_a_candidate_sees_no_variable_of_the_server(
    fenced: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secrets.token_hex(8)
    monkeypatch.setenv("SOME_API_KEY", token)
    body = """
import os, glob
said = repr(dict(os.environ))
for name in glob.glob("/proc/*/environ"):
    try:
        said += open(name).read()
    except OSError:
        pass
"""
    assert token not in await said(fenced, body)


async def test_a_candidate_cannot_read_the_home_folder(fenced: Setting, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("token")
    body = f"""
try:
    said = open({str(secret)!r}).read()
except OSError as error:
    said = type(error).__name__
"""
    assert await said(fenced, body) in ("FileNotFoundError", "PermissionError")


async def test_a_candidate_reaches_no_listener(fenced: Setting) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        body = f"""
import socket
try:
    socket.create_connection(("127.0.0.1", {listener.getsockname()[1]}), 2)
    said = "reached"
except OSError as error:
    said = type(error).__name__
"""
        assert await said(fenced, body) != "reached"
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_a_candidate_writes_nowhere_but_in_scratch(fenced: Setting) -> None:
    body = """
import os
said = []
for folder in ("/", "/usr", "/etc", "/sys", os.path.dirname(os.path.dirname(os.__file__))):
    try:
        open(os.path.join(folder, "written"), "w").close()
        said.append(folder)
    except OSError:
        pass
open(os.environ["HOME"] + "/written", "w").close()
"""
    assert await said(fenced, body) == []


async def test_a_candidate_cannot_kill_the_server(fenced: Setting) -> None:
    body = f"""
import os, signal
said = []
for pid in {{ {os.getpid()}, {os.getppid()}, os.getppid() }}:
    try:
        os.kill(pid, signal.SIGKILL)
        said.append(pid)
    except OSError:
        pass
"""
    async with open_local(fenced) as executor:
        await run(executor, body)
        after = await run(executor, "said = 1")
    assert after.verdict.status is Status.OK


@pytest.mark.timeout(60)
async def test_a_fork_bomb_ends_with_its_candidate(fenced: Setting) -> None:
    small = replace(fenced, limits=replace(Limits(), processes=64))
    body = """
import os, time
for _ in range(400):
    if os.fork() == 0:
        time.sleep(300)
time.sleep(300)
"""
    async with open_local(small) as executor:
        outcome = await run(executor, body)
        after = await run(executor, "said = 1")
    # Root's is killed for its processes; any other user's is refused the next one by the kernel.
    refused = "BlockingIOError" in str(outcome.evidence["answer"].get("raised"))
    assert refused or outcome.verdict.status is Status.RUNTIME_ERROR
    assert after.verdict.status is Status.OK


@needs_bwrap
async def test_a_candidate_sees_no_process_but_its_own(walled: Setting) -> None:
    body = """
import os
said = {}
for pid in filter(str.isdigit, os.listdir("/proc")):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        said[pid] = file.read().decode()
"""
    seen = await said(walled, body)
    assert 1 <= len(seen) <= 4, seen
    assert not any("pytest" in command for command in seen.values())


@needs_bwrap
async def test_a_candidate_reaches_no_socket_file_of_others(walled: Setting) -> None:
    # Not under tmp_path: a socket's path has room for 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="pike-") as folder,
        socket.socket(socket.AF_UNIX) as ours,
    ):
        path = f"{folder}/s"
        ours.bind(path)
        ours.listen()
        ours.setblocking(False)
        assert await said(walled, _connecting(repr(path))) == "FileNotFoundError"
        with pytest.raises(BlockingIOError):
            ours.accept()


async def test_a_candidate_reaches_no_abstract_socket_of_others(fenced: Setting) -> None:
    name = "\0pike-" + secrets.token_hex(8)
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(name)
        ours.listen()
        ours.setblocking(False)
        assert await said(fenced, _connecting(repr(name))) == "ConnectionRefusedError"
        with pytest.raises(BlockingIOError):
            ours.accept()


def _connecting(address: str) -> str:
    return f"""
import socket
mine = socket.socket(socket.AF_UNIX)
mine.settimeout(2)
try:
    mine.connect({address})
    said = "reached"
except OSError as error:
    said = type(error).__name__
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls are numbered otherwise")
async def test_a_candidate_makes_no_namespace_by_any_call_and_starts_threads_and_programs(
    fenced: Setting,
) -> None:
    body = """
import ctypes, errno, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
NEWUSER, NEWNET, CHILD = 0x10000000, 0x40000000, 17

def outcome(*call):
    result = libc.syscall(*call)
    if result == 0:
        import os
        os._exit(0)  # a child of ours
    return errno.errorcode[ctypes.get_errno()] if result < 0 else "done"

said = [outcome(56, NEWUSER | CHILD, 0, 0, 0, 0), outcome(56, NEWNET | CHILD, 0, 0, 0, 0)]
said += [outcome(435, ctypes.create_string_buffer(88), 88), outcome(272, NEWUSER)]
said += [outcome(56, CHILD, 0, 0, 0, 0)]
thread = threading.Thread(target=said.append, args=("thread",))
thread.start()
thread.join()
said.append(subprocess.run([sys.executable, "-I", "-S", "-c", "print('program')"],
                           capture_output=True, text=True).stdout.strip())
"""
    refused = ["EPERM", "EPERM", "ENOSYS", "EPERM"]
    assert await said(fenced, body) == [*refused, "done", "thread", "program"]


async def test_a_candidate_may_name_its_threads_as_cuda_does_when_it_starts(
    fenced: Setting,
) -> None:
    body = """
import os, threading
private = os.path.realpath("/proc/self") == f"/proc/{os.getpid()}"
said = ["of its own" if private else "masked"]

def name():
    for process in ("self", os.getpid()):
        path = f"/proc/{process}/task/{threading.get_native_id()}/comm"
        with open(path, "w") as file:
            file.write("named")
        said.append(open(path).read().strip())

if private:
    thread = threading.Thread(target=name)
    thread.start()
    thread.join()
"""
    proc, *named = await said(fenced, body)
    if proc == "masked":
        pytest.skip("a /proc of its own is not to be had here")
    assert named == ["named", "named"]


async def test_a_candidate_holds_no_capability_and_makes_no_device(fenced: Setting) -> None:
    body = """
import os, stat
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
said = [status["CapEff"].strip(), status["NoNewPrivs"].strip()]
for act in (
    lambda: os.mknod(os.environ["HOME"] + "/disk", stat.S_IFBLK | 0o600, os.makedev(254, 0)),
    lambda: os.chroot("/"),
    lambda: os.setuid(12345),
):
    try:
        act()
        said.append("done")
    except OSError as error:
        said.append(type(error).__name__)
"""
    capabilities, no_new, *acts = await said(fenced, body)
    assert int(capabilities, 16) == 0
    assert no_new == "1"
    assert acts == ["PermissionError"] * 2 + [acts[2]]
    assert acts[2] in ("PermissionError", "OSError")


@pytest.mark.parametrize("level", ["process", *FENCES])
async def test_a_candidate_is_given_no_variable_of_the_server_at_any_level(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, level: Any
) -> None:
    token = secrets.token_hex(8)
    monkeypatch.setenv("ANTHROPIC_API_KEY", token)
    body = "import os\nsaid = dict(os.environ)"
    given = await said(replace(setting, sandbox=level), body)
    assert token not in str(given)
    assert "HOME" in given
    assert given["HOME"] != os.environ.get("HOME")


@pytest.mark.parametrize("level", ["process", *FENCES])
async def test_a_tree_of_processes_shares_one_memory_limit(setting: Setting, level: Any) -> None:
    small = replace(setting, sandbox=level, limits=replace(Limits(), memory_bytes=300 * MEBIBYTE))
    body = f"""
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(os.urandom(1)) * (80 * {MEBIBYTE})
        time.sleep(300)
time.sleep(300)
"""
    async with open_local(small) as executor:
        outcome = await run(executor, body)
        after = await run(executor, "said = 1")
    assert outcome.verdict.code == "memory_limit"
    assert after.verdict.status is Status.OK


@pytest.mark.parametrize("level", ["process", *FENCES])
async def test_filling_the_disk_ends_the_candidate_and_frees_the_disk(
    setting: Setting, level: Any
) -> None:
    small = replace(setting, sandbox=level, limits=replace(Limits(), scratch_bytes=64 * MEBIBYTE))
    body = f"""
import time
for number in range(20):
    with open(str(number), "wb") as file:
        file.write(bytes(10 * {MEBIBYTE}))
time.sleep(300)
"""
    async with open_local(small) as executor:
        outcome = await run(executor, body)
    assert outcome.evidence["output"]["cause"] == "disk_full"
    assert outcome.verdict.status is Status.RUNTIME_ERROR


async def test_endless_output_ends_the_candidate_and_keeps_its_end(setting: Setting) -> None:
    body = """
while True:
    print("x" * 10_000, flush=True)
"""
    async with open_local(setting) as executor:
        outcome = await run(executor, body)
    assert outcome.evidence["output"]["cause"] == "output_limit"
    assert 1_000 < len(outcome.output) <= 256 * 1024 + 10_000


async def test_a_process_that_leaves_its_group_is_killed_too(setting: Setting) -> None:
    body = """
import os, subprocess, sys
sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
said = subprocess.Popen(sleeper, start_new_session=True).pid
"""
    async with open_local(setting) as executor:
        outcome = await run(executor, body)
        pid = outcome.evidence["answer"]["said"]
        with anyio.fail_after(5):
            while _alive(pid):
                await anyio.lowlevel.checkpoint()


def _alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return state.stdout.strip() not in (b"", b"Z")


def test_a_judge_may_keep_what_a_large_task_needs_and_a_candidate_may_not() -> None:
    judge, candidate = of_judge(Limits()), Limits()
    assert judge.memory_bytes == machine.memory_bytes() * 6 // 10 >= candidate.memory_bytes
    assert judge.address_bytes >= 2 * judge.memory_bytes
    assert of_judge(Limits(address_bytes=0)).address_bytes == 0
