# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
"""What a busy machine and a host that waits may make of a timing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, cast

import pytest

from mcp_server.judge import busy
from mcp_server.judge.clock import Lane, Paired, Pooled
from mcp_server.judge.timing import _saved_s

if TYPE_CHECKING:
    from mcp_server.judge.station import Station


def lane(raw_s: float, device_s: float | None = None) -> Lane:
    made = Lane(cast("Station", None), "slot", 1.0)
    made.raw_s = [raw_s] * 5
    made.device_s = [] if device_s is None else [device_s] * 5
    return made


@pytest.mark.parametrize(
    ("original", "candidate", "saved_s"),
    [
        (lane(3e-3), lane(1e-3), 2e-3),
        (lane(3e-3, 5e-5), lane(1e-3, 4e-5), 1e-5),
        (lane(3e-3, 2e-3), lane(2.9e-3, 1e-3), 1e-4),
    ],
    ids=["processor", "the host was slow once", "the launches take as long as before"],
)
def test_a_saving_on_a_gpu_is_at_most_what_is_saved_there(
    original: Lane, candidate: Lane, saved_s: float
) -> None:
    assert _saved_s(original, candidate) == pytest.approx(saved_s)


def test_pairs_are_charged_their_latency_if_one_of_them_is() -> None:
    assert Pooled([Paired(), Paired(charged=True)]).charged
    assert not Pooled([Paired(), Paired()]).charged


@pytest.mark.skipif(busy.waited_s() == 0.0, reason="this kernel does not count waits for a core")
def test_a_thread_that_shares_its_core_has_waited_for_it() -> None:
    (core, *_), seen = sorted(os.sched_getaffinity(0)), list[float]()

    def compute() -> None:
        os.sched_setaffinity(0, {core})
        began, before = time.monotonic(), busy.waited_s()
        while time.monotonic() - began < 0.5:
            sum(range(1000))
        seen.append((busy.waited_s() - before) / (time.monotonic() - began))

    spin = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as beside:
        assert beside.stdout is not None
        beside.stdout.readline()
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
        beside.kill()
    assert seen[0] > busy.BUSY
