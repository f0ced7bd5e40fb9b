"""What the commands' grammar is made of: the parser, a command, the flags that several take."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from workbench.errors import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Act = tuple[str, str, Callable[[argparse.ArgumentParser], None]]
    """A word behind a command, what it does, its arguments."""


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of leaving the program."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was typed.

        Raises:
            WrongUsage: always.
        """
        raise WrongUsage(f"{message}. See `{self.prog} --help`.")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of `pike`."""

    name: str
    says: str
    arguments: Callable[[argparse.ArgumentParser], None]
    module: str = ""
    """Its module in `workbench.commands`; by default its name."""


def as_json(p: argparse.ArgumentParser) -> None:
    """Add the flag that prints JSON."""
    p.add_argument("--json", action="store_true", help="print JSON")


def session(p: argparse.ArgumentParser) -> None:
    """Add the session that the command is about."""
    p.add_argument("session", metavar="S", help="a session's name, or the beginning of one")


def evaluator(p: argparse.ArgumentParser) -> None:
    """Add where and how strictly candidates are judged."""
    where(p)
    p.add_argument("--tolerance", metavar="RULE", help="budget or paper (default: budget)")


def where(p: argparse.ArgumentParser) -> None:
    """Add where candidates run, and the formats they may compute in."""
    device(p)
    p.add_argument("--precision", metavar="POLICY", help="fp32, tf32 or half (default: half)")
    boxes(p)


def device(p: argparse.ArgumentParser) -> None:
    """Add the device that candidates run on."""
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")


def take_over(p: argparse.ArgumentParser, says: str) -> None:
    """Add the flag with which a person says that engines on other hosts are gone."""
    p.add_argument("--take-over", action="store_true", help=says)


def executor(p: argparse.ArgumentParser) -> None:
    """Add whose machines evaluate."""
    p.add_argument("--executor", metavar="WHERE",
                   help="whose machines evaluate: local, ray or ray://HEAD[:PORT] (default: local)")  # fmt: skip


def boxes(p: argparse.ArgumentParser) -> None:
    """Add what encloses candidates, and the environment they run in."""
    p.add_argument("--sandbox", metavar="LEVEL", help="strict or best-effort")
    p.add_argument("--python", metavar="ENV", help="environment whose torch runs candidates")


def view(p: argparse.ArgumentParser) -> None:
    """Add how a search that begins is shown."""
    p.add_argument("--plain", action="store_true", help="print a line per event, open no screen")
    p.add_argument("--json", action="store_true", help="print a JSON line per event")


def acts(p: argparse.ArgumentParser, table: Sequence[Act]) -> None:
    """Add words behind a command, each with arguments of its own."""
    group = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser, required=True)
    for name, says, add in table:
        sub = group.add_parser(name, help=says, description=sentence(says), allow_abbrev=False)
        sub.set_defaults(act=name)
        add(sub)
        as_json(sub)


def nothing(p: argparse.ArgumentParser) -> None:
    """Take nothing more."""
    del p


def sentence(text: str) -> str:
    """Return what a command does as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."
