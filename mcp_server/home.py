"""Where the state folder is."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path:
    """Return the state folder: `$PIKE_HOME`, else the platform's folder for user data."""
    named = os.environ.get("PIKE_HOME")
    if named:
        return Path(named).expanduser()
    import platformdirs  # most starts name the folder

    return Path(platformdirs.user_data_dir("pike", appauthor=False))
