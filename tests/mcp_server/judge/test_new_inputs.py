# pyright: reportPrivateUsage=false
"""Whether a candidate saves where all of its input is new, as queued calls tell; a processor has the events."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server.judge import gates, timing
from mcp_server.judge.clock import Lane, Rules, paired
from mcp_server.judge.state import TaskState
from mcp_server.judge.station import Loading, Station
from mcp_server.judge.task import load_task
from mcp_server.judge.worker_link import Worker

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = [pytest.mark.torch, pytest.mark.timeout(120)]

PROGRAM = Path(__file__).parents[1] / "programs" / "cpu_events.py"
SOURCE = """
import torch
import torch.nn as nn

def work(x):
    for _ in range(4):
        x = torch.special.i0e(x)
    return x

class Model(nn.Module):
    def forward(self, x):
        return work(x)

class Shorter(nn.Module):
    def forward(self, x):
        return torch.special.i0e(x)

class Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        if x.data_ptr() not in self.known:
            self.known[x.data_ptr()] = x.clone(), work(x)
        before, answer = self.known[x.data_ptr()]
        new = (before != x).flatten().nonzero().flatten()
        values = x.view(-1)[new]
        before.view(-1)[new], answer.view(-1)[new] = values, work(values)
        return answer.clone()

def get_inputs():
    return [2 * torch.randn(256, 1024)]

def get_init_inputs():
    return []
"""


@contextmanager
def lane(state: TaskState, name: str) -> Generator[Lane]:
    """Hold one of the source's models in a process of its own."""
    mine, theirs = socket.socketpair()
    command = [sys.executable, "-B", str(PROGRAM), "--fd", str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    try:
        station = Station(Worker(mine, state.sizes, "cpu", trusted=True), state)
        station.load(name, Loading(state.task.source, name), 60)
        station.construct(name, 60)
        yield Lane(station, name, 60)
    finally:
        mine.close()
        process.kill()
        process.wait()


@pytest.mark.parametrize(("name", "stale"), [("Keeping", True), ("Shorter", False)])
def test_who_keeps_what_it_computed_saves_nothing_where_all_is_new(
    tmp_path: Path, name: str, stale: bool
) -> None:
    path = tmp_path / "task.py"
    path.write_text(SOURCE, encoding="utf-8")
    state = TaskState(load_task("task", path, "cpu"), plain=False)
    with ExitStack() as stack:
        eager, candidate = (stack.enter_context(lane(state, one)) for one in ("Model", name))
        timed = paired(eager, candidate, Rules("device", 0.2, side_s=0.5, stage_s=10))
        assert timed.estimate.mean > 0.5
        kept = len(candidate.device_s), len(candidate.batches)
        candidate.queued_anew()
        assert (len(candidate.device_s), len(candidate.batches)) == kept
        for charged in (False, True):
            found = timing._incremental_queued(eager, candidate, gates.CPU, 0.02, charged=charged)
            assert found is stale
