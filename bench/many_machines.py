"""What evaluating on several hosts brings, and what Ray costs: everything side by side in one run.

    python -m bench.many_machines [--device cuda] [--markdown]

| rows | what |
| --- | --- |
| builds | one host, then two, then one again: each a Ray node with an actor, bound to a processor of its own |
| Ray's overhead | the same smallest evaluation by the local pool and through Ray, in turns |
| GPUs (`--device cuda`) | the candidates of bench/pairs on one GPU and on two, by the local pool; on two through Ray |

Only meaningful on a machine with nothing else to do. Under six minutes, GPUs as long again.
Exit code 1: a target was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from bench.throughput import KINDS, NEVER_BEATEN, STARTER, Pair, pairs_of
from mcp_server import machine
from mcp_server.contract import Status
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.executors import open_executor
from mcp_server.setting import Setting
from mcp_server.tasks import Task
from tests.mcp_server.conftest import SMALL, candidate
from tests.mcp_server.conftest import TASK as SMALL_TASK
from tests.mcp_server.ray_nodes import Nodes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from mcp_server.executor import Executor, Outcome

PAGE = Path(__file__).parents[1] / "docs" / "measurements" / "many-machines.md"
HOSTS_LIMIT_S = 240.0
GPU_TASKS = ("softmax", "elementwise", "rmsnorm")
CPP = """
#include <regex>
#include <string>
extern "C" int number() {{
  std::regex words("([a-z]+)([0-9]*)_{number}");
  return std::regex_match(std::string("pike{number}"), words) + {number};
}}
"""
BUILT = """
import ctypes
from torch.utils.cpp_extension import load_inline
library = ctypes.CDLL(load_inline("number{number}", {source!r}, no_implicit_headers=True, is_python_module=False))
class ModelNew: pass
"""
"""A candidate that takes a few seconds of one core to build, other than any other."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    what: str
    measured: str
    ratio: str = ""
    target: str = ""
    good: bool = True


# --- hosts -----------------------------------------------------------------------------------------------------------


async def _start(nodes: Nodes, *inside: str, gpus: int = 0, **environment: str) -> None:
    """Start a node, and wait until Ray says that it runs."""
    await asyncio.to_thread(nodes.start(*inside, gpus=gpus, **environment).wait)


@asynccontextmanager
async def through_ray(setting: Setting, nodes: Nodes) -> AsyncGenerator[Executor]:
    """Yield an executor over a cluster of ours, once each of its nodes has a host."""
    os.environ.update(nodes.environment)
    async with open_executor(replace(setting, executor="ray")) as executor:
        await heard(executor, len(nodes.nodes))
        yield executor


async def heard(executor: Executor, hosts: int) -> None:
    """Wait until so many hosts evaluate."""
    async with asyncio.timeout(HOSTS_LIMIT_S):
        while len([h for h in await executor.hosts() if not h.problem]) < hosts:  # noqa: ASYNC110 -- others make them
            await asyncio.sleep(0.2)


async def wall_s(executor: Executor, works: Sequence[Work]) -> float:
    """Return the seconds until all are evaluated, handed over at once."""
    began = time.perf_counter()
    outcomes = await asyncio.gather(*(executor.run(work, _ignore) for work in works))
    took = time.perf_counter() - began
    for outcome in outcomes:
        _check(outcome)
    return took


def _check(outcome: Outcome) -> None:
    verdict = outcome.verdict
    if verdict.status is Status.INFRA_ERROR:
        raise SystemExit(f"nothing was measured: {verdict.status} {verdict.code} {verdict.cause}")


def _ignore(_stage: str, _detail: str) -> None:
    """Report nothing."""


# --- builds on one host and on two -----------------------------------------------------------------------------------


def build_works(first: int, count: int) -> list[Work]:
    """Return works that only build, each something that nobody built before."""
    task = Task("starter/elementwise", "", (STARTER / "elementwise.py").read_text("utf-8"), Path())
    return [
        Work(
            f"build_{number}",
            task,
            BUILT.format(number=number, source=CPP.format(number=number)),
            stages=("build",),
            leased=False,
        )
        for number in range(first, first + count)
    ]


