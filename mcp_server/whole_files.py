"""Files that are written whole or not at all: under another name first, then put in their place in one step."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it, so that a reader sees all of it or what was there before.

    Raises:
        OSError: it cannot be written; nothing of it is left behind.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
