"""How much sooner searches end without shared barriers: PIKE-B and steady in the engine, on a simulated clock.

`python -m bench.scheduler [--seeds 10] [--case NAME] [--keep FILE] [--write docs/measurements/scheduler.md]` runs each
case in the engine and under a phase-barrier schedule (`bench.barrier`), with the same draws (`bench.draws`), prints the
ratios of the mean makespans, and fails if one misses its target or if the two searches found different things.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import barrier
from bench.simulated import (
    Places,
    SimulatedClock,
    TaskEvaluator,
    TaskModel,
    Uncommitted,
    World,
    journal_of,
    run,
)
from sessions.start import create_session
from strategies import registry
from tests.sessions.searches import Search, request

if TYPE_CHECKING:
    from strategies.protocol import Strategy

QUERIES, PHASES, UNLIMITED = 300, 12, 100_000
OFF = {"plain_start", "informed", "profile_guided"}


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    says: str
    strategy: str
    tasks: int
    places: Places
    target: float
    """What the ratio, rounded to a decimal, must reach."""
    model_value: float


CASES = (
    Case("pike-b", "1 task, PIKE-B", "pike-b", 1, Places(10, 10, 1), 1.5, 1.48),
    Case("steady", "1 task, steady", "steady", 1, Places(10, 10, 1), 3.5, 3.53),
    Case("suite", "30 tasks, PIKE-B", "pike-b", 30, Places(10, 20, 1), 2.2, 2.19),
)


def in_engine(case: Case, seed: int, under: Path, queries: int = QUERIES) -> float:
    """Return the makespan of all tasks' searches in the engine, in seconds."""
    return max(_ends(searched(case, seed, under, queries)))


def at_barriers(case: Case, seed: int, queries: int = QUERIES) -> float:
    """Return the makespan of PIKE-B under the phase-barrier schedule, in seconds."""
    return _at_barriers(case, seed, queries, None)[0]


def same_search(case: Case, seed: int, under: Path, phases: int = PHASES) -> dict[str, Any]:
    """Return what both found without a limit of queries, by (task, proposal); empty if they differ."""
    _, tasks = _at_barriers(case, seed, UNLIMITED, phases)
    there = {
        f"{task.number}/{name}": [_step_of(parent), _step_of(task.works.get(name, ""))]
        for task in tasks
        for name, parent in task.parents.items()
    }
    last = phases * 10
    here: dict[str, Any] = {}
    for number, search in enumerate(searched(case, seed, under, UNLIMITED, last)):
        here |= _found(number, search, last)
    return here if here == there else {}


def _step_of(candidate: str) -> list[Any]:
    name, sign, step = candidate.partition("/")
    return [name, int(step)] if sign else [name, None]


def _found(number: int, search: Search, last: int) -> dict[str, Any]:
    state = search.state
    named = {a.id: [a.proposal, a.step] for a in state.attempts.values()}
    return {
        f"{number}/{t.proposal.id}": [
            named.get(t.proposal.parent, [t.proposal.parent, None]),
            named.get(t.works, ["", None]),
        ]
        for t in state.trajectories.values()
        if int(t.proposal.id[1:]) - 2 < last
    }


def searched(
    case: Case, seed: int, under: Path, queries: int, last: int | None = None
) -> list[Search]:
    """Return the searches of all tasks, carried to their ends, or until no proposal before `last` is open."""
    clock = SimulatedClock()
    world = World(seed, case.places, clock)
    searches = [_search(case, world, number, under, queries, last) for number in range(case.tasks)]

    async def all_of_them() -> None:
        engines = [await search.engine(clock=clock) for search in searches]
        whole = asyncio.gather(*(engine.run() for engine in engines))
        clock.exhausted = whole.cancel
        with suppress(asyncio.CancelledError):
            await whole

    run(clock, all_of_them())
    return searches


def _search(
    case: Case, world: World, number: int, under: Path, queries: int, last: int | None
) -> Search:
    settings = _strategy(case.strategy, queries, world.seed).settings
    assert is_dataclass(settings)
    wish = request(
        name=f"{case.name}-{world.seed}-{number}-{queries}",
        strategy=case.strategy,
        settings={part.name: getattr(settings, part.name) for part in fields(settings)},
        limits={"queries": queries, "cost_usd": None, "hours": None},
        models=dict.fromkeys(("ideas", "improve", "fix"), "simulated"),
        seed=world.seed,
        device="cpu",
    )
    evaluator: Any = TaskEvaluator(world, number, case.places.evaluation)
    model: Any = TaskModel(world, number, last)
    found = Search(create_session(wish, under), model, evaluator)
    found.journal_class, found.lineages_class = journal_of(world.clock), Uncommitted
    return found


def _strategy(name: str, queries: int, seed: int) -> Strategy:
    """Return a search as in the paper: nothing is evaluated or measured that the schedules do not know of."""
    known = {described.name for described in registry.describe(name)}
    return registry.create(name, {"queries": queries} | dict.fromkeys(known & OFF, False), seed)


