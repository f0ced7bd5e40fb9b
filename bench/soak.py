"""Minutes of mixed clients, faults and cancellations, and what is left afterwards: nothing may be.

    python -m bench.soak [--minutes 10] [--clients 6] [--seed 1] [--json]

One server over HTTP, for agents of both protocol eras and an engine, and agents with servers of their own on stdio: all
real processes, with the small judge and worker of the tests, which need no torch. Meanwhile clients, servers, judges
and workers are killed, connections cut, bodies sent slowly or too large. Exit code 1: something is left, or a client
was told something wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench import soak_after, soak_faults
from mcp_server import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
KINDS = ("stdio", "http", "legacy", "engine")
STARTING_LIMIT_S = 60.0
PATIENCE_S = 10.0
"""For which a fault waits for somebody to act."""
SLOWEST_S = 300.0
"""Beyond its time, for clients to act as often as they should."""
POLITE_SHARE = 0.3
"""Of clients that end: those that are asked to; the others are killed."""


@dataclass
class World:
    """The folder of one run, and the processes in it."""

    folder: Path
    chance: random.Random
    port: int
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    server: subprocess.Popen[bytes] | None = None
    clients: list[tuple[str, subprocess.Popen[bytes]]] = field(
        default_factory=list[tuple[str, subprocess.Popen[bytes]]]
    )
    done: Counter[str] = field(default_factory=Counter[str])
    """Faults by name."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def environment(self) -> dict[str, str]:
        plain = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        return plain | {"TMPDIR": str(self.folder / "tmp"), "PYTHONPATH": str(ROOT)}

    def server_words(self, *web: str) -> list[str]:
        """Return how a server is started."""
        home, leases = str(self.folder / "home"), str(self.folder / "leases")
        return [sys.executable, "-P", "-m", "bench.soak_server", home, leases, *web]

    def prepare(self) -> None:
        """Make folders and tokens."""
        for name in ("home", "leases", "tmp"):
            (self.folder / name).mkdir()
        for kind in KINDS[1:]:
            token, grant = tokens.new(kind, ("engine",) if kind == "engine" else ())
            tokens.append(self.folder / "tokens.jsonl", grant)
            self.tokens[kind] = token

    def start_server(self) -> None:
        """Start the server over HTTP, and wait until it listens."""
        words = self.server_words(str(self.port), str(self.folder / "tokens.jsonl"))
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(words, env=self.environment, stderr=log, cwd=ROOT)
        until = time.monotonic() + STARTING_LIMIT_S
        while not soak_faults.listens(self.port):
            if self.server.poll() is not None or time.monotonic() > until:
                raise RuntimeError((self.folder / "server.log").read_text()[-2000:])
            time.sleep(0.05)

    def start_client(self, kind: str) -> None:
        """Start a client; what it tells is added to the run's file."""
        words = [sys.executable, "-P", "-m", "bench.soak_client", kind, self.url]
        words += [str(self.chance.random()), *self.server_words()]
        more = {"SOAK_TOKEN": self.tokens.get(kind, "")}
        with (self.folder / "told").open("ab") as told, (self.folder / "talk").open("ab") as talk:
            process = subprocess.Popen(
                words, env=self.environment | more, stdout=told, stderr=talk, cwd=ROOT
            )
        self.clients.append((kind, process))

    def acts(self) -> int:
        """Return how often clients acted."""
        path = self.folder / "told"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def tend(self) -> None:
        """Start what ended anew; a client that ends by itself is a fault of its own."""
        if self.server is not None and self.server.poll() is not None:
            self.start_server()
        for kind, process in list(self.clients):
            if process.poll() is not None:
                self.clients.remove((kind, process))
                if process.returncode not in (-signal.SIGKILL, -signal.SIGTERM):
                    self.done["client that failed by itself"] += 1
                self.start_client(kind)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process, most often without asking."""
        polite = self.chance.random() < POLITE_SHARE
        process.send_signal(signal.SIGTERM if polite else signal.SIGKILL)

    def end_clients(self) -> None:
        """End all clients."""
        for _, process in self.clients:
            self.end(process)
        for _, process in self.clients:
            process.wait(STARTING_LIMIT_S)
        self.clients.clear()


def _faults(world: World) -> list[tuple[str, int, Callable[[], None]]]:
    """Return what may go wrong: its name, how often beside the others, and how it is done."""
    port, tokens_of = world.port, world.tokens
    mark, chance = str(world.folder), world.chance

    def a_client() -> None:
        world.end(chance.choice(world.clients)[1])

    def the_server() -> None:
        if world.server is not None:
            world.end(world.server)
            world.server.wait(STARTING_LIMIT_S)

    def killed(word: str) -> Callable[[], None]:
        return lambda: soak_faults.kill_one(mark, word, chance)

    return [
        ("client ended", 6, a_client),
        ("worker killed", 5, killed("small_worker")),
        ("judge killed", 3, killed("small_judge")),
        ("stdio server killed", 2, killed(f"soak_server {mark}/home {mark}/leases")),
        ("HTTP server ended", 1, the_server),
        ("connection cut in a call", 5, lambda: soak_faults.cut(port, tokens_of["http"])),
        ("body that trickles", 3, lambda: soak_faults.trickle(port, tokens_of["http"])),
        ("headers that stop", 3, lambda: soak_faults.half(port)),
        ("body too large", 2, lambda: soak_faults.oversized(port, tokens_of["legacy"])),
        ("wrong token", 2, lambda: soak_faults.stranger(port)),
    ]


def soak(world: World, seconds: float, clients: int, least: int) -> None:
    """Let clients act and things go wrong for a while, and until they acted so often, then end every client."""
    world.start_server()
    for number in range(clients):
        world.start_client(KINDS[number % len(KINDS)])
    faults = _faults(world)
    until = time.monotonic() + seconds
    while time.monotonic() < until or world.acts() < least:
        if time.monotonic() > until + SLOWEST_S:
            raise RuntimeError(f"{world.acts()} acts of {least}: is the machine busy?")
        _pause(world)
        name, _, act = world.chance.choices(faults, [weight for _, weight, _ in faults])[0]
        with suppress(OSError):
            act()
        world.done[name] += 1
        world.tend()
    world.end_clients()


def _pause(world: World) -> None:
    """Wait for an act of somebody's, on a busy machine too, before the next fault."""
    before, began = world.acts(), time.monotonic()
    time.sleep(0.2 + world.chance.random())
    while world.acts() == before and time.monotonic() < began + PATIENCE_S:
        time.sleep(0.1)


