"""Which packages an environment has, told by its folders: nothing is imported."""

from __future__ import annotations

from importlib.machinery import PathFinder

from mcp_server import interpreter


class Installed:
    """The packages of one environment."""

    def __init__(self, python: str | None) -> None:
        """Take our own, or that of an environment's folder.

        Raises:
            NoInterpreter: nothing there runs.
        """
        reads = interpreter.find(python).reads if python else ()
        self._folders = [path for path in reads if path.endswith("-packages")] if python else None
        self._known: dict[str, bool] = {}

    def has(self, package: str) -> bool:
        """Return whether a top-level package is there."""
        if package not in self._known:
            try:
                found = PathFinder.find_spec(package, self._folders)
            except (ImportError, ValueError):
                found = None
            self._known[package] = found is not None
        return self._known[package]
