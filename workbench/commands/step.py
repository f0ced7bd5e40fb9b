"""`pike step`: runs the engine until only others can go on, says what it waits for, and leaves.

| exit code | the search |
| --- | --- |
| 0 | is finished |
| 1 | cannot go on: it paused by itself, a person paused it, its engine failed |
| 3 | waits for replies, or for an attempt |
| 4 | waits for an evaluator: there is none here, or its GPU is another model |
| 143 | was cut short by a signal; the next step goes on |
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions import commands
from sessions.best import best
from sessions.fold import apply
from sessions.journal import Reader
from sessions.live import NO_EVALUATOR
from sessions.model import WAITING
from sessions.models import files
from sessions.states import SessionState
from workbench import launch, lookup, renewing, story
from workbench.errors import DONE, FAILED, INTERRUPTED, CannotGoOn

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sessions.folder import SessionFolder
    from sessions.model import QueryRecord, State
    from workbench.printing import Printer

FOR_REPLIES, FOR_AN_EVALUATOR, CUT_SHORT = 3, 4, 128 + signal.SIGTERM
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class How:
    """What was typed."""

    json: bool = False
    resume: bool = False
    take_over: bool = False


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Take one step of a session."""
    folder = lookup.session(typed.session)
    return take(folder, How(typed.json, typed.resume, typed.take_over), printer)


def take(folder: SessionFolder, how: How, printer: Printer) -> int:
    """Take one step; print what happened and what is awaited; return the exit code.

    Raises:
        CannotGoOn: a person paused or stopped the search.
        sessions.errors.SessionBusy: an engine runs it.
    """
    found = lookup.state(folder)
    interrupted = False
    if found.state is not SessionState.FINISHED:
        _let_it_go_on(folder, found, how)
        renewing.start(folder, found, take_over=how.take_over, step=True)
        interrupted = _watch(folder, found, how, printer)
    found = lookup.state(folder)
    if how.json:
        printer.pretty(_json(folder, found))
    else:
        for line in _lines(folder, found):
            printer.data(line)
    return INTERRUPTED if interrupted else exit_code(found)


def exit_code(found: State) -> int:
    """Return what the command's caller learns without reading."""
    match (found.state, found.code):
        case (SessionState.FINISHED, _):
            return DONE
        case (SessionState.STOPPED, "waiting"):
            return FOR_AN_EVALUATOR if found.cause.startswith(NO_EVALUATOR) else FOR_REPLIES
        case (SessionState.STOPPED, "cut"):
            return CUT_SHORT
        case _:
            return FAILED


def _let_it_go_on(folder: SessionFolder, found: State, how: How) -> None:
    held = _held(folder, found)
    if held and not how.resume:
        raise CannotGoOn(
            f"{folder.name} is {held}, and a step does not undo that. `pike step {folder.name} --resume` goes on."
        )
    if held or found.state is not SessionState.RUNNING:
        commands.send(folder.journal, "resume", {}, seen_seq=found.seq)


def _held(folder: SessionFolder, found: State) -> str:
    """Return how a person holds the search: by a state, or by a pause that no engine was there to take."""
    if found.code == "asked" and found.state in (SessionState.PAUSED, SessionState.STOPPED):
        return f"{found.state.value} by {found.cause_author or 'a person'}"
    with Reader(folder.journal) as reader:
        asked = [c for c in reader.waiting_commands() if c.act in commands.CONTROLS]
    last = asked[-1] if asked else None
    return f"paused by {last.author}" if last is not None and last.act != "resume" else ""


def _watch(folder: SessionFolder, found: State, how: How, printer: Printer) -> bool:
    """Print what happens until the engine ends; return whether a person interrupted it. A signal ends the engine."""
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: launch.terminate(folder))
    interrupted = False
    try:
        with Reader(folder.journal) as reader:
            alive = True
            while alive:
                try:
                    alive = launch.is_alive(folder)
                    _print_new(reader, found, how, printer)
                    time.sleep(_LOOK_S if alive else 0)
                except KeyboardInterrupt:
                    interrupted = True
                    launch.terminate(folder)
    finally:
        signal.signal(signal.SIGTERM, before)
    return interrupted


def _print_new(reader: Reader, state: State, how: How, printer: Printer) -> None:
    for fact in reader.facts(state.seq):
        apply(state, fact)
        if not how.json:
            printer.data(story.line(fact))


def _lines(folder: SessionFolder, found: State) -> Iterator[str]:
    if found.state is SessionState.RUNNING:
        yield f"{folder.name}: the engine ended without a word: {launch.last_words(folder)} (see {folder.log})"
        return
    word = "finished" if found.state is SessionState.FINISHED else found.state.value
    awaits = found.code == WAITING
    yield f"{folder.name}: {found.cause}" if awaits else f"{folder.name}: {word} ({found.cause})"
    for query in found.awaited:
        why = _incomplete(folder, query)
        place = f"{files.PROMPTS}/{query.id}.md" if query.model == "files" else "over MCP"
        yield f"  {query.id}  {query.agent}  {query.role}  {place}{f': {why}' if why else ''}"
    if any(query.model == "files" for query in found.awaited):
        yield f"Replies go to {folder.artifacts / files.REPLIES}, each under its prompt's name."


def _json(folder: SessionFolder, found: State) -> dict[str, Any]:
    top = best(found)
    return {
        "id": folder.name,
        "state": WAITING if found.code == WAITING else found.state.value,
        "cause": found.cause,
        "exit_code": exit_code(found),
        "prompts": [_prompt(folder, query) for query in found.awaited],
        "evaluations": [a.id for a in found.attempts.values() if not a.kind],
        "attempts": len(found.attempts),
        "queries": found.spending.queries,
        "queries_limit": found.limits.get("queries"),
        "best": top.id if top else None,
        "best_speedup": top.speedup if top else None,
    }


def _prompt(folder: SessionFolder, query: QueryRecord) -> dict[str, Any]:
    laid = query.model == "files"
    prompt, reply = (
        folder.artifacts / part / f"{query.id}.md" for part in (files.PROMPTS, files.REPLIES)
    )
    return {
        "query": query.id,
        "agent": query.agent,
        "role": query.role,
        "model": query.model,
        "prompt": str(prompt) if laid else None,
        "reply": str(reply) if laid else None,
        "incomplete": _incomplete(folder, query) or None,
    }


def _incomplete(folder: SessionFolder, query: QueryRecord) -> str:
    """Return what is wrong with a reply that is there."""
    _, why = files.read(folder.artifacts / files.REPLIES / f"{query.id}.md")
    return f"{files.REPLIES}/{query.id}.md {why}" if why else ""
