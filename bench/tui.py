"""The screens measured from outside, through a pseudo-terminal: first paint, opening, keys, bytes, memory.

`python -m bench.tui [--attempts 2000] [--markdown]` prints what was found beside its targets (`TARGETS`); `--markdown`
also writes docs/measurements/terminal.md. Only meaningful on a machine with nothing else to do. Exit code 1: a target
was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.facts_writer import build, cut
from sessions import facts as f
from sessions.folder import SessionFolder
from sessions.journal import Journal, key_of
from sessions.lock import EngineLock
from tests.terminal.pseudo import Pseudo
from tests.tui import journals

if TYPE_CHECKING:
    from collections.abc import Generator

    from bench.facts_writer import Cut

PRODUCT = Path(__file__).parents[1]
TABLE = PRODUCT / "docs/measurements/terminal.md"
WIDE, NARROW = (160, 44), (80, 24)
CURSOR = rb"\x1b\[[0-9;]*48;2;42;54;69m"
"""What begins a cell under the cursor, in the dark theme."""
FACTS_PER_S = 20
KEYS = 120
DIFF_LINES = 1_500
LIMIT_S = 60.0

TARGETS = {
    "first paint of the session list, s": 0.6,
    "opening 2,000 attempts, s": 1.0,
    "key to paint p95 while 20 facts a second are written, ms": 50.0,
    "bytes a second when nothing changes": 0.0,
    "memory with 2,000 attempts open, MB": 120.0,
    "a diff of 1,500 lines, s": 0.3,
}


@dataclass(frozen=True, slots=True)
class Flow:
    """What one screen costs by itself, no key pressed."""

    screen: str
    size: tuple[int, int]
    bytes_per_s: float
    cpu_share: float


# --- the programs that are measured


def viewer(home: Path, *words: str, size: tuple[int, int] = WIDE) -> Pseudo:
    """Start `pike` on a terminal of that size."""
    env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "SSH_CONNECTION")}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    env |= {"PIKE_HOME": str(home), "PYTHONPATH": str(PRODUCT), "XDG_CONFIG_HOME": str(home)}
    return Pseudo.start([sys.executable, "-m", "workbench", *words], env, *size)


@contextlib.contextmanager
def writing(folder: SessionFolder, attempts: int, rate: float) -> Generator[None]:
    """Let an engine's writer run beside, in a process of its own."""
    words = ["-m", "bench.facts_writer", str(folder.path), str(attempts), str(rate)]
    process = subprocess.Popen([sys.executable, *words], cwd=PRODUCT)
    time.sleep(3.0)  # it reads its script
    try:
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


# --- what is measured


def first_paint_s(home: Path) -> float:
    """Return the seconds until the session list stands, from the start of the process."""
    seen = viewer(home)
    painted = seen.until("Sessions", "Palette", limit_s=LIMIT_S) - seen.began
    seen.end()
    return painted


def opened(home: Path, newest: str) -> tuple[Pseudo, float]:
    """Open the session from the list; return the viewer and the seconds until its newest attempt is seen."""
    seen = viewer(home)
    seen.until("Sessions", "Palette", limit_s=LIMIT_S)
    seen.drain(1.5)
    began = time.perf_counter()
    seen.press(b"\r")
    return seen, seen.until("2 Attempts", newest, limit_s=LIMIT_S) - began


def keys_ms(seen: Pseudo, newest_first: list[str], count: int) -> list[float]:
    """Press `j` at uneven moments; return the milliseconds until each row was painted under the cursor."""
    found: list[float] = []
    for number, row in enumerate(newest_first[1 : count + 1]):
        seen.drain(0.11 + (number % 7) * 0.013)
        found.append(_key_ms(seen, b"j", row))
    return found


def _key_ms(seen: Pseudo, key: bytes, row: str) -> float:
    answer, place = re.compile(CURSOR + row.encode() + rb" "), len(seen.written)
    pressed = time.perf_counter()
    seen.press(key)
    while not answer.search(seen.written, place):
        if time.perf_counter() - pressed > LIMIT_S:
            raise TimeoutError(f"{row} was not painted under the cursor")
        seen.read(0.05)
    return (time.perf_counter() - pressed) * 1000


def flow(seen: Pseudo, screen: str, size: tuple[int, int], seconds: float = 10.0) -> Flow:
    """Watch a screen for a while, no key pressed."""
    seen.drain(3.0)
    cpu, began = seen.cpu_s(), time.perf_counter()
    count = seen.drain(seconds)
    lasted = time.perf_counter() - began
    return Flow(screen, size, count / lasted, (seen.cpu_s() - cpu) / lasted)


def diff_s(home: Path) -> float:
    """Return the seconds from a key to the last screen line of a diff of 1,500 lines."""
    seen = viewer(home, "attach", "long")
    seen.until("2 Attempts", "hunk", limit_s=LIMIT_S)
    seen.drain(2.0)
    began = time.perf_counter()
    seen.press(b"j")
    found = seen.until(f"+{DIFF_LINES // 2}", "changed line 11,", limit_s=LIMIT_S) - began
    seen.end()
    return found