async def builds(folder: Path, count: int) -> list[Row]:
    """Measure builds on one host, on two, and on one."""
    cores = sorted(os.sched_getaffinity(0))[-2:]
    one = [await _built_s(folder, cores[:1], 1_000, count)]
    two = await _built_s(folder, cores, 2_000, count)
    one.append(await _built_s(folder, cores[:1], 3_000, count))
    ratio = statistics.mean(one) / two
    told = " and ".join(f"{seconds:.1f}" for seconds in one)
    return [
        Row(f"{count} builds on one host of one core, before and after, s", told),
        Row(f"{count} builds on two, s", f"{two:.1f}", f"{ratio:.2f} ×", "≥ 1.7 ×", ratio >= 1.7),
    ]


async def _built_s(folder: Path, cores: Sequence[int], first: int, count: int) -> float:
    """Return the seconds of builds in a cluster with a node on each of these processors."""
    nodes = Nodes()
    try:
        nodes.home.mkdir()
        for core in cores:
            await _start(nodes, "taskset", "-c", str(core))
        async with through_ray(_setting(folder, "cpu"), nodes) as executor:
            # Judges and workers are there, and headers read, before the clock starts.
            await wall_s(executor, build_works(first, 2 * len(cores)))
            await asyncio.sleep(5)
            took = await wall_s(executor, build_works(first + 100, count))
    finally:
        nodes.stop()
    told = f"builds: {count} on {len(cores)} of one core: {took:.1f} s"
    print(told, file=sys.stderr, flush=True)
    return took


# --- what Ray adds to an evaluation ----------------------------------------------------------------------------------


async def overhead(folder: Path, count: int) -> list[Row]:
    """Measure the smallest evaluation by both executors in turns."""
    leases = folder / "leases"
    leases.mkdir()
    small = Setting(folder / "home", sandbox="process", device="cpu", programs=SMALL)
    setting = replace(small, lease_folder=leases)
    nodes = Nodes()
    spent: dict[str, list[float]] = {"local": [], "ray": []}
    try:
        nodes.home.mkdir()
        await _start(nodes)
        async with open_executor(setting) as local, through_ray(setting, nodes) as ray:
            both = {"local": local, "ray": ray}
            for number in range(count + 2):
                for name in sorted(both, reverse=bool(number % 2)):
                    work = Work(f"job_{number}", SMALL_TASK, candidate("said = 7"))
                    seconds = await wall_s(both[name], [work])
                    if number >= 2:  # the first ones start processes
                        spent[name].append(seconds)
                    await asyncio.sleep(0.3)  # the next worker is started ahead
    finally:
        nodes.stop()
    here, there = (1000 * statistics.median(spent[name]) for name in ("local", "ray"))
    pairs = zip(spent["local"], spent["ray"], strict=True)
    added = 1000 * statistics.median(ray - local for local, ray in pairs)
    return [
        Row(f"the smallest evaluation, local pool, median of {count}, ms", f"{here:.1f}"),
        Row(
            "the same through Ray, ms",
            f"{there:.1f}",
            f"{added:+.1f} ms, median of the pairs",
            "≤ 50 ms",
            added <= 50,
        ),
    ]


# --- one GPU and two -------------------------------------------------------------------------------------------------


async def gpus(folder: Path, names: Sequence[str], kind: str, tasks: Sequence[str]) -> list[Row]:
    """Measure the folder of candidates on the first device and on both, by the local pool and through Ray."""
    found = [pair for pair in pairs_of(KINDS[kind].split(",")) if pair.task in tasks]
    setting = _setting(folder, "auto")
    os.environ["PIKE_HOME"] = str(setting.home)  # hosts of Ray find what was qualified here
    async with open_executor(setting) as local:
        # Qualified and built on both, before the clock starts.
        await wall_s(local, [*_works(found, names[:1]), *_works(found, names[1:])])
        one = await wall_s(local, _works(found, names[:1]))
        two = await wall_s(local, _works(found, names))
    nodes = Nodes()
    try:
        nodes.home.mkdir()
        await _start(nodes, gpus=len(machine.gpus()), PIKE_HOME=str(setting.home))
        async with through_ray(setting, nodes) as ray:
            await wall_s(ray, [*_works(found, names[:1]), *_works(found, names[1:])])
            far = await wall_s(ray, _works(found, names))
    finally:
        nodes.stop()
    return [
        Row(f"{len(found)} candidates, local pool, one GPU, s", f"{one:.1f}"),
        _gpu_row("local pool, two GPUs, s", one, two, 1.9),
        _gpu_row("through Ray, two GPUs, s", one, far, 1.8),
    ]


