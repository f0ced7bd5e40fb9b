"""Whether a screen can be opened here, and opening it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from workbench.errors import CannotGoOn

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from workbench.printing import Printer


def possible() -> bool:
    """Return whether stdin and stdout are a terminal that can carry a screen."""
    return not why_not()


def why_not() -> str:
    """Return why no screen can be opened; empty if one can."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return ""  # a program such as textual-serve carries the screen, over pipes
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return "this is no terminal: input or output is redirected"
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        return "TERM is dumb: this terminal cannot carry a screen"
    return ""


def open_on(folder: SessionFolder | None, printer: Printer, *, instead: str) -> int:
    """Open the live screen of a session, or the list of sessions; return the exit code.

    `instead`: the plain command that does the same.

    Raises:
        CannotGoOn: no screen can be opened here.
    """
    why = why_not()
    if why:
        raise CannotGoOn(f"{why}. Use `{instead}`.")
    from workbench.app import run

    return run(folder)
