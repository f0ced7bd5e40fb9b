"""The grammar of the command line: every command, flag and word; nothing is carried out here."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from workbench.errors import WrongUsage, nearest

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
            command.name, help=command.says, description=_sentence(command.says), allow_abbrev=False
        )
        sub.set_defaults(command=command.name)
        command.arguments(sub)
    return top


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _json(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print JSON")


def _session(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="S", help="a session's name, or the beginning of one")


def _evaluator(p: argparse.ArgumentParser) -> None:
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")
    p.add_argument("--precision", metavar="POLICY", help="fp32, tf32 or half (default: half)")
    p.add_argument("--tolerance", metavar="RULE", help="budget or paper (default: budget)")
    _boxes(p)


def _where(p: argparse.ArgumentParser) -> None:
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")
    p.add_argument("--precision", metavar="POLICY", help="fp32, tf32 or half (default: half)")
    _boxes(p)


def _boxes(p: argparse.ArgumentParser) -> None:
    p.add_argument("--sandbox", metavar="LEVEL", help="strict or best-effort")
    p.add_argument("--python", metavar="ENV", help="environment whose torch runs candidates")


def _view(p: argparse.ArgumentParser) -> None:
    p.add_argument("--plain", action="store_true", help="print a line per event, open no screen")
    p.add_argument("--json", action="store_true", help="print a JSON line per event")


def _demo(p: argparse.ArgumentParser) -> None:
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")
    p.add_argument("--sandbox", metavar="LEVEL", help="strict or best-effort")
    p.add_argument("--python", metavar="ENV", help="environment whose torch runs candidates")
    p.add_argument("--name", metavar="NAME", help="the session's name")
    p.add_argument("--detach", action="store_true", help="start it and return at once")
    _view(p)


def _run(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK", help="a KernelBench-format file, or SUITE/NAME")
    search = p.add_argument_group("search")
    search.add_argument("--strategy", metavar="NAME|FILE.py:CLASS",
                        help="the search, or your own (default: pike-b)")  # fmt: skip
    search.add_argument("--model", metavar="NAME", help="the language model of every agent")
    search.add_argument("--fix-model", metavar="NAME", help="for EFA; CHEAP,DEAR cascades")
    search.add_argument("--ideas-model", metavar="NAME", help="for IBA")
    search.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], dest="assign",
                        help="a setting of the strategy; may be repeated")  # fmt: skip
    search.add_argument("--plain-start", metavar="YES|NO",
                        help="try plain variants before the first query")  # fmt: skip
    search.add_argument("--informed", metavar="YES|NO", help="tell agents the machine's facts")
    search.add_argument("--profile-guided", metavar="YES|NO",
                        help="tell agents the parent's profile")  # fmt: skip
    search.add_argument("--seed", metavar="N", type=int, help="of the search's random draws")
    search.add_argument("--from", metavar="FILE|SESSION:c12", dest="origin",
                        help="a candidate to begin with")  # fmt: skip
    search.add_argument("--instructions", metavar="FILE", help="told to the agents in every prompt")
    budget = p.add_argument_group("budget")
    budget.add_argument("--queries", metavar="N", help="at most N queries (default: 300)")
    budget.add_argument("--cost", metavar="USD", help="at most USD dollars (default: 10)")
    budget.add_argument("--time", metavar="HOURS", help="at most HOURS hours (default: 12)")
    _evaluator(p.add_argument_group("evaluator"))  # pyright: ignore[reportArgumentType] -- has add_argument
    p.add_argument("--name", metavar="NAME", help="the session's name")
    p.add_argument("--notify", metavar="CMD", help="run when it finishes or needs you")
    p.add_argument("--dry-run", action="store_true",
                   help="print checks and what it will probably cost; start nothing")  # fmt: skip
    p.add_argument("--detach", action="store_true", help="start it and return at once")
    p.add_argument("--step", action="store_true", help="take one step, as `pike step`, and return")
    _view(p)


def _show(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("candidate", metavar="CANDIDATE", nargs="?", help="c12: that attempt, whole")
    _json(p)


def _compare(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("others", metavar="CANDIDATE|SESSION", nargs="+",
                   help="c12 c138: attempts of S; or other sessions on the same task")  # fmt: skip
    p.add_argument("--again", action="store_true",
                   help="time the attempts again, back to back; enters no journal")  # fmt: skip
    p.add_argument("--diff", action="store_true", help="print the patch from the first to the last")
    _json(p)


def _tail(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("--follow", "-f", action="store_true", help="go on until the search ends")
    _json(p)


def _now(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("--now", action="store_true", help="cancel evaluations; keep what was paid")


def _stop(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("--now", action="store_true", help="at once: calls in flight are lost")


def _step(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.add_argument("--resume", action="store_true", help="go on even where a person paused it")
    p.add_argument("--take-over", action="store_true",
                   help="the engine that ran it on another host is gone")  # fmt: skip
    _json(p)


def _steer(p: argparse.ArgumentParser) -> None:
    _session(p)
    _acts(p, _ACTS)


def _acts(p: argparse.ArgumentParser, acts: Sequence[Act]) -> None:
    group = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser, required=True)
    for name, says, add in acts:
        sub = group.add_parser(name, help=says, description=_sentence(says), allow_abbrev=False)
        sub.set_defaults(act=name)
        add(sub)
        _json(sub)


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


def _nothing(p: argparse.ArgumentParser) -> None:
    del p


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
    ("list", "list every steer and how it stands", _nothing),
)


def _best(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="S", nargs="?", default="",
                   help="a session's name, or the beginning of one")  # fmt: skip
    p.add_argument("-o", "--output", metavar="FILE", help="write it there (default: stdout)")
    p.add_argument("--bundle", metavar="FILE",
                   help="write its evidence instead, for `pike replay`")  # fmt: skip
    p.add_argument("--all", metavar="DIR", default="",
                   help="write the winner of every task there, with provenance and evidence")  # fmt: skip


def _git(p: argparse.ArgumentParser) -> None:
    _session(p)
    p.usage = "pike git S -- ARGS..."


def _evaluate(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK", help="a KernelBench-format file, or SUITE/NAME")
    p.add_argument("candidates", metavar="CANDIDATE", nargs="+", help="files with ModelNew")
    p.add_argument("--full", action="store_true",
                   help="three fresh process pairs, and the baselines that take minutes")  # fmt: skip
    _evaluator(p)
    _json(p)


def _profile(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK|SESSION:c12",
                   help="a KernelBench-format file, SUITE/NAME, or an attempt")  # fmt: skip
    p.add_argument("--candidate", metavar="FILE", help="profile this file's ModelNew instead")
    p.add_argument("--full", action="store_true",
                   help="measure the baselines that take minutes, too: max-autotune, TensorRT")  # fmt: skip
    _where(p)
    _json(p)


def _replay(p: argparse.ArgumentParser) -> None:
    p.add_argument("bundle", metavar="BUNDLE", help="a file that `pike best --bundle` wrote")
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")
    _boxes(p)
    _json(p)


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
    _where(p)
    _json(p)


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
    _where(new)
    _json(new)


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
    baselines.add_argument("--limit", metavar="SECONDS", type=float,
                           help="for each task's qualification (default: 300)")  # fmt: skip
    _where(baselines)
    for name, sub in (("add", add), ("list", listed), ("remove", remove), ("baselines", baselines)):
        sub.set_defaults(act=name)
        _json(sub)


def _experiment(p: argparse.ArgumentParser) -> None:
    _acts(p, _EXPERIMENT_ACTS)


def _experiment_run(p: argparse.ArgumentParser) -> None:
    p.add_argument("file", metavar="FILE", help="TOML: tasks, configurations, repeats, budgets")
    p.add_argument("--name", metavar="NAME", help="the experiment's name (default: the file's)")
    p.add_argument("--dry-run", action="store_true",
                   help="print what it will probably cost; start nothing")  # fmt: skip
    _detach(p)


def _experiment_resume(p: argparse.ArgumentParser) -> None:
    _experiment_name(p)
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
    ("list", "list the experiments", _nothing),
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
    _json(p)


def _mcp(p: argparse.ArgumentParser) -> None:
    p.set_defaults(act="")
    p.add_argument("--http", metavar="HOST:PORT", nargs="?", const="",
                   help="serve many clients over HTTP, with tokens (default: 127.0.0.1:8765)")  # fmt: skip
    p.add_argument("--token-file", metavar="FILE",
                   help="who may call over HTTP (default: mcp-tokens.jsonl in the state folder, if there)")  # fmt: skip
    p.add_argument("--allow-host", metavar="NAME", action="append", default=[],
                   help="NAME or NAME:PORT in the clients' URLs; needed beyond this machine")  # fmt: skip
    p.add_argument("--engine", action="store_true", help="offer evaluate_kernel to every client")
    p.add_argument("--device", metavar="DEVICE", help="cuda:0 .. or cpu (default: the first GPU)")
    _boxes(p)
    acts = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser)
    for name, says, add in _MCP_ACTS:
        sub = acts.add_parser(name, help=says, description=_sentence(says), allow_abbrev=False)
        sub.set_defaults(act=name)
        add(sub)


def _mcp_install(p: argparse.ArgumentParser) -> None:
    p.add_argument("client", metavar="CLIENT", help="claude, codex, gemini, opencode or generic")
    p.add_argument("--write", action="store_true",
                   help="show the change to the settings file and make it; the old one is kept")  # fmt: skip
    p.add_argument("--project", action="store_true",
                   help="for this folder's project, not for all of yours")  # fmt: skip
    way = p.add_mutually_exclusive_group()
    way.add_argument("--ssh", metavar="HOST", help="the server runs there: `ssh HOST pike mcp`")
    way.add_argument("--url", metavar="URL",
                     help="the server listens there (`pike mcp --http`); the token: $PIKE_MCP_TOKEN")  # fmt: skip


def _mcp_token(p: argparse.ArgumentParser) -> None:
    p.add_argument("name", metavar="NAME", help="the client that will have it")
    p.add_argument("--scope", metavar="SCOPE", action="append", default=[], dest="scopes",
                   help="more than the kernel tools: engine, tasks or sessions:all; may be given again")  # fmt: skip
    p.add_argument("--token-file", metavar="FILE", dest="into",
                   help="where its digest is kept (default: mcp-tokens.jsonl in the state folder)")  # fmt: skip


_MCP_ACTS: tuple[Act, ...] = (
    (
        "install",
        "print the server's entry for a client's settings, or write it there",
        _mcp_install,
    ),
    ("token", "make a token for the server over HTTP; it is shown once", _mcp_token),
)


def _doctor(p: argparse.ArgumentParser) -> None:
    p.add_argument("--selftest", action="store_true", help="run the known cheats here, too")
    p.add_argument("--only", metavar="CASES", help="of the self-test: K22,H3 …")
    p.add_argument("--facts", action="store_true",
                   help="measure, once, what the device can do at most")  # fmt: skip
    p.add_argument("--device", metavar="DEVICE", help="of both: cuda:0 .. or cpu")
    p.add_argument("--python", metavar="ENV", help="environment whose torch runs candidates")
    _json(p)


def _clean(p: argparse.ArgumentParser) -> None:
    p.add_argument("sessions", metavar="S", nargs="*",
                   help="sessions to remove whole, with their lineages; asked by name")  # fmt: skip
    p.add_argument("--yes", action="store_true", help="free it without asking")
    _json(p)


COMMANDS: tuple[Command, ...] = (
    Command("demo", "watch a real search with recorded answers; no key, no GPU needed", _demo),
    Command("run", "start a session on a task", _run),
    Command("sessions", "list the sessions", _json),
    Command("show", "show a session or one attempt", _show),
    Command("compare", "attempts of a session, or sessions on one task, side by side", _compare),
    Command("tail", "print what happened, a line per event", _tail),
    Command("attach", "open the live screen of a session", _session),
    Command("pause", "start nothing new; what is in flight finishes", _now, "control"),
    Command("resume", "go on; also revives a crashed or stopped engine", _session, "control"),
    Command("stop", "pause, then end the engine", _stop, "control"),
    Command("step", "run until only others can go on; say what is awaited", _step),
    Command("steer", "change the course of a search", _steer),
    Command("best", "write the best candidate", _best),
    Command("git", "git on the session's repository", _git),
    Command("evaluate", "judge candidates without a session", _evaluate),
    Command("replay", "judge the evidence of a best again: does the claim stand", _replay),
    Command("profile", "where the time goes, and what is left to gain", _profile),
    Command("tasks", "list the tasks, show one, or qualify whole suites", _tasks),
    Command("task", "a task made from a class of yours", _task),
    Command("suite", "folders of tasks: added, listed, removed, measured without a search", _suite),
    Command("experiment", "searches compared under equal budgets, from a file", _experiment),
    Command("report", "what searches found, how sure that is, and what it cost", _report),
    Command("mcp", "serve the evaluator over MCP, on stdio or over HTTP", _mcp),
    Command("doctor", "what this machine has, and what to do about the rest", _doctor),
    Command("config", "every setting, its value and where it came from", _json),
    Command("clean", "show what on disk no session needs, and free it", _clean),
)
BY_NAME: dict[str, Command] = {command.name: command for command in COMMANDS}