def _gpu_row(what: str, one: float, two: float, target: float) -> Row:
    ratio = one / two
    return Row(what, f"{two:.1f}", f"{ratio:.2f} ×", f"≥ {target} ×", ratio >= target)


def _works(pairs: Sequence[Pair], names: Sequence[str]) -> list[Work]:
    """Return the candidates as works, devices in turn."""
    works: list[Work] = []
    for number, pair in enumerate(pairs if names else []):
        path = STARTER / f"{pair.task}.py"
        task = Task(f"starter/{pair.task}", "", path.read_text("utf-8"), path)
        source, device = pair.path.read_text("utf-8"), names[number % len(names)]
        works.append(Work(f"{pair.name}_{number}", task, source, device, beat=NEVER_BEATEN))
    return works


# --- the table -------------------------------------------------------------------------------------------------------


def _setting(folder: Path, device: str) -> Setting:
    """Return a setting that measures no compiled baselines, which takes minutes."""
    limits = StageLimits(qualify=1, grace=300)
    return Setting(folder / "home", device=device, stage_limits=limits)


async def measured(typed: argparse.Namespace) -> list[Row]:
    """Measure all that was asked for, each part in a folder of its own."""
    here = [gpu.name for gpu in machine.gpus()][:2]
    parts: list[tuple[str, Callable[[Path], Awaitable[list[Row]]]]] = [
        ("builds", lambda folder: builds(folder, typed.builds)),
        ("overhead", lambda folder: overhead(folder, typed.calls)),
    ]
    if typed.device != "cpu":
        if len(here) < 2:
            raise SystemExit("two GPUs are needed for --device cuda")
        parts.append(("gpus", lambda folder: gpus(folder, here, "cuda", typed.tasks.split(","))))
    rows: list[Row] = []
    for name, part in parts:
        if typed.only in (None, name):
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                rows += await part(Path(folder))
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table."""
    lines = ["| what | measured | | target |", "| --- | --- | --- | --- |"]
    return lines + [
        f"| {row.what} | {row.measured} | {row.ratio} | {row.target}{'' if row.good else ' (missed)'} |"
        for row in rows
    ]


def page(rows: Sequence[Row], load: Sequence[float]) -> str:
    """Return the page of the measurement."""
    gpu = ", ".join(one.title for one in machine.gpus()) or "no GPU"
    cores, loads = machine.cores(), ", ".join(f"{one:.1f}" for one in load)
    packages = ", ".join(f"{name} {version(name)}" for name in ("ray", "torch"))
    about = (
        f"{time.strftime('%Y-%m-%d')}. {machine.cpu().title}, {cores} cores, {gpu}, "
        f"Python {platform.python_version()}, {packages}; load of the machine before measuring (1, 5, 15 min): "
        f"{loads}. Made by `python -m bench.many_machines --markdown`: real nodes of Ray on one machine, an actor on "
        "each. Builds: C++ without torch's headers, each node bound to one core. Ray's overhead: small programs in "
        "place of judge and worker, all else real."
    )
    return "\n\n".join(["# Many machines", about, "\n".join(table(rows))]) + "\n"


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--builds", type=int, default=10, help="candidates to build")
    parser.add_argument("--calls", type=int, default=30, help="smallest evaluations of each kind")
    parser.add_argument("--tasks", default=",".join(GPU_TASKS), help="of the GPU rows")
    parser.add_argument("--only", choices=("builds", "overhead", "gpus"))
    parser.add_argument("--markdown", action="store_true", help=f"write {PAGE.name}")
    typed = parser.parse_args()
    load = os.getloadavg()
    rows = asyncio.run(measured(typed))
    print("\n".join(table(rows)))
    if typed.markdown:
        PAGE.write_text(page(rows, load), encoding="utf-8")
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
