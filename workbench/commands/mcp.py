"""`pike mcp`: the MCP server, on stdio or over HTTP; its entry in a client's settings; its tokens."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import config, mcp_install
from workbench.errors import DONE, WrongUsage, nearest
from workbench.mcp_entries import CLIENTS, TOKEN_VARIABLE, Reach

if TYPE_CHECKING:
    import argparse

    from workbench.mcp_entries import ClientKind
    from workbench.printing import Printer

_PASSED_ON = ("PIKE_HOME", "CUDA_HOME", "CUDA_PATH")
"""Variables that some clients do not hand to their servers."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Serve, or do what the act says."""
    match typed.act:
        case "install":
            return _install(typed, printer)
        case "token":
            return _token(typed, printer)
        case _:
            return _serve(typed, printer)


def _serve(typed: argparse.Namespace, printer: Printer) -> int:
    """Serve until the client is gone, or a signal comes. On stdio, stdout is the wire: nothing is printed there."""
    from workbench import mcp_command

    settings = config.load({name: getattr(typed, name) for name in ("device", "sandbox", "python")})
    for warning in settings.warnings:
        printer.talk(f"pike: {warning}")
    if typed.http is None:
        _refuse_web_flags(typed)
        if sys.stdin.isatty():
            printer.talk(
                "pike: serving MCP on this terminal, which is for programs: a client starts `pike mcp` by itself, "
                "see `pike mcp install CLIENT`. Ctrl-C ends it."
            )
        mcp_command.stdio(settings, engine=typed.engine, executor=typed.executor)
        return DONE
    file = Path(typed.token_file).expanduser() if typed.token_file else None
    web = mcp_command.web(typed.http, file, typed.allow_host)
    say = partial(_say, printer)
    mcp_command.http(settings, web, say, engine=typed.engine, executor=typed.executor)
    return DONE


def _say(printer: Printer, line: str) -> None:
    printer.talk(f"pike: {line}")


def _refuse_web_flags(typed: argparse.Namespace) -> None:
    for flag, value in (("--token-file", typed.token_file), ("--allow-host", typed.allow_host)):
        if value:
            raise WrongUsage(f"{flag} is for HTTP: give --http, too.")


def _token(typed: argparse.Namespace, printer: Printer) -> int:
    from workbench import mcp_command

    path = Path(typed.into).expanduser() if typed.into else mcp_command.default_token_file()
    printer.data(mcp_command.token(path, typed.name, typed.scopes))
    printer.talk(
        f"Shown once; {path} keeps its digest. Servers that use that file know it already. Take its line out to end it."
    )
    return DONE


def _install(typed: argparse.Namespace, printer: Printer) -> int:
    kind = CLIENTS.get(typed.client)
    if kind is None:
        known = ", ".join(CLIENTS)
        raise WrongUsage(
            f"There is no client {typed.client!r}.{nearest(typed.client, CLIENTS)} There are: {known}."
        )
    reach = _reach(typed)
    entry = kind.entry(reach)
    path = _file(kind, project=typed.project)
    if typed.write:
        _written(kind, mcp_install.planned(kind, entry, _writable(kind, path)), printer)
    else:
        if path is not None:
            printer.talk(f"For {kind.title}, in {path} (--write puts it there):")
        printer.data(mcp_install.snippet(kind, entry).rstrip("\n"))
    for note in _notes(kind, reach):
        printer.talk(note)
    return DONE


def _file(kind: ClientKind, *, project: bool) -> Path | None:
    if kind.user is None:
        return None
    return Path.cwd() / kind.project if project else kind.user(os.environ)


def _writable(kind: ClientKind, path: Path | None) -> Path:
    if path is None:
        raise WrongUsage(
            f"{kind.name} has no settings file that is known: copy what is printed without --write."
        )
    if path.suffix == ".json" and not path.exists() and path.with_suffix(".jsonc").exists():
        raise WrongUsage(
            f"{path.with_suffix('.jsonc')} holds comments that would be lost: copy what is printed without --write."
        )
    return path


def _written(kind: ClientKind, change: mcp_install.Change, printer: Printer) -> None:
    if change.is_made:
        printer.talk(f"{change.path} has it already: nothing was written.")
        return
    printer.data(change.diff().rstrip("\n"))
    kept = mcp_install.make(change)
    old = f"; as it was: {kept}" if kept else ""
    printer.talk(f"Written: {change.path}{old}. Start {kind.title} anew to use it.")


def _notes(kind: ClientKind, reach: Reach) -> list[str]:
    token = f"Set {TOKEN_VARIABLE} to the token before the client starts." if reach.url else ""
    return [note for note in (token, kind.note) if note]


def _reach(typed: argparse.Namespace) -> Reach:
    if typed.url:
        if not re.match(r"https?://[^\s/]+/", typed.url):
            raise WrongUsage(
                f"{typed.url!r} is no URL of a server: for example http://127.0.0.1:8765/mcp."
            )
        if re.search(r"//[^/]*@|[?&#]", typed.url):
            raise WrongUsage(f"a URL is no place for a token: it is taken from ${TOKEN_VARIABLE}.")
        return Reach(url=typed.url)
    if typed.ssh:
        if typed.ssh.startswith("-"):
            raise WrongUsage(f"{typed.ssh!r} is no host.")
        # -T: no terminal, so that nothing but the protocol passes; BatchMode: no question for a password
        return Reach(("ssh", "-T", "-o", "BatchMode=yes", typed.ssh, "pike", "mcp"))
    environment = {name: os.environ[name] for name in _PASSED_ON if os.environ.get(name)}
    return Reach((*_program(), "mcp"), environment)


def _program() -> tuple[str, ...]:
    """Return what starts this very `pike`, wherever the client looks for programs."""
    beside = Path(sys.executable).parent / "pike"
    return (str(beside),) if beside.exists() else (sys.executable, "-P", "-m", "workbench")
