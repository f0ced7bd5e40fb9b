"""Commands that compare searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, acts, as_json, executor, nothing, take_over

if TYPE_CHECKING:
    import argparse

    from workbench.grammar.parts import Act


def _experiment(p: argparse.ArgumentParser) -> None:
    acts(p, _EXPERIMENT_ACTS)


def _experiment_run(p: argparse.ArgumentParser) -> None:
    p.add_argument("file", metavar="FILE", help="TOML: tasks, configurations, repeats, budgets")
    p.add_argument("--name", metavar="NAME", help="the experiment's name (default: the file's)")
    p.add_argument("--dry-run", action="store_true",
                   help="print what it will probably cost; start nothing")  # fmt: skip
    executor(p)
    _detach(p)


def _experiment_resume(p: argparse.ArgumentParser) -> None:
    _experiment_name(p)
    take_over(p, "the engines that ran its sessions on another host are gone")
    _detach(p)


def _experiment_halt(p: argparse.ArgumentParser) -> None:
    _experiment_name(p)
    p.add_argument(
        "--now", action="store_true", help="of every session: see `pike pause`, `pike stop`"
    )


def _experiment_name(p: argparse.ArgumentParser) -> None:
    p.add_argument("name", metavar="NAME", help="an experiment's name, or the beginning of one")


def _detach(p: argparse.ArgumentParser) -> None:
    p.add_argument("--detach", action="store_true", help="drive it from a process of its own")


_EXPERIMENT_ACTS: tuple[Act, ...] = (
    (
        "run",
        "begin an experiment: configurations x tasks x repeats, at equal budget",
        _experiment_run,
    ),
    ("list", "list the experiments", nothing),
    ("show", "show how every run of one stands", _experiment_name),
    ("pause", "begin nothing new, and pause its sessions", _experiment_halt),
    (
        "resume",
        "go on with one that was paused or stopped, or whose runner is gone",
        _experiment_resume,
    ),
    ("stop", "begin nothing new, and stop its sessions", _experiment_halt),
)


def _report(p: argparse.ArgumentParser) -> None:
    p.add_argument("names", metavar="EXPERIMENT|SESSION", nargs="*",
                   help="what it is about (default: all sessions)")  # fmt: skip
    p.add_argument("--out", metavar="DIR",
                   help="write Markdown, figures and tables there, with the numbers behind them")  # fmt: skip
    p.add_argument("--cutoffs", metavar="BUDGETS",
                   help="what was found by then, per run: dollars as 25, queries as 100q (default: 25,50)")  # fmt: skip
    as_json(p)


COMMANDS: tuple[Command, ...] = (
    Command("experiment", "searches compared under equal budgets, from a file", _experiment),
    Command("report", "what searches found, how sure that is, and what it cost", _report),
)
