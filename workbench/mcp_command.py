"""`pike mcp`: the evaluator's server. The one place where the workbench imports the evaluator."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

import anyio

from mcp_server.app import (
    EvaluatorError,
    Mistyped,
    Setting,
    Web,
    add_token,
    serve_http,
    serve_stdio,
)
from sessions import folder as folders
from workbench.agents import LazyGateway
from workbench.errors import CannotGoOn, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from workbench.config import Settings
    from workbench.errors import WorkbenchError


def stdio(settings: Settings, *, engine: bool, executor: str) -> None:
    """Serve one client on stdin and stdout until it is gone.

    `engine`: offer `evaluate_kernel` too. `executor`: whose hosts evaluate.

    Raises:
        WrongUsage: the device or the executor is none.
        CannotGoOn: the executor's package is not installed.
    """
    setting = _setting(settings, executor)
    try:
        anyio.run(partial(serve_stdio, setting, engine=engine, sessions=LazyGateway()))
    except EvaluatorError as error:
        raise _refusal(error) from error


def http(
    settings: Settings, web: Web, say: Callable[[str], None], *, engine: bool, executor: str
) -> None:
    """Serve clients with tokens over HTTP until a signal ends it.

    Raises:
        WrongUsage: it must not listen there; the device or the executor is none.
        CannotGoOn: it cannot listen there; the token file is not as it should be.
    """
    try:
        serve = partial(serve_http, _setting(settings, executor), web, say, engine=engine)
        anyio.run(partial(serve, sessions=LazyGateway()))
    except EvaluatorError as error:
        raise _refusal(error) from error


def web(address: str, token_file: Path | None, hosts: Sequence[str]) -> Web:
    """Return where to listen, and for whom; `address` may be empty.

    Raises:
        WrongUsage: there is no such token file.
    """
    if token_file is not None and not token_file.exists():
        make = f"`pike mcp token NAME --token-file {shlex.quote(str(token_file))}` makes it"
        raise WrongUsage(f"There is no token file {token_file}: {make}.")
    kept = default_token_file()
    file = token_file or (kept if kept.exists() else None)
    return Web(*([address] if address else []), token_file=file, hosts=tuple(hosts))


def default_token_file() -> Path:
    """Return the file of tokens in the state folder."""
    return folders.root() / "mcp-tokens.jsonl"


def token(path: Path, client: str, scopes: Sequence[str]) -> str:
    """Add a client to a token file and return its token, which is kept nowhere.

    Raises:
        WrongUsage: the client or a scope is none.
        CannotGoOn: the file cannot be written.
    """
    try:
        return add_token(path, client, scopes)
    except EvaluatorError as error:
        raise _refusal(error) from error


def _refusal(error: EvaluatorError) -> WorkbenchError:
    return WrongUsage(str(error)) if isinstance(error, Mistyped) else CannotGoOn(str(error))


def _setting(settings: Settings, executor: str) -> Setting:
    return Setting(
        home=folders.root(),
        python=settings.text("python") or None,
        sandbox="strict" if settings.text("sandbox") == "strict" else "best-effort",
        device=settings.text("device"),
        executor=executor,
    )
