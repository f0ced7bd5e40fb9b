"""How long an agent waits for `pike mcp` itself: its first answer on stdio, and a call over HTTP that does nothing.

    python -m bench.agents [--starts 9] [--calls 400] [--json]

A real server process each time, the SDK's client beside it, its work included. Targets: a start within 1 s, since
clients drop a late server, and 95 of 100 calls within 10 ms. Exit code 1: a target was missed. Only meaningful on a
machine with nothing else to do.
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
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.startup import HELLO
from tests.clients.http_server import serving

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).parents[1]
START_S, CALL_S = 1.0, 0.010
WARM_UP = 20
ERAS: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")


def starts(home: Path, rounds: int) -> list[float]:
    """Return seconds from starting `pike mcp` to its first answer, shortest first."""
    return sorted(_start(home) for _ in range(rounds))


def _start(home: Path) -> float:
    began = time.perf_counter()
    with _server(home) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        return time.perf_counter() - began


@contextmanager
def _server(home: Path) -> Generator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-P", "-m", "workbench", "mcp", "--device", "cpu"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PIKE_HOME": str(home / "pike")}
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
    ) as server:
        yield server
        server.kill()


async def calls(url: str, token: str, era: Literal["auto", "legacy"], number: int) -> list[float]:
    """Return seconds of calls that list one task, shortest first."""
    took: list[float] = []
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as web,
        Client(streamable_http_client(url, http_client=web), mode=era) as client,
    ):
        for _ in range(WARM_UP + number):
            began = time.perf_counter()
            await client.call_tool("list_tasks", {"limit": 1})
            took.append(time.perf_counter() - began)
    return sorted(took[WARM_UP:])


def measured(rounds: int, number: int) -> dict[str, dict[str, float]]:
    """Return of each wait its median, its 95th percentile and what it should be, in seconds."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        found["first answer on stdio"] = _told(starts(home, rounds), START_S)
        with serving(home, home / "pike") as (url, token):
            for era in ERAS:
                took = anyio.run(calls, url, token, era, number)
                found[f"call over HTTP, {'2026-07-28' if era == 'auto' else '2025'}"] = _told(
                    took, CALL_S
                )
    return found


def _told(took: list[float], target_s: float) -> dict[str, float]:
    p95 = took[min(len(took) - 1, int(0.95 * len(took)))]
    return {"median_s": statistics.median(took), "p95_s": p95, "target_s": target_s}


def _machine() -> str:
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("mcp", "uvicorn", "pydantic"))
    return (
        f"{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}, {packages}"
    )


def main() -> int:
    """Measure and print; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    typed = parser.parse_args()
    machine = _machine()
    found = measured(typed.starts, typed.calls)
    if typed.json:
        print(json.dumps({"machine": machine, **found}))
    else:
        print(machine)
        for name, row in found.items():
            told = f"median {row['median_s'] * 1e3:7.1f} ms   p95 {row['p95_s'] * 1e3:7.1f} ms"
            print(f"{name:<28} {told}   target {row['target_s'] * 1e3:.0f} ms")
    late = found["first answer on stdio"]["median_s"] > START_S
    return int(late or any(row["p95_s"] > CALL_S for name, row in found.items() if "HTTP" in name))


if __name__ == "__main__":
    sys.exit(main())
