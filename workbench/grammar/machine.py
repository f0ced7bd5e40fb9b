"""Commands on this machine: what it has, how it is set, what it may free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, as_json

if TYPE_CHECKING:
    import argparse


def _doctor(p: argparse.ArgumentParser) -> None:
    p.add_argument("--selftest", action="store_true", help="run the known cheats here, too")
    p.add_argument("--only", metavar="CASES", help="of the self-test: K22,H3 …")
    p.add_argument("--facts", action="store_true",
                   help="measure, once, what the device can do at most")  # fmt: skip
    p.add_argument("--executor", metavar="WHERE",
                   help="show the machines of local, ray, ray://HEAD[:PORT] or an [evaluators.NAME]")  # fmt: skip
    p.add_argument("--device", metavar="DEVICE", help="of both: cuda:0 .. or cpu")
    p.add_argument("--python", metavar="ENV", help="environment whose torch runs candidates")
    as_json(p)


def _clean(p: argparse.ArgumentParser) -> None:
    p.add_argument("sessions", metavar="S", nargs="*",
                   help="sessions, or experiments, to remove whole, with all lineages; asked by name")  # fmt: skip
    p.add_argument("--yes", action="store_true", help="free it without asking")
    as_json(p)


COMMANDS: tuple[Command, ...] = (
    Command("doctor", "what this machine has, and what to do about the rest", _doctor),
    Command("config", "every setting, its value and where it came from", as_json),
    Command("clean", "show what on disk no session needs, and free it", _clean),
)
