"""A text in the person's own editor, with the screens out of the way; what they wrote is kept in a file, too."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from sessions.folder import root
from workbench.lending import lent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App

USUAL = ("sensible-editor", "nano", "vim", "vi")
"""What is tried where neither VISUAL nor EDITOR is set."""
FILE_LIMIT = 1_000_000
"""Bytes of a file to submit: more is no candidate."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class NoEditor(Exception):
    """No editor could be opened; the message says why."""


def edited(app: App[object], text: str, name: str) -> str:
    """Return what became of a text in the editor; the screens wait, searches go on.

    Args:
        app: gives the terminal away meanwhile.
        text: what the editor begins with.
        name: of the file; foreign signs are taken out of it.

    Raises:
        NoEditor: none is set or found, it failed, or the terminal cannot be given away.
    """
    words = editor(os.environ)
    try:
        path = _written(text, name)
        with lent(app):
            done = subprocess.run([*words, str(path)], check=False)
        after = path.read_text(encoding="utf-8", errors="replace")
    except SuspendNotSupported as error:
        raise NoEditor("this terminal cannot be given to an editor; name a file instead") from error
    except OSError as error:
        raise NoEditor(f"{words[0]}: {error.strerror or error}; set EDITOR to another") from error
    if done.returncode:
        raise NoEditor(f"{words[0]} ended with {done.returncode}; what it wrote is in {path}")
    return text if after == f"{text}\n" else after


def editor(environ: Mapping[str, str]) -> list[str]:
    """Return the words that start the editor.

    Raises:
        NoEditor: none is set or found, or the setting cannot be read.
    """
    wanted = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(wanted)
    except ValueError as error:
        raise NoEditor(f"EDITOR is {wanted!r}, which cannot be read: {error}") from error
    found = words or [name for name in USUAL if shutil.which(name)][:1]
    if not found:
        raise NoEditor("no editor was found: set EDITOR, such as EDITOR=nano")
    return found


def read(path: str) -> str:
    """Return the text of a file that a person names.

    Raises:
        OSError: it cannot be read.
        ValueError: it is too large for a candidate, or no text.
    """
    found = Path(path).expanduser()
    if found.stat().st_size > FILE_LIMIT:
        raise ValueError(f"it is larger than {FILE_LIMIT:,} bytes")
    return found.read_text(encoding="utf-8")


def existing(path: str) -> str:
    """Return the text of a file; empty if there is none yet. Raises as `read` does."""
    return read(path) if path and Path(path).expanduser().is_file() else ""


def _written(text: str, name: str) -> Path:
    """Write the text to a file of this person alone."""
    path = root() / "edits" / (_UNSAFE.sub("-", name).lstrip(".-")[:80] or "text.txt")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path
