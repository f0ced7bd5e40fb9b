"""`pike steer`: the human's acts on a search, without the screens."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sessions import answers, commands, strategy_choice
from sessions.answering import Outside
from sessions.journal import Command, Reader
from sessions.lock import Presence
from sessions.states import SessionState
from sessions.steering import status
from strategies.errors import StrategyError
from workbench import format as fmt
from workbench import launch, lookup
from workbench.commands.control import TAKEN_LIMIT_S, steer_of
from workbench.errors import DONE, FAILED
from workbench.steer_typed import args_of
from workbench.steer_words import said, stands

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder
    from sessions.model import State, SteerRecord
    from workbench.printing import Printer

HEAD = ("id", "act", "state", "used by", "by", "what", "why")
KEPT = "kept"
"""The state of a command that no engine has taken up yet."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Send the steer, and say what became of it; or list all there were."""
    folder = lookup.session(typed.session)
    if typed.act == "list":
        return _list(folder, printer, as_json=typed.json)
    found, args = lookup.state(folder), args_of(typed, folder)
    command = commands.send(folder.journal, typed.act, args, seen_seq=found.seq)
    steer = steer_of(folder, command, TAKEN_LIMIT_S) if launch.is_alive(folder) else None
    if steer is not None:
        return _told(folder, steer, printer, as_json=typed.json)
    return _kept(folder, command, typed.act, args, printer, as_json=typed.json)


def _told(folder: SessionFolder, steer: SteerRecord, printer: Printer, *, as_json: bool) -> int:
    found = lookup.state(folder)
    if as_json:
        printer.json(_row(found, steer))
    elif steer.applied:
        printer.data(steer.id)
        printer.talk(f"{steer.id} {steer.act} applied{_opened(steer)}.{_next(folder, found)}")
    else:
        printer.talk(f"{steer.id} {steer.act} refused: {steer.why}")
    return DONE if steer.applied else FAILED


def _opened(steer: SteerRecord) -> str:
    return f", as {', '.join(steer.args['proposals'])}" if steer.args.get("proposals") else ""


def _next(folder: SessionFolder, found: State) -> str:
    if found.state is SessionState.RUNNING:
        return f" `pike steer {folder.name} list` says how each steer stands."
    return f" {folder.name} is {found.state.value}: `pike resume {folder.name}` lets it go on."


def _kept(
    folder: SessionFolder,
    command: int,
    act: str,
    args: dict[str, Any],
    printer: Printer,
    *,
    as_json: bool,
) -> int:
    """Say that nobody has answered, and what to do about it."""
    alive = launch.is_alive(folder)
    why = _silent(folder, lookup.state(folder), alive=alive) + _forecast(folder, act, args)
    if as_json:
        sent = Command(command, time.time(), commands.user(), act, args, 0)
        printer.json({**_waiting(sent), "why": why})
    else:
        printer.talk(f"kept for {folder.name}: {why}")
    return FAILED if alive else DONE


def _silent(folder: SessionFolder, found: State, *, alive: bool) -> str:
    if alive:
        return f"the engine has not answered within {fmt.duration(TAKEN_LIMIT_S)}. Its log: {folder.log}"
    resume = f"`pike resume {folder.name}`"
    if launch.presence_now(folder) is Presence.FOREIGN:
        return "no engine runs it here; the one on another host takes it up if it sees this folder."
    match found.state:
        case SessionState.FINISHED:
            return f"no engine runs it now: it is finished. {resume} starts one if that gives it more to do."
        case SessionState.STOPPED:
            return f"no engine runs it now: it was stopped. {resume} starts one, which takes it up."
        case _:
            return (
                f"no engine runs it now: it crashed. {resume} starts a new one, which takes it up."
            )


def _forecast(folder: SessionFolder, act: str, args: dict[str, Any]) -> str:
    """Say what an engine would refuse as things stand; it decides by how they stand then."""
    found = lookup.state(folder)
    if found.opened is None:
        return ""
    try:
        seats = strategy_choice.of_session(found.opened).seats
    except StrategyError:  # a person's own file that is gone: the engine will say so
        return ""
    command = Command(0, time.time(), "", act, args, found.seq)
    answer = answers.answer(found, command, time.time(), Outside(seats))
    return f" As things stand it will be refused: {answer.why}." if answer.why else ""


def _list(folder: SessionFolder, printer: Printer, *, as_json: bool) -> int:
    found = lookup.state(folder)
    with Reader(folder.journal) as reader:
        waiting = [c for c in reader.waiting_commands() if c.act in commands.STEERS]
    if as_json:
        printer.pretty([*(_row(found, s) for s in found.persons_steers), *map(_waiting, waiting)])
        return DONE
    rows = [*(_cells(found, s) for s in found.persons_steers), *map(_waiting_cells, waiting)]
    if rows:
        printer.table(HEAD, rows)
    else:
        printer.talk(f"nobody has steered {folder.name} yet. `pike steer --help` lists the acts.")
    return DONE


def _row(found: State, steer: SteerRecord) -> dict[str, Any]:
    return {
        "id": steer.id,
        "command": steer.command,
        "act": steer.act,
        "applied": steer.applied,
        "why": steer.why,
        "state": status(found, steer),
        "uses": steer.uses,
        "author": steer.author,
        "text": steer.text,
        "args": steer.args,
    }


def _cells(found: State, steer: SteerRecord) -> tuple[str, ...]:
    used = fmt.plural(steer.uses, "query", "queries") if steer.uses else fmt.NONE
    what = stands(steer)
    return (steer.id, steer.act, status(found, steer), used, steer.author, what, steer.why)


def _waiting(command: Command) -> dict[str, Any]:
    row = {"id": None, "command": command.id, "act": command.act, "applied": None, "why": ""}
    args = {name: value for name, value in command.args.items() if name != "source"}
    return {**row, "state": KEPT, "uses": 0, "author": command.author, "text": "", "args": args}


def _waiting_cells(command: Command) -> tuple[str, ...]:
    what = said(command.act, command.args)
    return (fmt.NONE, command.act, KEPT, fmt.NONE, command.author, what, "no engine took it up yet")
