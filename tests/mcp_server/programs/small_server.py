"""The evaluator's server on stdio, with the small judge and worker."""

import argparse
from pathlib import Path
from typing import get_args

import anyio

from mcp_server.app import serve_stdio
from mcp_server.sandbox import Wanted
from mcp_server.setting import Setting
from tests.mcp_server.conftest import SMALL


def main() -> None:
    """Serve until the client goes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("sandbox", choices=get_args(Wanted))
    parser.add_argument("executor", nargs="?", default="local")
    typed = parser.parse_args()
    chosen = Setting(
        typed.home,
        sandbox=typed.sandbox,
        device="cpu",
        programs=SMALL,
        executor=typed.executor,
        lease_folder=typed.home,
    )
    anyio.run(lambda: serve_stdio(chosen, engine=True))


if __name__ == "__main__":
    main()
