"""How long a quick verdict on a plain-PyTorch candidate takes, its task qualified before: median of 5, by stages.

    python -m bench.verdict [--task starter/softmax] [--device cpu] [--rounds 5] [--json]

Judge and workers are started ahead, as in a running search. Target on a quiet machine with two cores: 8 s.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server.artifacts import new_id
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.local import LocalExecutor, open_local
from mcp_server.setting import Setting
from mcp_server.tasks import Task, Tasks

if TYPE_CHECKING:
    from mcp_server.contract import Verdict

TARGET_S = 8.0
NEVER_BEATEN = 1e9
"""Quick mode alone: a confirmation is another measurement."""
LIMITS = StageLimits(qualify=1, grace=300)
"""The original's compiled forms are not measured: a verdict takes as long without them."""
SETTLE_S = 8.0
"""For workers to be started ahead between two verdicts."""
STAGES = ("queue_s", "qualify_s", "build_s", "correctness_s", "timing_s")


def main() -> int:
    """Measure and print; 1 if the median misses the target."""
    typed = _parser().parse_args()
    rows = anyio.run(partial(_measure, typed.task, typed.device, typed.rounds))
    middle = statistics.median(row["wall_s"] for row in rows)
    if typed.json:
        facts = {"machine": _machine(), "task": typed.task, "median_s": middle, "rounds": rows}
        print(json.dumps(facts, indent=1))
    else:
        _print(typed.task, rows, middle)
    return int(middle > TARGET_S)


def candidate(task: str) -> str:
    """Return the task's own model under the candidate's name: plain PyTorch that is right."""
    return task.replace("class Model(", "class ModelNew(").replace(
        "super(Model,", "super(ModelNew,"
    )


async def _measure(name: str, device: str, rounds: int) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with open_local(Setting(home=home, device=device, stage_limits=LIMITS)) as executor:
            await executor.check_device(device)
            task = Tasks(home).get(name)
            await _verdict(executor, task)  # qualifies the task
            return [await _round(executor, task) for _ in range(rounds)]


async def _round(executor: LocalExecutor, task: Task) -> dict[str, float]:
    await anyio.sleep(SETTLE_S)
    began = time.monotonic()
    verdict = await _verdict(executor, task)
    wall_s = time.monotonic() - began
    if verdict.status != "ok":
        sys.exit(f"The verdict was {verdict.status}/{verdict.code}: {verdict.cause}")
    return {"wall_s": wall_s} | {stage: _seconds(verdict, stage) for stage in STAGES}


def _seconds(verdict: Verdict, stage: str) -> float:
    return float(getattr(verdict, stage, None) or 0.0)


async def _verdict(executor: LocalExecutor, task: Task) -> Verdict:
    work = Work(new_id("job"), task, candidate(task.source), beat=NEVER_BEATEN)
    return (await executor.run(work, lambda _stage, _detail: None)).verdict


def _print(task: str, rows: list[dict[str, float]], middle: float) -> None:
    names = ("wall_s", *STAGES)
    print(f"{_machine()}, {task}")
    print("".join(f"{name:>15}" for name in names))
    for row in rows:
        print("".join(f"{row[name]:15.2f}" for name in names))
    print(f"median of {len(rows)}: {middle:.2f} s  (target {TARGET_S:.0f} s)")


def _machine() -> str:
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return (
        f"{platform.machine()}, {cores} cores, load {load:.1f}, Python {platform.python_version()}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="starter/softmax")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
