"""How many candidates a minute the evaluator judges, beside the plain way on the same folder in the same run.

    python -m bench.throughput --device cuda:0 --out FOLDER [--at-once 10] [--only ours|plain] [--kinds cuda,torch]

Candidates lie in `bench/pairs/KIND/TASK--NAME.py`, tasks among the starter ones. Ours: one server over MCP, candidates
handed over as an engine does, with the best so far to beat, so that a new best is confirmed in a fresh process pair.
The plain way: bench/plain_way.py, a fresh interpreter for each, one lock. Tasks are qualified before the clock starts.
Ours runs twice: with nothing built yet, and again with the same sources.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_server import watch
from sessions.evaluator import Ask
from sessions.mcp_evaluator import McpEvaluator

PAIRS = Path(__file__).parent / "pairs"
STARTER = Path(__file__).parents[1] / "mcp_server" / "starter"
KINDS = {"cuda": "cuda,triton,torch", "cpu": "cpp,torch"}
NEVER_BEATEN = 1e9
SHOWN = ("queue_s", "build_s", "correctness_s", "timing_s", "confirm_s", "lease_s", "cpu_s")


@dataclass(frozen=True, slots=True)
class Pair:
    """A task and one answer to it."""

    kind: str
    task: str
    path: Path

    @property
    def name(self) -> str:
        """KIND/TASK--NAME."""
        return f"{self.kind}/{self.path.stem}"


@dataclass(slots=True)
class Run:
    """What one way did with the folder."""

    way: str
    wall_s: float = 0.0
    cpu_s: float = 0.0
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def per_minute(self) -> float:
        """Candidates judged a minute."""
        return 60 * len(self.rows) / max(self.wall_s, 1e-9)

    @property
    def lease_s(self) -> float:
        """Exclusive seconds for each candidate."""
        return sum(row.get("lease_s") or 0.0 for row in self.rows) / max(1, len(self.rows))


def main() -> int:
    """Measure and print; the rows go to a file."""
    typed = _parser().parse_args()
    kinds = str(typed.kinds or KINDS[str(typed.device).split(":")[0]]).split(",")
    pairs = [p for p in pairs_of(kinds) if not typed.tasks or p.task in typed.tasks.split(",")]
    typed.out.mkdir(parents=True, exist_ok=True)
    runs = asyncio.run(_all(typed, pairs))
    text = _report(typed, runs)
    print(text)
    (typed.out / "throughput.md").write_text(text + "\n", encoding="utf-8")
    rows = {run.way: run.rows for run in runs}
    (typed.out / "throughput.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


def pairs_of(kinds: list[str]) -> list[Pair]:
    """Return the candidates of some kinds, in the order in which a search would bring them."""
    found = [
        Pair(kind, path.stem.split("--")[0], path)
        for kind in kinds
        for path in sorted((PAIRS / kind).glob("*.py"))
    ]
    # As answers arrive in a search: kinds mixed, none first.
    return sorted(found, key=lambda pair: (pair.path.stem.split("--")[1], pair.task, pair.kind))


async def _all(typed: argparse.Namespace, pairs: list[Pair]) -> list[Run]:
    runs: list[Run] = []
    if typed.only != "plain":
        runs += await _ours(typed, pairs)
    if typed.only != "ours":
        runs.append(await _plain(typed, pairs))
    return runs


# --- ours ------------------------------------------------------------------------------------------


async def _ours(typed: argparse.Namespace, pairs: list[Pair]) -> list[Run]:
    with tempfile.TemporaryDirectory() as home:
        os.environ["PIKE_HOME"] = str(typed.home or home)
        server = _server(typed)
        try:
            await _qualify(server, typed, pairs)
            return [await _judged(server, typed, pairs, way) for way in ("ours", "ours, again")]
        finally:
            await server.close()


def _server(typed: argparse.Namespace) -> McpEvaluator:
    words = ["-P", "-m", "mcp_server", "serve", "--engine", "--sandbox", typed.sandbox]
    words += ["--device", typed.device, "--overlap", typed.overlap]
    if not typed.baselines:
        words = ["-m", "bench.quick_server", typed.device, typed.sandbox, typed.overlap]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    return McpEvaluator(lambda: stdio_client(parameters, errlog=sys.stderr), places=typed.at_once)


async def _qualify(server: McpEvaluator, typed: argparse.Namespace, pairs: list[Pair]) -> None:
    for task in sorted({pair.task for pair in pairs}):
        began = time.monotonic()
        plain = next(p for p in pairs if p.task == task and p.kind == "torch")
        verdict = await _verdict(server, typed, plain, NEVER_BEATEN)
        print(f"qualified {task}: {time.monotonic() - began:.0f} s{_line(verdict)}", flush=True)


async def _judged(
    server: McpEvaluator, typed: argparse.Namespace, pairs: list[Pair], way: str
) -> Run:
    run, best = Run(way), dict[str, float]()
    places = asyncio.Semaphore(typed.at_once)
    cpu_before, began = _cpu_s(), time.monotonic()

    async def one(pair: Pair) -> None:
        async with places:
            verdict = await _verdict(server, typed, pair, best.get(pair.task, 1.0))
            low = verdict.get("speedup_lo_ratio")
            if verdict.get("status") == "ok" and isinstance(low, float):
                best[pair.task] = max(best.get(pair.task, 1.0), low)
            _note(run, {"name": pair.name, **verdict}, began)

    await asyncio.gather(*(one(pair) for pair in pairs))
    run.wall_s, run.cpu_s = time.monotonic() - began, _cpu_s() - cpu_before
    return run


def _note(run: Run, row: dict[str, Any], began: float) -> None:
    """Keep a verdict, and tell of it at once: a run that is cut has said what it knew."""
    run.rows.append(row)
    print(f"{run.way} {time.monotonic() - began:6.1f} s{_line(row)}", flush=True)


async def _verdict(
    server: McpEvaluator, typed: argparse.Namespace, pair: Pair, beat: float
) -> dict[str, Any]:
    source = pair.path.read_text(encoding="utf-8")
    ask = Ask(f"starter/{pair.task}", source, typed.device, "half", "budget", pair.name, beat=beat)
    return await server.wait(await server.start(ask), lambda _stage, _detail: None)


# --- the plain way ---------------------------------------------------------------------------------


async def _plain(typed: argparse.Namespace, pairs: list[Pair]) -> Run:
    run, places = Run("plain"), asyncio.Semaphore(typed.at_once)
    with tempfile.TemporaryDirectory() as folder:
        cpu_before, began = _cpu_s(), time.monotonic()

        async def one(pair: Pair) -> None:
            async with places:
                row = await _plain_one(typed, pair, Path(folder))
                _note(run, {"name": pair.name, **row}, began)

        await asyncio.gather(*(one(pair) for pair in pairs))
        run.wall_s, run.cpu_s = time.monotonic() - began, _cpu_s() - cpu_before
    return run


async def _plain_one(typed: argparse.Namespace, pair: Pair, folder: Path) -> dict[str, Any]:
    words = ["-m", "bench.plain_way", str(STARTER / f"{pair.task}.py"), str(pair.path)]
    words += ["--device", typed.device, "--lock", str(folder / "lock")]
    extensions = folder / pair.name.replace("/", "-")
    variables = {
        "TORCH_EXTENSIONS_DIR": str(extensions),
        "TRITON_CACHE_DIR": str(extensions / "triton"),
        "TORCH_NO_COMPILER_WRAPPER": "1",
    }
    if typed.device != "cpu":
        variables["TORCH_CUDA_ARCH_LIST"] = typed.arch
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=subprocess.PIPE, env=os.environ | variables
    )
    said, _ = await process.communicate()
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return json.loads(lines[-1]) if lines else {"status": "error", "cause": "it said nothing"}


# --- the table -------------------------------------------------------------------------------------


def _report(typed: argparse.Namespace, runs: list[Run]) -> str:
    lines = [f"{_machine(typed)}; {typed.at_once} at a time", ""]
    lines += [
        "| way | candidates | wall | a minute | exclusive, each | CPU | verdicts |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_row(run) for run in runs]
    plain = next((run for run in runs if run.way == "plain"), None)
    if plain is not None and len(runs) > 1:
        ratios = [f"{run.way} {run.per_minute / plain.per_minute:.2f} ×" for run in runs[:-1]]
        lines += ["", "Over the plain way: " + ", ".join(ratios) + "."]
    for run in runs:
        lines += ["", f"### {run.way}", ""]
        lines += [_line(row) for row in sorted(run.rows, key=lambda row: str(row["name"]))]
    return "\n".join(lines)


def _row(run: Run) -> str:
    counted: dict[str, int] = {}
    for row in run.rows:
        said = "/".join(str(row[key]) for key in ("status", "code") if row.get(key))
        counted[said] = counted.get(said, 0) + 1
    verdicts = ", ".join(f"{count} {said}" for said, count in sorted(counted.items()))
    return (
        f"| {run.way} | {len(run.rows)} | {run.wall_s:.1f} s | {run.per_minute:.1f} "
        f"| {run.lease_s:.2f} s | {run.cpu_s:.0f} s | {verdicts} |"
    )


def _line(row: dict[str, Any]) -> str:
    spent = " ".join(f"{key} {row[key]:.2f}" for key in SHOWN if isinstance(row.get(key), float))
    said = " ".join(str(row[key]) for key in ("status", "code", "cause") if row.get(key))
    flags = ",".join(row.get("flags") or [])
    rounds = f"rounds {row['rounds']}" if row.get("rounds") else ""
    speed = row.get("speedup_eager_ratio")
    return f"    {row.get('name', ''):32} {said[:160]} {f'{speed:.2f}x ' if speed else ''}{spent} {rounds} {flags}"


def _machine(typed: argparse.Namespace) -> str:
    from importlib.metadata import version

    from mcp_server import machine

    title = machine.cpu().title
    if typed.device != "cpu":
        title = ", ".join(gpu.title for gpu in machine.gpus()) or title
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    return (
        f"{title}, {cores} cores, load before {load:.1f}, Python {platform.python_version()}, "
        f"torch {version('torch')}"
    )


def _cpu_s() -> float:
    """Return the processor seconds of this process and all that it started, the dead included."""
    return watch.cpu_s(watch.tree(os.getpid()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("build/throughput"))
    parser.add_argument("--at-once", type=int, default=10)
    parser.add_argument("--only", choices=("ours", "plain"))
    parser.add_argument("--kinds", help="folders of bench/pairs, with commas between")
    parser.add_argument("--sandbox", default="best-effort")
    parser.add_argument("--tasks", help="only these starter tasks, with commas between")
    parser.add_argument(
        "--baselines", action="store_true", help="measure the originals' compiled forms before"
    )
    parser.add_argument("--overlap", choices=("on", "off"), default="on")
    parser.add_argument("--home", type=Path, help="state folder, to keep qualifications")
    parser.add_argument("--arch", default="9.0a", help="for the plain way's nvcc")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
