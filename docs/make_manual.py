"""Writes the tables of docs/manual.md, and the counts of README.md, from what the program really has.

    python docs/make_manual.py [--check]

Between `<!-- NAME -->` and `<!-- end NAME -->` stands generated text; the rest of the page is written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import cast

from mcp_server.selftest.runner import CASES, read
from strategies import registry
from workbench import arguments, config
from workbench.actions import ACTS

DOCS = Path(__file__).parent
PAGES = (DOCS / "manual.md", DOCS.parent / "README.md")


def main() -> None:
    """Write the pages, or with --check say which is not current."""
    parts = {"commands": commands(), "keys": keys(), "settings": settings(), "search": search()}
    parts["cheats"] = cheats()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = filled(text, parts)
        if fresh == text:
            continue
        if "--check" in sys.argv:
            sys.exit(f"{page.name} is not current: python docs/make_manual.py")
        page.write_text(fresh, encoding="utf-8")


def filled(text: str, parts: dict[str, str]) -> str:
    """Return a page with its generated parts made again."""
    for name, part in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.S)
        text = pattern.sub(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", text)
    return text


def commands() -> str:
    """Return every command with its flags."""
    return "\n\n".join(_command(command) for command in arguments.COMMANDS)


def _command(command: arguments.Command) -> str:
    parser = argparse.ArgumentParser(prog=f"pike {command.name}", add_help=False)
    command.arguments(parser)
    lines = [f"**`pike {command.name}`**: {command.says}.", ""]
    rows = [row for row in _rows(parser) if row[0]]
    if rows:
        lines += ["| | |", "| --- | --- |", *(f"| `{flag}` | {says} |" for flag, says in rows)]
    return "\n".join(lines)


def _rows(parser: argparse.ArgumentParser, prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            acts = cast("dict[str, argparse.ArgumentParser]", action.choices)  # pyright: ignore[reportUnknownMemberType] -- untyped
            for name, sub in acts.items():
                rows.append((f"{prefix}{name} …", sub.description or ""))
                rows += _rows(sub, f"{prefix}{name} ")
        else:
            rows.append((prefix + _flag(action), (action.help or "").replace("|", "\\|")))
    return rows


def _flag(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    name = ", ".join(action.option_strings)
    takes = action.nargs != 0
    return (f"{name} {metavar}" if name and takes else name or metavar).replace("|", "\\|")


def keys() -> str:
    """Return every key of the screens."""
    lines = ["| key | act | where | does |", "| --- | --- | --- | --- |"]
    for act in ACTS:
        shown = (act.shown or "ctrl+p").replace("|", "\\|")  # the palette does what has no key
        lines.append(f"| `{shown}` | {act.label} (`{act.id}`) | {act.where} | {act.help} |")
    return "\n".join(lines)


def cheats() -> str:
    """Return how many cases the self-test has, of which kinds."""
    cases = [read(path) for path in sorted(CASES.glob("*.py"))]
    lines = ["| | kinds | cases | of them on a GPU only |", "| --- | --- | --- | --- |"]
    for letter, says in (
        ("K", "cheats, each with the verdict it must get"),
        ("H", "honest oddities that must end `ok`"),
    ):
        ours = [case for case in cases if case.id.startswith(letter)]
        kinds = len({case.id.partition("-")[0] for case in ours})
        on_gpu = sum(case.needs == "cuda" for case in ours)
        lines.append(f"| {says} | {kinds} | {len(ours)} | {on_gpu} |")
    return "\n".join(lines)


def settings() -> str:
    """Return every setting with its variable and default."""
    lines = ["| setting | variable | default | meaning |", "| --- | --- | --- | --- |"]
    for setting in config.SETTINGS:
        default = "" if setting.default is None else str(setting.default)
        words = f" ({', '.join(setting.words)})" if setting.words else ""
        meaning = f"{setting.meaning}{words}"
        lines.append(f"| `{setting.name}` | `{setting.variable}` | {default} | {meaning} |")
    return "\n".join(lines)


def search() -> str:
    """Return the settings of each strategy, for `--set KEY=VALUE`; of a preset what differs."""
    whole: dict[tuple[str, ...], str] = {}
    parts: list[str] = []
    for name in registry.names():
        keys = tuple(described.name for described in registry.describe(name))
        first = whole.setdefault(keys, name)
        told = _settings_of(name) if name == first else _differing(name, first)
        parts.append(f"**{name}**: {registry.says(name)}{told}")
    return "\n\n".join(parts)


def _settings_of(name: str) -> str:
    rows = [
        f"| `{d.name}` | {d.default} | {d.type} | {d.meaning} |" for d in registry.describe(name)
    ]
    head = ["| key | default | takes | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join(["\n", *head, *rows])


def _differing(name: str, first: str) -> str:
    """Return the defaults in which a preset differs from the strategy of the same settings."""
    pairs = zip(registry.describe(name), registry.describe(first), strict=True)
    told = [f"`{one.name}` {one.default}" for one, other in pairs if one.default != other.default]
    return f". As {first}, but {', '.join(told)}"


if __name__ == "__main__":
    main()
