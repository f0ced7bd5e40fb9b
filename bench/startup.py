"""How long a person or a client waits for a first answer: medians of `pike --help`, `pike sessions`, the MCP server.

`python bench/startup.py [--sessions 20] [--rounds 9] [--json]`; targets: sessions 0.4 s, server 1 s.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.start import NewSession, create_session

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS_S = {"pike sessions": 0.4, "pike sessions --json": 0.4, "server's first answer": 1.0}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    },
}


def main() -> int:
    """Measure and print; 1 if a target is missed."""
    typed = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _fill(home, typed.sessions)
        env = {**os.environ, "PIKE_HOME": str(home)}
        found = {name: _median(act, env, typed.rounds) for name, act in _acts().items()}
    if typed.json:
        print(json.dumps({"machine": _machine(), "sessions": typed.sessions, "median_s": found}))
    else:
        print(f"{_machine()}, {typed.sessions} sessions, medians of {typed.rounds}")
        for name, taken in found.items():
            target = f"  (target {TARGETS_S[name]} s)" if name in TARGETS_S else ""
            print(f"{name:<24} {taken:6.3f} s{target}")
    return int(any(found[name] > limit for name, limit in TARGETS_S.items()))


def _acts() -> dict[str, Callable[[dict[str, str]], None]]:
    return {
        "pike --help": lambda env: _pike(env, "--help"),
        "pike sessions": lambda env: _pike(env, "sessions"),
        "pike sessions --json": lambda env: _pike(env, "sessions", "--json"),
        "pike tasks": lambda env: _pike(env, "tasks"),
        "server's first answer": _first_answer,
    }


def _pike(env: dict[str, str], *words: str) -> None:
    argv = [sys.executable, "-P", "-m", "workbench", *words]
    subprocess.run(argv, env=env, capture_output=True, timeout=60, check=True)


def _first_answer(env: dict[str, str]) -> None:
    argv = [sys.executable, "-P", "-m", "mcp_server", "serve"]
    with subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        server.kill()


def _median(act: Callable[[dict[str, str]], None], env: dict[str, str], rounds: int) -> float:
    act(env)
    taken: list[float] = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act(env)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def _fill(home: Path, sessions: int) -> None:
    for _ in range(sessions):
        create_session(
            NewSession(
                task="starter/softmax",
                source="# a task",
                strategy="pike-b",
                strategy_version=1,
                settings={},
                models={"improve": "offline"},
                limits={"queries": 300},
                template_hash="",
                product_version="0",
            ),
            home / "sessions",
        )


def _machine() -> str:
    return (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20, help="sessions in the list")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
