"""The evaluator's server, for benchmarks: the originals' compiled forms are not measured, which takes minutes.

python -m bench.quick_server DEVICE SANDBOX OVERLAP
"""

from __future__ import annotations

import sys
from functools import partial

import anyio

from mcp_server.__main__ import home
from mcp_server.app import serve_stdio
from mcp_server.evaluate import StageLimits
from mcp_server.setting import Setting


def main() -> None:
    """Serve on standard input and output."""
    device, sandbox, overlap = sys.argv[1:]
    setting = Setting(
        home(),
        sandbox="process" if sandbox == "process" else "best-effort",
        device=device,
        stage_limits=StageLimits(qualify=1, grace=300),
        overlap=overlap == "on",
    )
    anyio.run(partial(serve_stdio, setting, engine=True))


if __name__ == "__main__":
    main()
