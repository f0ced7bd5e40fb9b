"""The evaluator's server on stdio, with the small judge and worker."""

import sys
from pathlib import Path

import anyio

from mcp_server.app import serve_stdio
from mcp_server.local import Setting
from tests.mcp_server.conftest import SMALL

if __name__ == "__main__":
    home = Path(sys.argv[1])
    chosen = Setting(home, sandbox=sys.argv[2], device="cpu", programs=SMALL, lease_folder=home)
    anyio.run(lambda: serve_stdio(chosen, engine=True))
