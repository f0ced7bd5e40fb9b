"""A text in the person's own pager, with the screens out of the way: for what is too long to be shown."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from workbench.lending import lent
from workbench.plain import inert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App

USUAL = (("less", "-R"), ("more",))
"""What is tried where PAGER is not set."""
PASSING = ("", "cat")
"""Values of PAGER that mean there is none: `cat` is what scripts set, and would be gone before it is read."""
AT_ONCE_S = 0.5
"""A pager that ends sooner showed a text that nobody can have read."""


class NoPager(Exception):
    """No pager could be opened; the message says why."""


def page(app: App[object], text: str) -> None:
    """Show a text, made inert, in the pager; the screens wait, searches go on.

    Raises:
        NoPager: none is set or found, it failed, or the terminal cannot be given away.
    """
    words = pager(os.environ)
    data = inert(text).encode("utf-8", "replace")
    try:
        with lent(app):
            began = time.monotonic()
            code = subprocess.run(words, input=data, check=False).returncode
            if time.monotonic() - began < AT_ONCE_S and not app.is_headless:
                _wait(words[0])
    except SuspendNotSupported as error:
        raise NoPager("this terminal cannot be given to a pager; E writes it to a file") from error
    except OSError as error:
        raise NoPager(f"{words[0]}: {error.strerror or error}; set PAGER to another") from error
    if code:
        raise NoPager(f"{words[0]} ended with {code}; set PAGER to another")


def pager(environ: Mapping[str, str]) -> list[str]:
    """Return the words that start the pager.

    Raises:
        NoPager: none is set or found, or the setting cannot be read.
    """
    wanted = environ.get("PAGER", "").strip()
    try:
        words = shlex.split(wanted)
    except ValueError as error:
        raise NoPager(f"PAGER is {wanted!r}, which cannot be read: {error}") from error
    if words and Path(words[0]).name not in PASSING:
        return words
    found = next((list(usual) for usual in USUAL if shutil.which(usual[0])), None)
    if found is None:
        raise NoPager("no pager was found: install less, or set PAGER")
    return found


def _wait(name: str) -> None:
    """Leave what was printed in sight until a person has read it."""
    sys.stdout.write(f"\n[{Path(name).name} ended; enter goes back to pike] ")
    sys.stdout.flush()
    sys.stdin.readline()
