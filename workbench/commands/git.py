"""`pike git`: git on a session's repository."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from workbench import lookup
from workbench.errors import CannotGoOn, WrongUsage

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from workbench.printing import Printer

GRAPH = ("log", "--graph", "--oneline", "--all", "--decorate=short")
"""What to see of a session first."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Run git; return its exit code. On a terminal its words pass as inert text, in a pipe as they are."""
    folder = lookup.session(typed.session)
    if not folder.lineage.is_dir():
        raise CannotGoOn(f"{folder.name} has no repository yet: its engine has not begun.")
    if not typed.rest:
        raise WrongUsage(f"say what git should do: `pike git {folder.name} -- {' '.join(GRAPH)}`.")
    if not printer.on_terminal:
        return subprocess.run(words(folder.lineage, *typed.rest), check=False).returncode
    done = subprocess.run(words(folder.lineage, *typed.rest), stdout=subprocess.PIPE, check=False)
    printer.verbatim(done.stdout.decode("utf-8", "replace"))
    return done.returncode


def words(repository: Path, *rest: str) -> list[str]:
    """Return a command line of git on a repository, without pager and colours.

    Raises:
        CannotGoOn: there is no git.
    """
    if shutil.which("git") is None:
        raise CannotGoOn(
            "git is not installed; every attempt is kept as a commit, so it is needed."
        )
    return ["git", f"--git-dir={repository}", "--no-pager", "-c", "color.ui=never", *rest]
