"""What listing a suite costs: processor seconds and wall seconds of `pike tasks`, first (texts read) and later (kept).

`python bench/listing.py [--tasks 250] [--rounds 5] [--json]`; target: 0.5 s of processor time for 250 kept tasks.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET_S = 0.5
STARTER = Path(__file__).parents[1] / "mcp_server" / "starter"
SETTLE_S = 2.5
"""After which the listing trusts that a file is not changed again within the same tick."""


def main() -> int:
    """Measure and print; 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PIKE_HOME": str(Path(folder, "home"))}
        _fill(Path(folder, "suite"), typed.tasks)
        added = _timed(env, "suite", "add", "kernelbench", str(Path(folder, "suite")))
        time.sleep(SETTLE_S)
        first = _timed(env, "tasks", "--json")
        later = [_timed(env, "tasks", "--json") for _ in range(typed.rounds)]
    kept = tuple(statistics.median(column) for column in zip(*later, strict=True))
    found = {"suite add": added, "pike tasks, first": first, "pike tasks, later": kept}
    if typed.json:
        print(json.dumps({"tasks": typed.tasks, "cpu_and_wall_s": found}))
    else:
        print(f"{platform.processor() or platform.machine()}, {typed.tasks} tasks")
        for name, (cpu_s, wall_s) in found.items():
            print(f"{name:<20} {cpu_s:6.3f} s of processor time, {wall_s:6.3f} s")
    return int(kept[0] > TARGET_S)


def _fill(folder: Path, count: int) -> None:
    """Write tasks as long as real ones, none equal to another."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(STARTER.glob("*.py"))]
    for number in range(count):
        file = folder / f"level{number * 3 // count + 1}" / f"{number}_task.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{texts[number % len(texts)]}\n# {number}\n", encoding="utf-8")


def _timed(env: dict[str, str], *words: str) -> tuple[float, float]:
    """Return the processor and wall seconds of one command, its children's among them."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    argv = [sys.executable, "-m", "workbench", *words]
    subprocess.run(argv, env=env, check=True, capture_output=True, timeout=120)
    taken = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return round(cpu_s, 3), round(taken, 3)


if __name__ == "__main__":
    sys.exit(main())
