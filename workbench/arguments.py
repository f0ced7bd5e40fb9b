"""The grammar of the command line: every command, and how what was typed is read; nothing is carried out here."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from workbench.errors import WrongUsage, nearest
from workbench.grammar import (
    experiments,
    judging,
    machine,
    results,
    search,
    serving,
    sessions,
    steering,
    tasks,
)
from workbench.grammar.parts import Command, Parser, sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return what was typed, with `command` empty for `pike` alone.

    Raises:
        WrongUsage: an unknown command, with the nearest name; or wrong flags.
    """
    if argv and not argv[0].startswith("-") and argv[0] not in BY_NAME:
        hint = nearest(argv[0], BY_NAME)
        raise WrongUsage(f"There is no command {argv[0]!r}.{hint} See `pike --help`.")
    words = list(argv)
    rest: list[str] = []
    if words[:1] == ["git"]:
        words, rest = words[:2], words[3:] if words[2:3] == ["--"] else words[2:]
    top = parser()
    found, unknown = top.parse_known_args(words)
    if unknown:
        raise WrongUsage(_unrecognized(_innermost(top, words), unknown))
    found.rest = rest
    return found


def _unrecognized(inner: argparse.ArgumentParser, unknown: Sequence[str]) -> str:
    """Return the refusal of words that mean nothing, with the flag that is nearest to the first."""
    flag = next((word for word in unknown if word.startswith("-")), unknown[0]).partition("=")[0]
    known = inner._option_string_actions
    if flag in known:
        return f"{flag} stands before `{inner.prog}`, but belongs behind it."
    return f"unrecognized: {' '.join(unknown)}.{nearest(flag, known)} See `{inner.prog} --help`."


def _innermost(outer: argparse.ArgumentParser, words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the command, or of the act of it, that was typed."""
    choices: dict[str, argparse.ArgumentParser] = {}
    for action in outer._actions:  # pyright: ignore[reportPrivateUsage]
        named: object = action.choices
        if isinstance(named, dict):  # only parsers are chosen by name
            choices = cast("dict[str, argparse.ArgumentParser]", named)
    place = next((n for n, word in enumerate(words) if word in choices), None)
    return outer if place is None else _innermost(choices[words[place]], words[place + 1 :])


def parser() -> argparse.ArgumentParser:
    """Return the whole grammar."""
    top = Parser(
        prog="pike",
        description="LLM agents make PyTorch models run faster on a GPU; you watch and steer. "
        "`pike` alone opens the screens.",
        allow_abbrev=False,
    )
    top.set_defaults(command="")
    top.add_argument("--version", action="store_true", help="print the version and leave")
    group = top.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        sub = group.add_parser(
            command.name, help=command.says, description=sentence(command.says), allow_abbrev=False
        )
        sub.set_defaults(command=command.name)
        command.arguments(sub)
    return top


COMMANDS: tuple[Command, ...] = (
    *search.COMMANDS,
    *sessions.COMMANDS,
    *steering.COMMANDS,
    *results.COMMANDS,
    *judging.COMMANDS,
    *tasks.COMMANDS,
    *experiments.COMMANDS,
    *serving.COMMANDS,
    *machine.COMMANDS,
)
"""In the order in which `pike --help` and the manual name them."""
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}