async def build_long(folder: Path) -> None:
    """Write a session in which one attempt changed every second of 1,500 lines."""
    words = [("kept", "kept"), ("kept", "changed")]
    texts = [
        "".join(
            f"{pair[number % 2]} line {number}, x = {number} * 2\n" for number in range(DIFF_LINES)
        )
        for pair in words
    ]
    sources = {"c1": texts[0], "c2": texts[1], "c3": texts[1] + "# the end\n"}
    bodies: list[f.Body] = [journals.opened("long"), journals.baseline()]
    for number, (name, source) in enumerate(sources.items(), 1):
        parent = f"c{number - 1}"
        proposal: dict[str, Any] = {"id": f"p{number}", "role": "improve", "parent": parent}
        verdict = journals.verdict_of(1.1, "fp32")
        bodies += [
            f.Proposed([proposal | {"inspirations": [], "idea": None, "meta": {}}], {}),
            f.AttemptMade(name, parent, f"p{number}", 0, "001", key_of(source), "", "COA", "a"),
            f.VerdictReached(name, "correct", 0.2, verdict),
        ]
    journal = await Journal.open(folder / "journal.db", wal=True)
    await journal.record(time.time(), bodies, texts=[journals.ORIGINAL, *sources.values()])
    await journal.close()


# --- all of it


def measure(home: Path, attempts: int) -> tuple[dict[str, float], list[Flow]]:
    """Build the sessions and look at them; return the figures and the flows."""
    search, folder = cut(attempts), SessionFolder(home / "sessions/large")
    folder.path.mkdir(parents=True)
    asyncio.run(build(folder.path, search))
    (home / "sessions/long").mkdir()
    asyncio.run(build_long(home / "sessions/long"))
    lock = EngineLock.take(folder)
    found, flows = _looked(home, folder, search, attempts)
    lock.release()
    return found, flows


def _looked(
    home: Path, folder: SessionFolder, search: Cut, attempts: int
) -> tuple[dict[str, float], list[Flow]]:
    rows, flows = search.attempts[::-1], list[Flow]()
    paint = statistics.median(first_paint_s(home) for _ in range(7))
    listed = viewer(home)
    flows.append(flow(listed, "session list, nothing changes", WIDE))
    listed.end()
    opening: list[float] = []
    for _ in range(4):
        seen, open_s = opened(home, rows[0])
        opening.append(open_s)
        seen.end()
    seen, open_s = opened(home, rows[0])
    seen.drain(20.0)  # an engine that says nothing for 15 s is called silent, once
    idle = flow(seen, "live, nothing changes", WIDE)
    memory = seen.held_bytes()
    quiet = keys_ms(seen, rows, KEYS)
    with writing(folder, attempts, 0):
        flows.append(flow(seen, "live, the engine's row once a second", WIDE))
    with writing(folder, attempts, FACTS_PER_S):
        flows.append(flow(seen, f"live, {FACTS_PER_S} facts a second", WIDE))
        busy = keys_ms(seen, rows[KEYS:], KEYS)
        seen.end()
        flows.append(_narrow(home, f"live, {FACTS_PER_S} facts a second"))
    found = {
        "first paint of the session list, s": paint,
        "opening 2,000 attempts, s": statistics.median([*opening, open_s]),
        "key to paint p95 while 20 facts a second are written, ms": p95(busy),
        "key to paint p50 while 20 facts a second are written, ms": statistics.median(busy),
        "key to paint p95 when nothing is written, ms": p95(quiet),
        "bytes a second when nothing changes": idle.bytes_per_s,
        "memory with 2,000 attempts open, MB": memory / 1e6,
        "a diff of 1,500 lines, s": statistics.median(diff_s(home) for _ in range(5)),
    }
    return found, [flows[0], idle, *flows[1:]]


def _narrow(home: Path, name: str) -> Flow:
    seen = viewer(home, "attach", "large", size=NARROW)
    seen.until("2 Attempts", limit_s=LIMIT_S)
    found = flow(seen, name, NARROW)
    seen.end()
    return found


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


# --- saying it


def machine() -> str:
    """Return what it was measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 - read once
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, Textual {version('textual')}; "
        f"load of the machine before and while measuring (1, 5, 15 min): {load}"
    )


def markdown(found: dict[str, float], flows: list[Flow], where: str) -> str:
    """Return the page."""
    rows = [f"| {name} | {value:.3g} | {_target(name)} |" for name, value in found.items()]
    costs = [
        f"| {one.screen} | {one.size[0]}×{one.size[1]} | {one.bytes_per_s:,.0f} | {one.cpu_share:.1%} |"
        for one in flows
    ]
    return "\n".join(
        [
            "# The screens",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}. {where}. Made by `python -m bench.tui --markdown`: `pike` under a "
            f"pseudo-terminal, a made-up search of 2,000 attempts, a writer in another process. Medians where nothing "
            f"else is said; {KEYS} presses of `j` for each percentile.",
            "",
            "| what | measured | target, at most |",
            "| --- | --- | --- |",
            *rows,
            "",
            "Bytes that reach the terminal, no key pressed, and the share of one core that the viewer uses:",
            "",
            "| screen | size | bytes a second | of a core |",
            "| --- | --- | --- | --- |",
            *costs,
            "",
        ]
    )


def _target(name: str) -> str:
    return f"{TARGETS[name]:g}" if name in TARGETS else ""


def main() -> int:
    """Measure and print; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=2_000)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help=f"also write {TABLE.name}")
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found, flows = measure(Path(home), typed.attempts)
    where = machine()
    if typed.json:
        print(json.dumps({"machine": where, "found": found, "flows": [str(x) for x in flows]}))
    else:
        print(markdown(found, flows, where))
    if typed.markdown:
        TABLE.write_text(markdown(found, flows, where), encoding="utf-8")
    return int(any(found[name] > limit for name, limit in TARGETS.items()))


if __name__ == "__main__":
    sys.exit(main())