def _ends(searches: list[Search]) -> list[float]:
    """Return when the last trajectory of each search closed; each must be finished, its queries used."""
    ends: list[float] = []
    for search in searches:
        state = search.state
        assert state.state.value == "finished", f"{search.folder.name}: {state.cause}"
        assert state.spending.queries == state.limits["queries"], state.spending
        ends.append(max(fact.at for fact in search.facts if fact.body.KIND == "closed"))
    return ends


def _at_barriers(
    case: Case, seed: int, queries: int, phases: int | None
) -> tuple[float, list[barrier.Task]]:
    clock = SimulatedClock()
    world = World(seed, case.places, clock)
    tasks = [
        barrier.Task(number, _strategy("pike-b", queries, seed), queries, phases)
        for number in range(case.tasks)
    ]
    return run(clock, barrier.search(world, tasks)), tasks


def measured(case: Case, seed: int, under: Path) -> dict[str, Any]:
    """Return one case under one seed."""
    began = time.process_time()
    here, there = in_engine(case, seed, under), at_barriers(case, seed)
    found: dict[str, Any] = {"case": case.name, "seed": seed, "engine_s": here, "barrier_s": there}
    if case.strategy == "pike-b" and case.tasks == 1:
        found["same"] = len(same_search(case, seed, under))
    return found | {"cpu_s": round(time.process_time() - began, 1)}


def table(rows: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """Return the lines of the table, and whether every target was reached."""
    lines = [
        "| case (model / evaluation places, GPUs) | seeds | phase-barrier | engine | ratio | model value "
        "| must reach, to a decimal |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    good = True
    for case in CASES:
        own = [row for row in rows if row["case"] == case.name]
        if not own:
            continue
        there, here = (
            statistics.mean(row[key] for row in own) / 3600 for key in ("barrier_s", "engine_s")
        )
        reached = round(there / here, 1) >= case.target
        same = all(row.get("same", 1) for row in own)
        good = good and reached and same
        places = f"{case.places.model} / {case.places.evaluation}, {case.places.gpus}"
        lines.append(
            f"| {case.says} ({places}) | {len(own)} | {there:.2f} h | {here:.2f} h | {there / here:.2f} "
            f"| {case.model_value} | {case.target}{'' if reached else ' (missed)'} |"
        )
    return lines, good


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page of the measurement."""
    lines, good = table(rows)
    same = [row for row in rows if "same" in row]
    agreed = sum(1 for row in same if row["same"])
    proposals = sum(row["same"] for row in same)
    head = "# PIKE-B and steady in the engine against phase barriers"
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}. Simulated time: the machine's load does "
        f"not matter. Made by `python -m bench.scheduler`; the draws are in `bench/draws.py`, the schedule it is "
        f"compared with in `bench/barrier.py`. {QUERIES} queries a task; ratio of the mean makespans."
    )
    search = (
        f"The same search: PIKE-B over {PHASES} phases without a limit of queries, in the engine and at barriers: in "
        f"{agreed} of {len(same)} seeds parents, works and their steps are the same, {proposals:,} proposals in all."
    )
    end = "Every target is reached." if good else "A target is missed."
    seeds = ["| case | seed | phase-barrier, h | engine, h |", "| --- | --- | --- | --- |"]
    seeds += [
        f"| {row['case']} | {row['seed']} | {row['barrier_s'] / 3600:.3f} | {row['engine_s'] / 3600:.3f} |"
        for row in rows
    ]
    return (
        "\n\n".join([head, about, "\n".join(lines), end, search, "## By seed", "\n".join(seeds)])
        + "\n"
    )


def main() -> int:
    """Measure and judge."""
    typed = _parser().parse_args()
    rows: list[dict[str, Any]] = _kept(typed.keep)
    done = {(row["case"], row["seed"]) for row in rows}
    for case in CASES:
        for seed in range(typed.seeds):
            if (typed.case in (None, case.name)) and (case.name, seed) not in done:
                with tempfile.TemporaryDirectory(dir=typed.under) as under:
                    rows.append(measured(case, seed, Path(under)))
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                if typed.keep:
                    typed.keep.write_text(json.dumps(rows), encoding="utf-8")
    rows.sort(key=lambda row: ([case.name for case in CASES].index(row["case"]), row["seed"]))
    lines, good = table(rows)
    print("\n".join(lines))
    if typed.write:
        typed.write.write_text(page(rows), encoding="utf-8")
    return 0 if good else 1


def _kept(path: Path | None) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8")) if path and path.is_file() else []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    memory = "/dev/shm"
    parser.add_argument("--seeds", type=int, default=10, help="0 .. N-1")
    parser.add_argument("--case", choices=[case.name for case in CASES])
    parser.add_argument("--under", default=memory if os.access(memory, os.W_OK) else None)
    parser.add_argument("--keep", type=Path, help="results so far: a broken run goes on from there")
    parser.add_argument("--write", type=Path, help="write the page there")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
