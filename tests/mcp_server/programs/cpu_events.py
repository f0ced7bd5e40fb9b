# pyright: reportAttributeAccessIssue=false, reportPrivateUsage=false
"""The worker's own program, on a processor whose clock stands in for a GPU's events: calls run one after the other."""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

import torch


class Event:
    """A point in time, as a GPU's event is."""

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        self.at_s = 0.0

    def record(self, _stream: object) -> None:
        """Keep when it is."""
        self.at_s = time.perf_counter()

    def elapsed_time(self, later: Event) -> float:
        """Return the milliseconds up to a later one."""
        return (later.at_s - self.at_s) * 1e3


def nothing(*_given: object) -> None:
    """Do as a GPU would, without one."""


torch.cuda.Event = Event
torch.cuda.current_stream = nothing
torch.cuda._sleep = nothing

PROGRAM = Path(__file__).parents[3] / "mcp_server" / "worker" / "program.py"

if __name__ == "__main__":
    sys.argv[0] = str(PROGRAM)
    runpy.run_path(str(PROGRAM), run_name="__main__")
