"""What the clock says of a thing against itself: verdicts that should be `indistinguishable`, intervals that hold 1.

    python -m bench.aa [--device cuda:0] [--runs 100] [--pairs 4] [--only NAME] [--json] [--out DIR]

For each case the timing stage of a verdict alone, `runs` times: the original in one process against the same in
another, and a known 2:1 as well. Fresh process pairs every `runs / pairs` runs, since a pair may have a bias of its
own. Rounds, looks, stopping rules, noise floor and interval are the judge's; sandbox and gates are left out. Targets:
at least 98 of 100 indistinguishable, the interval holding the truth in at least 90 of 100, 2:1 always found.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.judge import baselines, hardware
from mcp_server.judge.clock import Lane, paired, rules_for
from mcp_server.judge.qualification import Qualification, qualify
from mcp_server.judge.state import TaskState
from mcp_server.judge.station import Loading, Station
from mcp_server.judge.statistics import SPREAD_PAIRS, interval, median, outcome
from mcp_server.judge.task import load_task
from mcp_server.judge.worker_link import Worker
from mcp_server.worker.program import set_tf32

if TYPE_CHECKING:
    from collections.abc import Generator

PROGRAM = Path(__file__).resolve().parents[1] / "mcp_server" / "worker" / "program.py"
DEADLINE_S = 60.0
COVERED, SAME = 0.90, 0.98

HEAD = "import torch\nimport torch.nn as nn\n"
PLAIN = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return {once}

class Twice(nn.Module):
    def forward(self, x):
        x = {once}
        return {once}

def get_inputs():
    return [torch.randn({shape})]

def get_init_inputs():
    return []
"""
)
PRODUCT = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, size) / size**0.5)

    def forward(self, x):
        return x @ self.weight

class Twice(Model):
    def forward(self, x):
        return (x @ self.weight) @ self.weight

def get_inputs():
    return [torch.randn({rows}, {size})]

def get_init_inputs():
    return [{size}]
