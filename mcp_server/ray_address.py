"""What `--executor` may say of Ray, and where that is."""

from __future__ import annotations

import importlib.util
import os
import re

from mcp_server.clean import printable
from mcp_server.errors import ExecutorUnavailable, NotAnExecutor

_ADDRESS = re.compile(r"ray(://[A-Za-z0-9_.\-\[\]]+(:\d{1,5})?)?")
_USUAL_PORT = 10001
"""Where Ray's head listens for those who are no part of the cluster."""


def installed() -> bool:
    """Return whether Ray is here; it is not imported."""
    return importlib.util.find_spec("ray") is not None


def address_of(executor: str) -> str:
    """Return Ray's address for `--executor ray` or `ray://HEAD[:PORT]`.

    Raises:
        NotAnExecutor: it is neither.
        ExecutorUnavailable: Ray is not installed.
    """
    if not _ADDRESS.fullmatch(executor):
        raise NotAnExecutor(
            f"{printable(executor)[:80]!r} is no executor: use local, ray, or ray://HEAD[:PORT]."
        )
    if not installed():
        raise ExecutorUnavailable(
            "Ray is not installed: pip install 'pike-workbench[ray]', on every host of the cluster."
        )
    if executor == "ray":
        return os.environ.get("RAY_ADDRESS") or "auto"
    return executor if re.search(r":\d+$", executor) else f"{executor}:{_USUAL_PORT}"
