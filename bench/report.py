"""`pike report` over 50 sessions of 300 attempts, figures and all: made here, in a folder that is removed again.

`python -m bench.report [--sessions 50] [--attempts 300]` prints what it took beside its target. Only meaningful on a
machine with nothing else to do. Exit code 1: the target was missed.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.sessions.reported import Study, make

PRODUCT = Path(__file__).parents[1]
TARGET_S = 10.0
SIZE = (50, 300)
CONFIGURATIONS = ("full", "no fixes", "no ideas", "cheap fixes", "evolution")
TASKS = 5


def studies(sessions: int, attempts: int) -> list[Study]:
    """Return searches of five configurations on five tasks, repeated as often as it takes."""
    draw = Random(0)
    return [
        Study(
            session=f"s{n}",
            configuration=CONFIGURATIONS[n % len(CONFIGURATIONS)],
            task=f"level3/{n // len(CONFIGURATIONS) % TASKS}_Block",
            repeat=1 + n // (len(CONFIGURATIONS) * TASKS),
            gain=math.exp(draw.gauss(0.2, 0.3)),
            attempts=attempts,
        )
        for n in range(sessions)
    ]


def report_s(home: Path, out: Path) -> tuple[float, float]:
    """Return the seconds from typing the command to its end, and those of a processor's work."""
    words = [sys.executable, "-m", "workbench", "report", "study", "--out", str(out)]
    began = time.perf_counter()
    env = os.environ | {"PIKE_HOME": str(home)}
    subprocess.run(words, cwd=PRODUCT, env=env, check=True, capture_output=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def main() -> int:
    """Make the sessions, report on them, print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=SIZE[0])
    parser.add_argument("--attempts", type=int, default=SIZE[1])
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        home, out = Path(made) / "home", Path(made) / "out"
        make(home, studies(typed.sessions, typed.attempts), "study")
        took, worked = report_s(home, out)
        files = sum(1 for path in out.rglob("*") if path.is_file())
    size = f"{typed.sessions} sessions × {typed.attempts} attempts"
    told = f"{took:.1f} s, {worked:.1f} s of them a processor's work, {files} files"
    print(f"{size}: {told}; target for 50 × 300: {TARGET_S:g} s")
    return int(took > TARGET_S and (typed.sessions, typed.attempts) == SIZE)


if __name__ == "__main__":
    sys.exit(main())
