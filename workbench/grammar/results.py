"""Commands that take what a search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, session

if TYPE_CHECKING:
    import argparse


def _best(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="S", nargs="?", default="",
                   help="a session's name, or the beginning of one")  # fmt: skip
    p.add_argument("-o", "--output", metavar="FILE", help="write it there (default: stdout)")
    p.add_argument("--bundle", metavar="FILE",
                   help="write its evidence instead, for `pike replay`")  # fmt: skip
    p.add_argument("--all", metavar="DIR", default="",
                   help="write the winner of every task there, with provenance and evidence")  # fmt: skip


def _git(p: argparse.ArgumentParser) -> None:
    session(p)
    p.usage = "pike git S -- ARGS..."


COMMANDS: tuple[Command, ...] = (
    Command("best", "write the best candidate", _best),
    Command("git", "git on the session's repository", _git),
)
