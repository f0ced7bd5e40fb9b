"""`python -m mcp_server`: the evaluator as a server and as plain commands; data on stdout, talk on stderr."""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server.clean import printable
from mcp_server.errors import EvaluatorError, Mistyped
from mcp_server.home import folder as home

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_server.setting import Setting

_SANDBOXES = ("strict", "best-effort", "bwrap", "landlock", "process")


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m mcp_server", description=__doc__)
    commands = top.add_subparsers(dest="command")
    serve = commands.add_parser("serve", help="MCP over stdio (the default), or over HTTP")
    _listening(serve)
    serve.add_argument("--engine", action="store_true", help="offer evaluate_kernel")
    serve.add_argument(
        "--executor", metavar="WHERE", default="local", help="local, ray, or ray://HEAD[:PORT]"
    )
    evaluate = commands.add_parser("evaluate", help="verdicts on candidates, as JSON")
    evaluate.add_argument("task", help="SUITE/NAME or a KernelBench-format file")
    evaluate.add_argument("candidates", nargs="+", help="files with class ModelNew")
    evaluate.add_argument("--precision", choices=("fp32", "tf32", "half"), default="half")
    evaluate.add_argument("--full", action="store_true", help="three fresh process pairs")
    evaluate.add_argument("--tolerance", choices=("budget", "paper"), default="budget")
    tasks = commands.add_parser("tasks", help="the tasks")
    tasks.add_argument("--add", metavar="FILE", help="keep a file as local/STEM-SHA8")
    tasks.add_argument("--look", metavar="FILE", help="say what it would be kept as; write nothing")
    tasks.add_argument(
        "--reads",
        metavar="PATH",
        action="append",
        default=[],
        help="what it may read, if it names it",
    )
    tasks.add_argument("--find", metavar="NAME", help="only the tasks that a name may mean")
    tasks.add_argument("--python", metavar="ENV", help="the environment whose packages count")
    suite = commands.add_parser("suite", help="folders of tasks: added, listed, removed")
    suite.add_argument("act", choices=("add", "list", "remove"))
    suite.add_argument("name", nargs="?", default="", help="of the suite")
    suite.add_argument("path", nargs="?", default="", help="its folder, to add it")
    doctor = commands.add_parser("doctor", help="what this machine has")
    doctor.add_argument(
        "--output", metavar="FILE", type=Path, help="write a table of what the sandbox keeps back"
    )
    profile = commands.add_parser("profile", help="where the time goes")
    profile.add_argument("task", help="SUITE/NAME or a KernelBench-format file")
    profile.add_argument("--candidate", metavar="FILE", help="with class ModelNew, not the task")
    profile.add_argument("--full", action="store_true", help="max-autotune and TensorRT, too")
    profile.add_argument("--precision", choices=("fp32", "tf32", "half"), default="half")
    replay = commands.add_parser("replay", help="judge an evidence bundle again")
    replay.add_argument("bundle", help="a file that `bundle` wrote")
    bundle = commands.add_parser("bundle", help="write an evidence bundle of what is on stdin")
    bundle.add_argument("file", help="where to write it")
    facts = commands.add_parser("facts", help="what a device can do at most, measured once")
    selftest = commands.add_parser("selftest", help="known cheats and honest oddities, run here")
    selftest.add_argument("ids", nargs="*", help="only these cases")
    selftest.add_argument("--output", metavar="FILE", type=Path, help="write a Markdown table")
    for command in (serve, selftest):
        _overlapping(command)
    qualify = commands.add_parser("qualify", help="which tasks can judge candidates, how finely")
    _qualifying(qualify)
    baselines = commands.add_parser("baselines", help="plain PyTorch and candidates on suites")
    _measuring(baselines)
    for command in (serve, evaluate, profile, replay, doctor, facts, selftest, qualify, baselines):
        _placing(command)
    for command in (evaluate, profile, replay, tasks, doctor, facts, selftest, qualify, baselines):
        command.add_argument("--json", action="store_true", help="JSON on stdout")
    return top


def _overlapping(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--overlap",
        choices=("on", "off"),
        default="on",
        help="build ahead, and share the device until something is timed",
    )


