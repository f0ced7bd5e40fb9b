"""What was typed after `pike steer S ACT`, as the arguments of a command."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.answers_on_candidates import HEAVIEST, MOST_AT_ONCE
from workbench import config, kept_models, model_choice
from workbench.errors import CannotGoOn, WrongUsage

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder

BUDGETS = {"queries": "queries", "cost": "cost_usd", "time": "hours"}
"""The flag to the name of the limit."""
FILE_LIMIT = 1_000_000
"""Bytes of a submitted file: what is larger is no candidate."""


def args_of(typed: argparse.Namespace, folder: SessionFolder) -> dict[str, Any]:
    """Return the arguments of the act that was typed; a model's settings are kept with the session.

    Raises:
        WrongUsage: something typed can mean nothing.
        CannotGoOn: a file cannot be read.
    """
    match str(typed.act):
        case "guide":
            return _guide(typed)
        case "pin" | "ban":
            names = ("candidate", "subtree", "off")
            return {name: value for name, value in vars(typed).items() if name in names}
        case "boost":
            return _boost(typed)
        case "fork":
            return _fork(typed, folder)
        case "submit":
            return _submit(typed)
        case "budget":
            return _budget(typed)
        case "model":
            return {"role": typed.role, "model": _model(typed.model, folder)}
        case "withdraw":
            return {"steer": typed.steer}
        case "edit":
            return {"steer": typed.steer, "text": _text(typed.text)}
        case act:
            raise WrongUsage(f"no act is called {act!r}.")


def scope(words: str, flag: str = "--for", what: str = "a guide") -> str:
    """Return a scope as steering reads it: `003` is a lineage, `c12` a candidate.

    Raises:
        WrongUsage: it is none of them.
    """
    if words == "session" or words.startswith(("lineage:", "candidate:")):
        return words
    if re.fullmatch(r"\d{1,3}", words):
        return f"lineage:{int(words):03d}"
    if re.fullmatch(r"c\d+", words):
        return f"candidate:{words}"
    raise WrongUsage(
        f"{flag} {words!r}: {what} is for session, a lineage (003) or a candidate (c12)."
    )


def _guide(typed: argparse.Namespace) -> dict[str, Any]:
    if typed.off:
        return {"scope": scope(typed.scope), "off": True}
    text = _text(typed.text)
    if not text:
        raise WrongUsage("a guide needs its TEXT.")
    if typed.last is not None and typed.last < 1:
        raise WrongUsage("--last is a number of proposals, at least 1.")
    return {"text": text, "scope": scope(typed.scope), "last": typed.last or 0}


def _boost(typed: argparse.Namespace) -> dict[str, Any]:
    if typed.off == (typed.weight is not None):
        raise WrongUsage("a boost needs its WEIGHT (above 0, at most 100), or --off.")
    if typed.weight is not None and not 0 < typed.weight <= HEAVIEST:
        raise WrongUsage(
            f"boost: the weight is {typed.weight:g}, but must be above 0, at most {HEAVIEST}."
        )
    target = scope(typed.target, "boost", "a boost")
    if target == "session":
        raise WrongUsage("a boost is for a lineage (003) or a candidate (c12).")
    return {"target": target, "weight": 1 if typed.off else typed.weight}


def _fork(typed: argparse.Namespace, folder: SessionFolder) -> dict[str, Any]:
    if not 1 <= typed.count <= MOST_AT_ONCE:
        raise WrongUsage(f"--count is {typed.count}, but must be 1 to {MOST_AT_ONCE}.")
    model = _model(typed.model, folder) if typed.model else ""
    text = _text(typed.text)
    return {"candidate": typed.candidate, "count": typed.count, "text": text, "model": model}


def _submit(typed: argparse.Namespace) -> dict[str, Any]:
    stdin = typed.file == "-"
    given = {"name": "stdin" if stdin else Path(typed.file).name, "parent": typed.parent}
    source = _decoded(sys.stdin.buffer.read(FILE_LIMIT + 1) if stdin else _read(typed.file), typed)
    author = {"author": typed.author} if typed.author else {}
    return {"source": source, **given, "fix": typed.fix, **author}


def _read(file: str) -> bytes:
    try:
        with Path(file).open("rb") as opened:
            return opened.read(FILE_LIMIT + 1)
    except OSError as error:
        raise WrongUsage(f"{file}: {error.strerror or error}.") from error


def _decoded(data: bytes, typed: argparse.Namespace) -> str:
    if len(data) > FILE_LIMIT:
        raise CannotGoOn(f"{typed.file}: over {FILE_LIMIT:,} bytes; that is no candidate.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotGoOn(f"{typed.file}: not UTF-8 text (byte {error.start}).") from error


def _budget(typed: argparse.Namespace) -> dict[str, Any]:
    given = {flag: getattr(typed, flag) for flag in BUDGETS if getattr(typed, flag) is not None}
    if not given:
        raise WrongUsage("a budget needs --queries, --cost or --time.")
    return {
        BUDGETS[flag]: config.checked(config.BY_NAME[flag], value, f"--{flag}")
        for flag, value in given.items()
    }


def _model(name: str, folder: SessionFolder) -> str:
    """Return a model's name as the engine can use it: it runs elsewhere, and knows the session's settings only."""
    absolute = ",".join(model_choice.absolute(each.strip()) for each in name.split(","))
    kept_models.keep(folder, absolute.split(","), config.load().models)
    return absolute


def _text(words: str) -> str:
    return (sys.stdin.read() if words == "-" else words).strip()
