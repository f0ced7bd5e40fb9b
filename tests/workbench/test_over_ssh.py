"""`ssh HOST pike mcp` over a real sshd of the test's own, on loopback: as a client's server, and as an evaluator."""

from __future__ import annotations

import asyncio
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server.lease import Lease
from mcp_server.machine import cpu
from sessions.errors import EvaluatorLost
from sessions.evaluator import Ask
from sessions.mcp_evaluator import command
from tests.workbench.test_mcp_stdio import HELLO, asked, conversation, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
LIMIT_S = 60.0
QUICK = "said = 1\n\nclass ModelNew: pass\n"
ASLEEP = "import time\ntime.sleep(300)\n\nclass ModelNew: pass\n"

pytestmark = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None, reason="sshd and ssh are not here"
)


class Far:
    """A host that ssh reaches: this one, with a login that has little more than sshd gives it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "far"
        self.home.mkdir()
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        for name in ("host", "user"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(words, check=True, timeout=LIMIT_S)

    def settings(self) -> str:
        path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        return (
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\n"
            f"AuthorizedKeysFile {self.folder}/user.pub\nPidFile none\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\n"
            f"SetEnv PATH={path} PIKE_HOME={self.home} TMPDIR={self.home} PYTHONPATH={ROOT}\n"
        )

    def runs(self, *words: str) -> list[str]:
        """Return what runs a command there."""
        known = f"UserKnownHostsFile={self.folder}/known"
        options = ["-o", known, "-o", "StrictHostKeyChecking=accept-new", "-o", "BatchMode=yes"]
        key = ["-F", "none", "-i", str(self.folder / "user"), "-p", str(self.port)]
        return ["ssh", "-T", *key, *options, f"{getpass.getuser()}@127.0.0.1", *words]

    def lives(self) -> list[str]:
        """Return the commands that run there."""
        found: list[str] = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                said = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if f"PIKE_HOME={self.home}".encode() in said:
                    found.append(command)
        return found


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    found = Far(tmp_path)
    (tmp_path / "sshd_config").write_text(found.settings(), encoding="utf-8")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    assert SSHD is not None
    with subprocess.Popen(
        [SSHD, "-D", "-f", str(tmp_path / "sshd_config"), "-E", str(tmp_path / "sshd.log")]
    ) as daemon:
        _until(lambda: _listens(found.port))
        yield found
        daemon.terminate()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_client_s_server_command_may_be_ssh(far: Far) -> None:
    task = {"name": "get_task", "arguments": {"task_id": "starter/softmax"}}
    words = far.runs("pike", "mcp", "--device", "cpu")
    out, _ = conversation(words, dict(os.environ), [HELLO, asked(2, "tools/call", **task)])
    first, second = messages(out)
    assert first["result"]["serverInfo"]["name"] == "kernels"
    assert second["result"]["structuredContent"]["task_id"] == "starter/softmax"
    _until(lambda: far.lives() == [])


async def test_an_evaluator_over_ssh_whose_connection_is_killed_leaves_nothing_there_and_is_reached_anew(
    far: Far,
) -> None:
    program = [sys.executable, "-m", "tests.mcp_server.programs.small_server"]
    words = far.runs(*program, str(far.home), "process")
    evaluator = command(words, places=1, name="far")
    told: list[str] = []
    async with asyncio.timeout(LIMIT_S * 3):
        job = await evaluator.start(_ask(ASLEEP))
        waiting = asyncio.create_task(evaluator.wait(job, lambda stage, _: told.append(stage)))
        while "timing" not in told or _lease_is_free(far.home):  # noqa: ASYNC110 - far away
            await asyncio.sleep(0.05)
        _kill_line(far)
        with pytest.raises(EvaluatorLost):
            await waiting
        while far.lives() or not _lease_is_free(far.home):  # noqa: ASYNC110 - far away
            await asyncio.sleep(0.05)
        again = await evaluator.start(_ask(QUICK))
        verdict = await evaluator.wait(again, lambda _stage, _detail: None)
        await evaluator.close()
    assert verdict["ok"] is True
    await asyncio.to_thread(_until, lambda: far.lives() == [])
    assert list(far.home.glob("pike-server-*")) == []


def _ask(source: str) -> Ask:
    return Ask("starter/softmax", source, "cpu", "half", "budget", "c1")


def _lease_is_free(folder: Path) -> bool:
    lease = Lease(cpu().uuid, folder)
    free = lease.try_take()
    lease.free()
    lease.close()
    return free


def _kill_line(far: Far) -> None:
    """Kill the ssh that our side started, as a broken line would end it."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes().split(b"\0")
            if words[0] == b"ssh" and str(far.port).encode() in words:
                os.kill(int(path.name), signal.SIGKILL)
