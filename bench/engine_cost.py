"""The engine's own cost per attempt, with a scripted model and evaluator that take no time; git's gc apart.

`python -m bench.engine_cost [--attempts 2000]` prints the mean milliseconds of each block of attempts: the cost must
be flat, and at most 40 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

from sessions.facts import Committed, Fact
from sessions.journal import Journal
from sessions.lineage import Lineages
from sessions.start import create_session
from tests.fakes import FatedModel
from tests.sessions.searches import Search, request

LIMIT_MS = 40.0


class Collected(Lineages):
    """Counts the time of garbage collection, which is not the engine's own."""

    gc_s = 0.0

    def _gc(self) -> None:
        began = time.perf_counter()
        super()._gc()
        Collected.gc_s += time.perf_counter() - began


class Timed(Journal):
    """Remembers when each attempt's commit was written."""

    at: ClassVar[list[float]] = []

    async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
        facts = await super().record(*args, **kwargs)
        now = time.perf_counter() - Collected.gc_s
        Timed.at += [now for fact in facts if isinstance(fact.body, Committed)]
        return facts


async def run(under: Path, attempts: int, block: int) -> dict[str, Any]:
    """Run one search of that many queries, and return what it cost."""
    settings = {"queries": attempts, "width": 10, "places": 10, "fixes": 5, "ideas": 0}
    folder = create_session(request(settings=settings), under)
    model = FatedModel(fates=("ok", "compile_error", "wrong_result"))
    found = Search(folder, model, journal_class=Timed, lineages_class=Collected)
    began, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    engine = await found.engine()
    await engine.run()
    used = resource.getrusage(resource.RUSAGE_SELF)
    times = Timed.at
    blocks = [
        1000 * (times[end - 1] - times[end - block]) / (block - 1)
        for end in range(block, len(times) + 1, block)
    ]
    return {
        "attempts": len(times),
        "wall_s": round(time.perf_counter() - began, 2),
        "gc_s": round(Collected.gc_s, 2),
        "own_cpu_ms_per_attempt": round(
            1000 * (used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime) / len(times), 2
        ),
        "ms_per_attempt": round(statistics.mean(blocks), 2),
        "blocks_ms": [round(value, 1) for value in blocks],
        "journal_mb": round(folder.journal.stat().st_size / 1e6, 1),
    }


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=2000)
    parser.add_argument("--block", type=int, default=100)
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as under:
        found = asyncio.run(run(Path(under), typed.attempts, typed.block))
    found["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(found))
    return 0 if found["ms_per_attempt"] <= LIMIT_MS else 1


if __name__ == "__main__":
    raise SystemExit(main())
