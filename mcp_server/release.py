"""Which version of our package this is."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


@lru_cache(maxsize=1)
def version() -> str:
    """Return the installed version, `0` where the package runs from its folder alone."""
    try:
        return installed("pike-workbench")
    except PackageNotFoundError:
        return "0"
