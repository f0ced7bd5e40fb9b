"""Nodes of Ray on this machine, as `ray start` makes them: in a folder and a process group of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

RAY = str(Path(sys.executable).with_name("ray"))
START_LIMIT_S = 120


def free_port() -> int:
    """Return a port on which nobody listens now, outside the range that Ray gives its workers."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if not 10_000 <= port < 20_000:
            return port


def all_processes() -> list[int]:
    """Return the ids of all processes."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def session(pid: int) -> int:
    """Return the leader of a process's session, 0 once it is gone."""
    with suppress(OSError):
        return os.getsid(pid)
    return 0


def parent(pid: int) -> int:
    """Return the process that started another, 0 once it is gone."""
    with suppress(OSError):
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(") ")[2].split()[1])
    return 0


def command(pid: int) -> str:
    """Return a process's command line, empty once it is gone."""
    with suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


@dataclass
class Node:
    """One started node: `ray start --block` and all that it started."""

    starter: subprocess.Popen[bytes]
    said: Path

    def wait(self) -> None:
        """Wait until it is in the cluster."""
        give_up = time.monotonic() + START_LIMIT_S
        while b"Ray runtime started" not in self.said.read_bytes():
            assert self.starter.poll() is None, self.said.read_text()
            assert time.monotonic() < give_up, self.said.read_text()
            time.sleep(0.1)

    def pids(self, program: str = "") -> list[int]:
        """Return its processes whose command line holds a word."""
        own = [pid for pid in all_processes() if session(pid) == self.starter.pid]
        return [pid for pid in own if program in command(pid)]

    def kill(self, program: str = "") -> None:
        """Kill those of its processes: all of them, or those of a program."""
        for pid in self.pids(program):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not program:
            self.starter.kill()
            self.starter.wait()


@dataclass
class Nodes:
    """A cluster on this machine."""

    folder: Path = field(
        default_factory=lambda: Path(tempfile.mkdtemp(prefix="pike-ray-", dir="/tmp"))
    )
    port: int = field(default_factory=free_port)
    client_port: int = field(default_factory=free_port)
    nodes: list[Node] = field(default_factory=list[Node])

    @property
    def home(self) -> Path:
        """Return the state folder of its hosts."""
        return self.folder / "home"

    @property
    def address(self) -> str:
        """Return what RAY_ADDRESS is to say."""
        return f"{self.host}:{self.port}"

    host: str = "127.0.0.1"

    @property
    def environment(self) -> dict[str, str]:
        """Return what programs need to join: the token among it."""
        token = "0123456789abcdef" * 4
        return {
            "RAY_ADDRESS": self.address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": token,
            "RAY_TMPDIR": str(self.folder),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_memory_monitor_refresh_ms": "0",
            "RAY_raylet_start_wait_time_s": str(START_LIMIT_S),
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "4",
        }

    def start(self, *inside: str, host: str = "", gpus: int = 0, **environment: str) -> Node:
        """Start a node, the head first.

        `inside`: the command that puts it elsewhere, as into a network namespace; `host`: its address there.
        """
        values = {**os.environ, **self.environment, "PIKE_HOME": str(self.home), **environment}
        del values["RAY_ADDRESS"]
        argv = [
            *inside,
            RAY,
            "start",
            "--block",
            "--num-cpus=1",
            f"--num-gpus={gpus}",
            "--disable-usage-stats",
        ]
        argv += ["--object-store-memory=80000000", f"--node-ip-address={host or self.host}"]
        argv += [f"--dashboard-agent-listen-port={free_port()}"]
        if self.nodes:
            argv += [f"--address={self.address}"]
        else:
            argv += ["--head", f"--port={self.port}", "--include-dashboard=false"]
            argv += [f"--ray-client-server-port={self.client_port}", f"--temp-dir={self.folder}"]
        said = self.folder / f"start-{len(self.nodes)}.txt"
        with said.open("wb") as output:
            starter = subprocess.Popen(
                argv,
                env=values,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.nodes.append(Node(starter, said))
        return self.nodes[-1]

    def owns(self, pid: int) -> bool:
        """Return whether a process was started by a node, or by what it started."""
        leaders = {node.starter.pid for node in self.nodes}
        while pid > 1:
            if session(pid) in leaders:
                return True
            pid = parent(pid)
        return False

    def processes(self, program: str) -> list[int]:
        """Return the processes of all nodes whose command line holds a word."""
        return [pid for pid in all_processes() if program in command(pid) and self.owns(pid)]

    def stop(self) -> None:
        """Kill every node."""
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
