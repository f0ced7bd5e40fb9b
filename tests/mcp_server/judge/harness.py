"""A server of one judge, without a sandbox: real processes, the real channel."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_server.channel import Channel, ChannelClosed
from mcp_server.watch import cpu_s, tree

ROOT = Path(__file__).resolve().parents[3]
JUDGE = ROOT / "mcp_server" / "judge" / "__main__.py"
WORKER = ROOT / "mcp_server" / "worker" / "program.py"


@dataclass
class Started:
    """A worker's process and where its output goes."""

    process: subprocess.Popen[bytes]
    folder: Path


@dataclass
class Bench:
    """Starts the judge and what it asks for, and keeps what was qualified."""

    folder: Path
    python: str = sys.executable
    workers: dict[str, Started] = field(default_factory=dict[str, Started])
    stages: list[str] = field(default_factory=list[str])
    qualified: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    count: int = 0
    spares: list[tuple[Started, socket.socket]] = field(
        default_factory=list[tuple[Started, socket.socket]]
    )

    def __post_init__(self) -> None:
        self.stderr = (self.folder / "judge.log").open("wb")
        mine, theirs = socket.socketpair()
        self.judge = subprocess.Popen(
            [self.python, "-I", "-B", str(JUDGE), "--fd", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stderr=self.stderr,
            env=self._environment(self.folder / "judge"),
        )
        theirs.close()
        mine.settimeout(170)
        self.channel = Channel(mine)
        self.hello, _ = self.channel.receive()

    def _environment(self, home: Path) -> dict[str, str]:
        home.mkdir(parents=True, exist_ok=True)
        cache = self.folder / "cache"
        return {
            "PATH": f"{Path(self.python).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(home),
            "TORCH_EXTENSIONS_DIR": str(home / "extensions"),
            "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
            "TRITON_CACHE_DIR": str(cache / "triton"),
            "TORCH_NO_COMPILER_WRAPPER": "1",
            "OMP_NUM_THREADS": "1",
        }

    def evaluate(self, task: Path, source: str, **fields: Any) -> dict[str, Any]:
        """Return the verdict on a candidate."""
        return self.answer(task, source, **fields)["verdict"]

    def answer(self, task: Path, source: str, **fields: Any) -> dict[str, Any]:
        """Return the judge's whole answer."""
        self.stages.clear()
        message = {
            "op": "evaluate" if source else "qualify",
            "id": "job",
            "task_id": task.stem,
            "task_path": str(task),
            "source": source,
            "device": "cpu",
            "precision": "half",
            "tolerance": "budget",
            "beat": None,
            "mode": "quick",
            "stages": ["build", "correctness", "timing"],
            "qualification": self.qualified.get(str(task)),
            "deadlines": {},
            "agent_task": False,
        }
        self.channel.send({**message, **fields})
        while True:
            answer, _ = self.channel.receive()
            match answer["op"]:
                case "done":
                    return answer
                case "stage":
                    self.stages.append(answer["stage"])
                case "qualified":
                    self.qualified[str(task)] = answer["qualification"]
                case "need_worker":
                    self._give_worker(answer)
                case "need_cpu":
                    used_s = cpu_s(tree(self.workers[answer["worker"]].process.pid))
                    said = {"op": "cpu", "request": answer["request"], "cpu_s": used_s}
                    self.channel.send(said)
                case "drop_worker":
                    self._drop_worker(answer)
                case "need_lease":
                    self.channel.send({"op": "granted", "request": answer["request"]})
                case "need_build":
                    left = {"op": "built", "request": answer["request"], "outcome": "left"}
                    self.channel.send(left)
                case _:
                    continue

    def _start(self) -> tuple[Started, socket.socket]:
        self.count += 1
        home = self.folder / f"worker-{self.count}"
        environment = self._environment(home)
        mine, theirs = socket.socketpair()
        with (home / "stdout").open("wb") as out, (home / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [self.python, "-I", "-B", str(WORKER), "--fd", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                cwd=home,
                env=environment,
            )
        theirs.close()
        return Started(process, home), mine

    def _give_worker(self, asked: dict[str, Any]) -> None:
        started, mine = self._start()
        name = f"w{self.count}"
        self.workers[name] = started
        message = {
            "op": "worker",
            "request": asked["request"],
            "worker": name,
            "pid": started.process.pid,
            "level": "process",
            "scratch": None,
        }
        self.channel.send(message, (mine.fileno(),))
        mine.close()

    def _drop_worker(self, asked: dict[str, Any]) -> None:
        started = self.workers.pop(asked["worker"])
        try:
            started.process.wait(0.5)
        except subprocess.TimeoutExpired:
            started.process.kill()
            started.process.wait()
        message = {
            "op": "output",
            "request": asked["request"],
            "stdout": _tail(started.folder / "stdout"),
            "stderr": _tail(started.folder / "stderr"),
            "exit": started.process.returncode,
            "cause": None,
        }
        self.channel.send(message)

    def close(self) -> None:
        """End everything that was started."""
        self.channel.close()
        for started in self.workers.values():
            started.process.kill()
            started.process.wait()
        self.judge.kill()
        self.judge.wait()
        self.stderr.close()

    def log(self) -> str:
        """Return what the judge printed."""
        return (self.folder / "judge.log").read_text(errors="replace")


def _tail(path: Path) -> str:
    return path.read_text(errors="replace")[-10_000:]


def main() -> None:
    """Judge files from the command line: TASK CANDIDATE…"""
    import json
    import time

    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            for candidate in sys.argv[2:]:
                began = time.monotonic()
                got = bench.evaluate(Path(sys.argv[1]), Path(candidate).read_text())
                print(json.dumps(got, indent=1))
                print(f"{time.monotonic() - began:.1f} s")
        finally:
            print(bench.log()[-4000:])
            bench.close()


if __name__ == "__main__":
    main()

__all__ = ["Bench", "ChannelClosed", "os", "threading"]
