"""Start of the judge: run by path, so that only torch and this folder are visible to it."""

from __future__ import annotations

import argparse
import socket
import sys
import types
from pathlib import Path


def main() -> None:
    """Make the package importable from where this file lies, then serve the socket."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fd", type=int, required=True)
    number = parser.parse_args().fd
    package = types.ModuleType("mcp_server")
    package.__path__ = [str(Path(__file__).resolve().parent.parent)]
    sys.modules["mcp_server"] = package
    from mcp_server.judge.service import serve

    serve(socket.socket(fileno=number))


if __name__ == "__main__":
    main()
