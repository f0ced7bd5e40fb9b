"""Commands that begin a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, boxes, device, evaluator, executor, view

if TYPE_CHECKING:
    import argparse


def _demo(p: argparse.ArgumentParser) -> None:
    device(p)
    boxes(p)
    p.add_argument("--name", metavar="NAME", help="the session's name")
    p.add_argument("--detach", action="store_true", help="start it and return at once")
    view(p)


def _run(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK", help="a KernelBench-format file, or SUITE/NAME")
    search = p.add_argument_group("search")
    search.add_argument("--strategy", metavar="NAME|FILE.py:CLASS",
                        help="the search, or your own (default: pike-b)")  # fmt: skip
    search.add_argument("--model", metavar="NAME", help="the language model of every agent")
    search.add_argument("--fix-model", metavar="NAME", help="for EFA; CHEAP,DEAR cascades")
    search.add_argument("--ideas-model", metavar="NAME", help="for IBA")
    search.add_argument("--thinking", metavar="LEVEL",
                        help="how long models think: off, low, medium, high, a number of tokens, default; or for "
                        "each agent: ideas=high,fix=low")  # fmt: skip
    search.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], dest="assign",
                        help="a setting of the strategy; may be repeated")  # fmt: skip
    search.add_argument("--plain-start", metavar="YES|NO",
                        help="try plain variants before the first query")  # fmt: skip
    search.add_argument("--informed", metavar="YES|NO", help="tell agents the machine's facts")
    search.add_argument("--profile-guided", metavar="YES|NO",
                        help="tell agents the parent's profile")  # fmt: skip
    search.add_argument("--agent-tools", action="store_const", const="yes",
                        help="agents may compile, check, time and profile before they answer")  # fmt: skip
    search.add_argument("--seed", metavar="N", type=int, help="of the search's random draws")
    search.add_argument("--from", metavar="FILE|SESSION:c12", dest="origin",
                        help="a candidate to begin with")  # fmt: skip
    search.add_argument("--instructions", metavar="FILE", help="told to the agents in every prompt")
    budget = p.add_argument_group("budget")
    budget.add_argument("--queries", metavar="N", help="at most N queries (default: 300)")
    budget.add_argument("--cost", metavar="USD", help="at most USD dollars (default: 10)")
    budget.add_argument("--time", metavar="HOURS", help="at most HOURS hours (default: 12)")
    judges = p.add_argument_group("evaluator")
    evaluator(judges)  # pyright: ignore[reportArgumentType] -- has add_argument
    executor(judges)  # pyright: ignore[reportArgumentType] -- has add_argument
    p.add_argument("--name", metavar="NAME", help="the session's name")
    p.add_argument("--notify", metavar="CMD", help="run when it finishes or needs you")
    p.add_argument("--dry-run", action="store_true",
                   help="print checks and what it will probably cost; start nothing")  # fmt: skip
    p.add_argument("--detach", action="store_true", help="start it and return at once")
    p.add_argument("--step", action="store_true", help="take one step, as `pike step`, and return")
    view(p)


COMMANDS: tuple[Command, ...] = (
    Command("demo", "watch a real search with recorded answers; no key, no GPU needed", _demo),
    Command("run", "start a session on a task", _run),
)