def _listening(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--http", metavar="HOST:PORT", nargs="?", const="127.0.0.1:8765")
    serve.add_argument("--token-file", metavar="FILE", type=Path, help="who may call over HTTP")
    serve.add_argument("--allow-host", metavar="NAME", action="append", default=[])


def _qualifying(qualify: argparse.ArgumentParser) -> None:
    qualify.add_argument("paths", nargs="*", help="files, folders, ids or suites")
    qualify.add_argument("--list", metavar="FILE", help="a file that lists more, one a line")
    qualify.add_argument("--precision", choices=("fp32", "tf32", "half"), default="half")
    qualify.add_argument("--no-baselines", action="store_true", help="measure no baseline")
    qualify.add_argument("--cheats", action="store_true", help="try generic cheats on each")
    qualify.add_argument("--limit", type=float, default=300, help="seconds for each task")
    qualify.add_argument("--table", metavar="FILE", help="write a Markdown table")


def _measuring(baselines: argparse.ArgumentParser) -> None:
    baselines.add_argument("paths", nargs="+", help="files, folders, ids or suites")
    baselines.add_argument(
        "--candidates", metavar="DIR", action="append", default=[], help="measure these, too"
    )
    baselines.add_argument("--precision", choices=("fp32", "tf32", "half"), default="half")
    baselines.add_argument("--limit", type=float, help="seconds for each task")
    baselines.add_argument(
        "--full", action="store_true", help="max-autotune and TensorRT, too; three pairs each"
    )
    baselines.add_argument("--output", metavar="FILE", help="write a Markdown table")


def _placing(command: argparse.ArgumentParser) -> None:
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    command.add_argument("--sandbox", choices=_SANDBOXES, default="best-effort")
    command.add_argument("--python", metavar="ENV", help="the environment of judge and workers")


def setting(arguments: argparse.Namespace) -> Setting:
    """Return what the flags choose."""
    from mcp_server.setting import Setting

    return Setting(
        home=home(),
        python=arguments.python,
        sandbox=arguments.sandbox,
        device=arguments.device,
        executor=getattr(arguments, "executor", "local"),
        overlap=getattr(arguments, "overlap", "on") == "on",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run one command and return its exit code."""
    match arguments.command:
        case "serve":
            return _serve(arguments)
        case "tasks" | "suite" | "qualify" | "baselines":
            return _about_tasks(arguments)
        case "doctor":
            from mcp_server import doctor

            return doctor.main(setting(arguments), as_json=arguments.json, output=arguments.output)
        case "facts":
            from mcp_server import facts_command

            return facts_command.main(setting(arguments), as_json=arguments.json)
        case "bundle":
            from mcp_server import replay_command

            return replay_command.write(home(), Path(arguments.file))
        case "replay":
            from mcp_server import replay_command

            path = Path(arguments.bundle)
            return replay_command.main(setting(arguments), path, as_json=arguments.json)
        case "profile":
            from mcp_server import profile_command

            return profile_command.main(setting(arguments), arguments)
        case "evaluate":
            from mcp_server import evaluate_command

            return evaluate_command.main(setting(arguments), arguments)
        case _:
            from mcp_server.selftest import runner

            return runner.main(
                setting(arguments),
                arguments.ids,
                as_json=arguments.json,
                output=arguments.output,
            )


def _about_tasks(arguments: argparse.Namespace) -> int:
    match arguments.command:
        case "tasks":
            from mcp_server import listing_command

            wanted = listing_command.Wanted(
                arguments.add, arguments.look, arguments.find, arguments.reads, arguments.python
            )
            return listing_command.tasks(home(), wanted, as_json=arguments.json)
        case "suite":
            from mcp_server import suite_command

            return suite_command.main(home(), arguments)
        case "baselines":
            from mcp_server import baselines_command

            return baselines_command.main(setting(arguments), arguments)
        case _:
            from mcp_server import qualify_command

            return qualify_command.main(setting(arguments), arguments)


def _serve(arguments: argparse.Namespace) -> int:
    from mcp_server.app import Web, serve_http, serve_stdio

    chosen, engine = setting(arguments), arguments.engine
    if arguments.http is None:
        anyio.run(partial(serve_stdio, chosen, engine=engine))
        return 0
    web = Web(arguments.http, arguments.token_file, tuple(arguments.allow_host))
    anyio.run(partial(serve_http, chosen, web, _tell, engine=engine))
    return 0


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, run, and say what went wrong in one line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "serve")
    arguments = parser().parse_args(words)
    logging.basicConfig(level="WARNING", stream=sys.stderr, format="%(name)s: %(message)s")
    try:
        return run(arguments)
    except EvaluatorError as error:
        _say(error)
        return _code(error)
    except ExceptionGroup as group:  # what was raised inside a task group
        told, unexpected = group.split(EvaluatorError)
        if told is None or unexpected is not None:
            raise
        leaves = list(_leaves(told))
        for error in leaves:
            _say(error)
        return min(map(_code, leaves))
    except KeyboardInterrupt:
        return 130


def _code(error: EvaluatorError) -> int:
    return 2 if isinstance(error, Mistyped) else 1


def _say(error: EvaluatorError) -> None:
    sys.stderr.write(f"pike: {printable(str(error))}\n")  # it may name files, as they are called


def _leaves(group: ExceptionGroup[EvaluatorError]) -> Iterator[EvaluatorError]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


if __name__ == "__main__":
    sys.exit(main())