"""
)
WHOLE = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        layer = lambda: nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.ModuleList([layer() for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def get_inputs():
    return [torch.randn({batch}, {length}, {width})]

def get_init_inputs():
    return [{width}, {layers}]
"""
)


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is timed against itself, or against its double."""

    name: str
    source: str
    other: str = "Model"
    truth: float = 1.0
    """Time of the one over time of the other."""


GPU_CASES = (
    Case("5 µs op", PLAIN.format(once="torch.relu(x) * 0.5", shape="512, 1024")),
    Case("50 µs op", PLAIN.format(once="torch.softmax(x, dim=1)", shape="4096, 3072")),
    Case("2.7 ms op", PRODUCT.format(rows=4096, size=4096)),
    Case("whole model", WHOLE.format(batch=8, length=256, width=1024, layers=12)),
    Case("once against twice", PRODUCT.format(rows=4096, size=4096), "Twice", 0.5),
)
CPU_CASES = (
    Case("1 ms op", PRODUCT.format(rows=64, size=1024)),
    Case("10 ms op", PRODUCT.format(rows=512, size=1024)),
    Case("whole model", WHOLE.format(batch=2, length=64, width=128, layers=3)),
    Case("once against twice", PRODUCT.format(rows=512, size=1024), "Twice", 0.5),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One timing stage."""

    pair: int
    ratio: float
    lo: float
    hi: float
    outcome: str
    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of a case."""

    name: str
    scope: str
    eager_ms: float
    truth: float
    noise_floor: float
    pair_spread: float
    runs: list[Run]

    @property
    def right(self) -> float:
        """Share of the runs whose outcome is the true one."""
        wanted = "indistinguishable" if self.truth == 1 else "slower"
        return sum(run.outcome == wanted for run in self.runs) / len(self.runs)

    @property
    def covered(self) -> float:
        """Share of the runs whose interval holds the true ratio."""
        return sum(run.lo <= self.truth <= run.hi for run in self.runs) / len(self.runs)

    @property
    def good(self) -> bool:
        """Whether the targets are met; of a 2:1 it is asked that it is found."""
        return self.right >= (SAME if self.truth == 1 else 1.0) and self.covered >= COVERED


def main() -> int:
    """Measure and print; 1 if a case misses its targets."""
    typed = _parser().parse_args()
    set_tf32(False)
    cases = CPU_CASES if typed.device == "cpu" else GPU_CASES
    chosen = [case for case in cases if typed.only in case.name]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            rows.append(_measure(case, typed, Path(folder)))
            sys.stderr.write(_line(rows[-1]) + "\n")
            if typed.out:
                _keep(rows, typed.device, Path(typed.out))
    text = _table(rows, typed.device)
    print(json.dumps([asdict(row) for row in rows], indent=1) if typed.json else text)
    return int(not all(row.good for row in rows))


def _keep(rows: list[Row], device: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "aa.md").write_text(_table(rows, device) + "\n", encoding="utf-8")
    kept = {"machine": _machine(device), "rows": [asdict(row) for row in rows]}
    (folder / "aa.json").write_text(json.dumps(kept), encoding="utf-8")


def _measure(case: Case, typed: argparse.Namespace, folder: Path) -> Row:
    path = folder / f"{case.name.replace(' ', '-')}.py"
    path.write_text(case.source, encoding="utf-8")
    state = TaskState(load_task(case.name, path, typed.device), plain=False)
    found = qualify(state, "half")
    runs: list[Run] = []
    until = time.monotonic() + typed.limit_s
    with _pair(state, folder, "Model") as (one, same):
        found.scope = baselines.measure_noise(found, one, same)
        if found.scope == "device" and found.eager.time_ms < baselines.SMALL_MS:
            with _several(state, folder, SPREAD_PAIRS - 1) as lanes:
                baselines.measure_spread(found, [same, *lanes])
    for number in range(typed.pairs):
        share = typed.runs * (number + 1) // typed.pairs - len(runs)
        with _pair(state, folder, case.other) as (one, other):
            for _ in range(share):
                if time.monotonic() < until or not runs:
                    runs.append(_run(number, one, other, found, typed.device))
    return Row(
        case.name,
        found.scope,
        found.eager.time_ms,
        case.truth,
        found.noise_floor,
        found.pair_spread,
        runs,
    )


def _run(pair: int, one: Lane, other: Lane, found: Qualification, device: str) -> Run:
    began = time.monotonic()
    timed = paired(one, other, rules_for(device, found.scope))
    seen = interval(timed.estimate, found.pair_spread)
    said = outcome(seen, found.noise_floor)
    took_s = time.monotonic() - began
    return Run(pair, seen.ratio, seen.lo, seen.hi, said, len(timed.rounds), took_s)


@contextmanager
def _several(state: TaskState, folder: Path, count: int) -> Generator[list[Lane]]:
    """Hold the original in that many processes, which start together."""
    with ExitStack() as stack:
        started = [stack.enter_context(_worker(state, folder)) for _ in range(count)]
        yield [_lane(state, sock, "Model") for sock in started]


class _pair:  # noqa: N801  reads as a clause: `with _pair(...)`
    """Two fresh processes, the original in the first, `other` in the second; both end with the block."""

    def __init__(self, state: TaskState, folder: Path, other: str) -> None:
        self.state, self.folder, self.other = state, folder, other
        self.stack = ExitStack()

    def __enter__(self) -> tuple[Lane, Lane]:
        names = ("Model", self.other)
        started = [self.stack.enter_context(_worker(self.state, self.folder)) for _ in names]
        first, second = (
            _lane(self.state, sock, name) for sock, name in zip(started, names, strict=True)
        )
        return first, second

    def __exit__(self, *_: object) -> None:
        self.stack.close()


class _worker:  # noqa: N801  as above
    """A process of the worker's program, and the judge's end of its socket."""

    def __init__(self, state: TaskState, folder: Path) -> None:
        self.home = Path(tempfile.mkdtemp(dir=folder))
        self.device = state.task.device

    def __enter__(self) -> socket.socket:
        mine, theirs = socket.socketpair()
        home = str(self.home)
        values = {
            name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
        }
        values |= {"HOME": home, "TMPDIR": home, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(PROGRAM), "--fd", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=values,
            cwd=home,
        )
        theirs.close()
        return mine

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def _lane(state: TaskState, sock: socket.socket, name: str) -> Lane:
    station = Station(Worker(sock, state.sizes, state.task.device, trusted=True), state)
    station.load(name, Loading(state.task.source, name), DEADLINE_S)
    station.construct(name, DEADLINE_S)
    lane = Lane(station, name, DEADLINE_S)
    lane.call()
    return lane


def _table(rows: list[Row], device: str) -> str:
    head = (
        f"{_machine(device)}\n\n"
        "| case | scope | eager, ms | truth | runs | right outcome | interval holds it | "
        "half-width, median | pairs differ by | rounds, median | s a run |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    return "\n".join([head, *(_line(row) for row in rows)])


def _line(row: Row) -> str:
    half = median([(run.hi - run.lo) / (2 * run.ratio) for run in row.runs])
    cells = [
        row.name,
        row.scope,
        f"{row.eager_ms:.4g}",
        f"{row.truth:g}",
        str(len(row.runs)),
        f"{row.right:.0%}",
        f"{row.covered:.0%}",
        f"{half:.2%}",
        f"{row.pair_spread:.2%}" if row.pair_spread else "",
        f"{median([run.rounds for run in row.runs]):g}",
        f"{median([run.seconds for run in row.runs]):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _machine(device: str) -> str:
    facts: dict[str, Any] = hardware.describe(device)
    driver = f", driver {facts['driver']}" if facts["driver"] else ""
    cores = len(os.sched_getaffinity(0))
    return (
        f"{facts['device_name']}{driver}, {cores} cores, load {os.getloadavg()[0]:.1f}, "
        f"torch {torch.__version__}, Python {platform.python_version()}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=4, help="fresh process pairs of each case")
    parser.add_argument(
        "--limit-s", type=float, default=1e9, help="seconds after which a case ends"
    )
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", metavar="DIR", help="write aa.md and aa.json there")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
