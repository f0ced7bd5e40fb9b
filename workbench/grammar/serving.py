"""The command `pike mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, Parser, boxes, device, sentence

if TYPE_CHECKING:
    import argparse

    from workbench.grammar.parts import Act


def _mcp(p: argparse.ArgumentParser) -> None:
    p.set_defaults(act="")
    p.add_argument("--http", metavar="HOST:PORT", nargs="?", const="",
                   help="serve many clients over HTTP, with tokens (default: 127.0.0.1:8765)")  # fmt: skip
    p.add_argument("--token-file", metavar="FILE",
                   help="who may call over HTTP (default: mcp-tokens.jsonl in the state folder, if there)")  # fmt: skip
    p.add_argument("--allow-host", metavar="NAME", action="append", default=[],
                   help="NAME or NAME:PORT in the clients' URLs; needed beyond this machine")  # fmt: skip
    p.add_argument("--engine", action="store_true", help="offer evaluate_kernel to every client")
    p.add_argument("--executor", metavar="WHERE", default="local",
                   help="whose hosts evaluate: local, ray or ray://HEAD[:PORT] (default: local)")  # fmt: skip
    device(p)
    boxes(p)
    acts = p.add_subparsers(title="acts", metavar="ACT", parser_class=Parser)
    for name, says, add in _MCP_ACTS:
        sub = acts.add_parser(name, help=says, description=sentence(says), allow_abbrev=False)
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


COMMANDS: tuple[Command, ...] = (
    Command("mcp", "serve the evaluator over MCP, on stdio or over HTTP", _mcp),
)
