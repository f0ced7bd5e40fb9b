"""`pike mcp --http` as a process of its own, for one run of a client."""

from __future__ import annotations

import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

PIKE = str(Path(__file__).parents[2] / ".venv/bin/pike")
STARTING_LIMIT_S = 60.0


@contextmanager
def serving(folder: Path, state: Path) -> Generator[tuple[str, str]]:
    """Yield the address of a server and a token for it."""
    said = folder / "server.log"
    argv = [PIKE, "mcp", "--http", "127.0.0.1:0", "--device", "cpu"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PIKE_HOME": str(state)}
    environment["TMPDIR"] = str(folder)
    with said.open("wb") as log, subprocess.Popen(argv, stderr=log, env=environment) as server:
        try:
            yield announced(said)
        finally:
            server.terminate()


def announced(said: Path) -> tuple[str, str]:
    """Return where a server that starts listens, and the token it made, from its stderr in a file."""
    until = time.monotonic() + STARTING_LIMIT_S
    while time.monotonic() < until:
        found = re.search(r"MCP at (\S+)\n.*(pike_\S+)\n", said.read_text(encoding="utf-8"))
        if found:
            return found[1], found[2]
        time.sleep(0.05)
    raise AssertionError(said.read_text(encoding="utf-8"))
