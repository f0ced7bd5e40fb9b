"""Commands on tasks and suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, Parser, as_json, where

if TYPE_CHECKING:
    import argparse


def _tasks(p: argparse.ArgumentParser) -> None:
    p.add_argument("what", metavar="ACT|SUITE", nargs="?", default="",
                   help="show: one task whole; qualify: which of many can judge candidates; "
                   "else only the tasks of that suite, or of a level of it")  # fmt: skip
    p.add_argument("ids", metavar="TASK", nargs="*",
                   help="an id; for qualify also files, folders and suites")  # fmt: skip
    p.add_argument("--list", metavar="FILE", help="qualify what a file lists, one path a line")
    p.add_argument("--no-baselines", action="store_true", help="qualify: time nothing")
    p.add_argument("--cheats", action="store_true", help="qualify: try generic cheats on each")
    p.add_argument("--limit", metavar="SECONDS", type=float,
                   help="qualify: for each task (default: 300)")  # fmt: skip
    p.add_argument("--table", metavar="FILE", help="qualify: write a Markdown table there")
    where(p)
    as_json(p)


def _task(p: argparse.ArgumentParser) -> None:
    acts = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser, required=True)
    new = acts.add_parser("new", help="write a task from a class of yours, and qualify it")
    new.set_defaults(act="new")
    new.add_argument("module", metavar="PACKAGE.MODULE:CLASS",
                     help="the class, or a function that returns a module")  # fmt: skip
    new.add_argument("--init", metavar="[NAME=]VALUE", action="append", default=[],
                     help="an argument of its constructor, as Python: 64, heads=4, \"'gelu'\"")  # fmt: skip
    new.add_argument("--input", metavar="[NAME=]SHAPE[,SHAPE][:DTYPE[:LOW..HIGH]]",
                     action="append", default=[],
                     help="of forward: 8x128x64; 1x64,32x64:bfloat16; ids=4x128:int64:0..50257")  # fmt: skip
    new.add_argument(
        "--checkpoint", metavar="FILE", help="its weights: .pt, .pth, .bin, .safetensors"
    )
    new.add_argument("--project", metavar="DIR",
                     help="the folder that holds it: tasks may read it then (default: this one)")  # fmt: skip
    new.add_argument("-o", "--output", metavar="FILE", help="write it there (default: CLASS.py)")
    new.add_argument("--limit", metavar="SECONDS", type=float,
                     help="for its qualification (default: 300)")  # fmt: skip
    where(new)
    as_json(new)


def _suite(p: argparse.ArgumentParser) -> None:
    acts = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser, required=True)
    add = acts.add_parser("add", help="list the tasks of a folder as SUITE/NAME; nothing is copied")
    add.add_argument("format", metavar="FORMAT", choices=("kernelbench",),
                     help="of its files: kernelbench, each with Model, get_inputs and get_init_inputs")  # fmt: skip
    add.add_argument("path", metavar="PATH",
                     help="a checkout of KernelBench or PIKE, or any folder of such files")  # fmt: skip
    add.add_argument(
        "--name", metavar="NAME", default="", help="of the suite (default: kernelbench)"
    )
    listed = acts.add_parser("list", help="list the suites that were added")
    remove = acts.add_parser("remove", help="forget a suite; its folder stays as it is")
    remove.add_argument("name", metavar="NAME", help="of the suite")
    baselines = acts.add_parser(
        "baselines", help="measure plain PyTorch, and candidates you have, without a search"
    )
    baselines.add_argument("tasks", metavar="SUITE|TASK", nargs="+",
                           help="suites, levels of them, ids, files or folders")  # fmt: skip
    baselines.add_argument("--candidates", metavar="DIR", action="append", default=[],
                           help="measure its files, named or numbered as the tasks; may be repeated")  # fmt: skip
    baselines.add_argument("--output", metavar="FILE.md", help="write a Markdown table there")
    baselines.add_argument("--full", action="store_true",
                           help="max-autotune and TensorRT, too; candidates in three pairs of processes")  # fmt: skip
    baselines.add_argument("--limit", metavar="SECONDS", type=float,
                           help="for each task's qualification (default: 300; with --full 900)")  # fmt: skip
    where(baselines)
    for name, sub in (("add", add), ("list", listed), ("remove", remove), ("baselines", baselines)):
        sub.set_defaults(act=name)
        as_json(sub)


COMMANDS: tuple[Command, ...] = (
    Command("tasks", "list the tasks, show one, or qualify whole suites", _tasks),
    Command("task", "a task made from a class of yours", _task),
    Command("suite", "folders of tasks: added, listed, removed, measured without a search", _suite),
)
