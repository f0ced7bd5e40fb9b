"""Which version of the product this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """Return the installed version; `0` from a tree that was never installed."""
    try:
        return metadata.version("pike-workbench")
    except metadata.PackageNotFoundError:
        return "0"
