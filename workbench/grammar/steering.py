"""The command `pike steer`, an act of a person's on a running search each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, acts, nothing, session

if TYPE_CHECKING:
    import argparse

    from workbench.grammar.parts import Act


def _steer(p: argparse.ArgumentParser) -> None:
    session(p)
    acts(p, _ACTS)


def _guide(p: argparse.ArgumentParser) -> None:
    p.add_argument("text", metavar="TEXT", nargs="?", default="",
                   help="what the agents should be told; - reads stdin")  # fmt: skip
    p.add_argument("--for", metavar="WHAT", dest="scope", default="session",
                   help="session (default), a lineage (003) or a candidate (c121)")  # fmt: skip
    p.add_argument(
        "--last", metavar="N", type=int, help="for N proposals (default: until withdrawn)"
    )
    p.add_argument("--off", action="store_true", help="end the guides of that scope")


def _ban(p: argparse.ArgumentParser) -> None:
    p.add_argument("candidate", metavar="CANDIDATE", help="c12")
    p.add_argument("--subtree", action="store_true", help="and all that descends from it")
    p.add_argument("--off", action="store_true", help="lift the ban")


def _budget(p: argparse.ArgumentParser) -> None:
    p.add_argument("--queries", metavar="N", help="the new limit of queries")
    p.add_argument("--cost", metavar="USD", help="the new limit of dollars")
    p.add_argument("--time", metavar="HOURS", help="the new limit of hours")


def _pin(p: argparse.ArgumentParser) -> None:
    p.add_argument("candidate", metavar="CANDIDATE", help="c12, or c0: the original")
    p.add_argument("--off", action="store_true", help="take the pin off")


def _boost(p: argparse.ArgumentParser) -> None:
    p.add_argument("target", metavar="WHAT", help="a candidate (c12) or a lineage (003)")
    p.add_argument("weight", metavar="WEIGHT", nargs="?", type=float,
                   help="its weight among those built on: above 0, at most 100; others have 1")  # fmt: skip
    p.add_argument("--off", action="store_true", help="undo the boost")


def _fork(p: argparse.ArgumentParser) -> None:
    p.add_argument("candidate", metavar="CANDIDATE", help="c12, or c0: the original")
    p.add_argument("text", metavar="TEXT", nargs="?", default="",
                   help="what the agents should be told; - reads stdin")  # fmt: skip
    p.add_argument("--count", metavar="N", type=int, default=1, help="how many (default: 1)")
    p.add_argument("--model", metavar="NAME", help="who writes them (default: as everywhere)")


def _submit(p: argparse.ArgumentParser) -> None:
    p.add_argument("file", metavar="FILE", help="a file with ModelNew; - reads stdin")
    p.add_argument("--parent", metavar="CANDIDATE", default="c0",
                   help="what it was made from (default: c0, the original)")  # fmt: skip
    p.add_argument("--fix", action="store_true", help="let the error fixing agent fix it")
    p.add_argument("--author", metavar="NAME", help="who wrote it (default: human)")


def _model(p: argparse.ArgumentParser) -> None:
    p.add_argument("role", metavar="ROLE", choices=("ideas", "improve", "fix", "all"),
                   help="ideas, improve, fix or all")  # fmt: skip
    p.add_argument("model", metavar="NAME", help="the language model; fix: CHEAP,DEAR cascades")


def _edit(p: argparse.ArgumentParser) -> None:
    p.add_argument("steer", metavar="ID", help="s3: a guide, or a fork that waits")
    p.add_argument("text", metavar="TEXT", help="its new words; - reads stdin")


def _withdraw(p: argparse.ArgumentParser) -> None:
    p.add_argument("steer", metavar="ID", help="s3")


_ACTS: tuple[Act, ...] = (
    ("guide", "put words of yours into the agents' prompts", _guide),
    ("pin", "always have a candidate among those built on", _pin),
    ("ban", "never build on a candidate again", _ban),
    ("boost", "build more, or less, on a candidate or a lineage", _boost),
    ("fork", "pay for more answers that begin from a candidate, before all others", _fork),
    ("submit", "hand in a candidate of your own; it costs no query", _submit),
    ("budget", "set new limits", _budget),
    ("model", "have another language model answer from the next query", _model),
    ("withdraw", "take back a guide, pin, ban, boost or fork", _withdraw),
    ("edit", "give a guide, or a fork that waits, new words", _edit),
    ("list", "list every steer and how it stands", nothing),
)


COMMANDS: tuple[Command, ...] = (Command("steer", "change the course of a search", _steer),)
