"""Copying: to the terminal's clipboard, to tmux's buffer inside tmux, always to a file; says which."""

from __future__ import annotations

import base64
import os
import subprocess
from typing import TYPE_CHECKING

from sessions.folder import root
from workbench.format import size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OSC_52_LIMIT = 74_000
"""Bytes, encoded; terminals drop longer sequences."""
TMUX_S = 2.0


def copy(text: str, to_terminal: Callable[[str], None], environ: Mapping[str, str]) -> str:
    """Copy a text and return what to tell; the terminal never answers, so nothing is promised.

    `to_terminal` writes the OSC 52 sequence.
    """
    data = text.encode("utf-8", "replace")
    told: list[str] = []
    if len(base64.b64encode(data)) > OSC_52_LIMIT:
        told.append(f"{size(len(data))} is too long for the terminal's clipboard")
    elif environ.get("TMUX") and _to_tmux(data):
        told.append("sent to tmux's buffer and the terminal's clipboard")
    else:
        to_terminal(text)
        told.append("sent to the terminal's clipboard")
    return f"{', '.join(told)}, {_to_file(data, environ)}"


def _to_tmux(data: bytes) -> bool:
    try:
        subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=data,
            timeout=TMUX_S,
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _to_file(data: bytes, environ: Mapping[str, str]) -> str:
    path = root(environ) / "last-copy.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        path.chmod(0o600)
    except OSError as error:
        return f"not saved: {error.strerror or error}"
    return f"saved as {path}"
