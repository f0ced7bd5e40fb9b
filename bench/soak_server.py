"""The evaluator's server with the small judge and worker, over HTTP or on stdio, for `bench/soak.py`.

python -m bench.soak_server HOME LEASES [PORT TOKEN_FILE]
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import anyio

from mcp_server.app import Web, serve_http, serve_stdio
from mcp_server.setting import Setting
from tests.mcp_server.conftest import SMALL


def main() -> None:
    """Serve until a signal comes, or the client goes."""
    home, leases, *web = sys.argv[1:]
    setting = Setting(Path(home), device="cpu", programs=SMALL, lease_folder=Path(leases))
    if not web:
        anyio.run(partial(serve_stdio, setting, engine=True))
        return
    at = Web(f"127.0.0.1:{web[0]}", Path(web[1]))
    anyio.run(partial(serve_http, setting, at, _say))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
