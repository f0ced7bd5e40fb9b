"""Files that a screen writes for a person: never over another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def free(folder: Path, stem: str, ending: str) -> Path:
    """Return a file name that is not taken: `STEM.py`, `STEM-2.py`."""
    path, number = folder / f"{stem}{ending}", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{ending}", number + 1
    return path