@dataclass(frozen=True)
class Soaked:
    """What was done, what came of it, and what is left."""

    machine: str
    seconds: int
    seed: int
    acts: dict[str, int]
    faults: dict[str, int]
    left: dict[str, int]
    wrong: list[str]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left, and nothing was wrong."""
        return not any(self.left.values()) and not self.wrong


def run(minutes: float, clients: int, seed: int, least: int = 0) -> Soaked:
    """Soak, and look at what is left."""
    folder = Path(tempfile.mkdtemp(prefix="pike-soak-"))
    world = World(folder, random.Random(seed), soak_faults.free_port())
    began = time.monotonic()
    try:
        world.prepare()
        soak(world, minutes * 60, clients, least)
        left = asyncio.run(soak_after.left(world))
        acts = Counter((folder / "told").read_text(encoding="utf-8").splitlines())
        log = (folder / "server.log").read_text(encoding="utf-8")
    except Exception:
        shutil.copy(folder / "server.log", "soak-server.log")
        print("The server's log is kept in soak-server.log.", file=sys.stderr)
        raise
    finally:
        soak_faults.kill_all(str(folder))
        shutil.rmtree(folder, ignore_errors=True)
    wrong = [line for line in acts if " wrong" in line]
    if "Traceback" in log:
        wrong.append(f"server's log: {log[log.index('Traceback') :][:3000]}")
    seconds = round(time.monotonic() - began)
    return Soaked(_machine(), seconds, seed, dict(acts), dict(world.done), left, wrong)


def _machine() -> str:
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f}"


def _print(found: Soaked) -> None:
    print(f"{found.machine}; {found.seconds} s, seed {found.seed}")
    for title, table in (("acts", found.acts), ("faults", found.faults), ("left", found.left)):
        print(f"\n{title}")
        for name, count in sorted(table.items()):
            print(f"  {name:<34} {count}")
    for line in found.wrong:
        print(f"\nWRONG {line}")


def main() -> int:
    """Run and print; 1 if anything is left or was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    typed = parser.parse_args()
    found = run(typed.minutes, typed.clients, typed.seed)
    if typed.json:
        print(json.dumps(asdict(found)))
    else:
        _print(found)
    return int(not found.is_clean)


if __name__ == "__main__":
    sys.exit(main())
