"""`pike pause`, `resume`, `stop`: the three acts on a running search, never mixed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sessions import commands
from sessions.journal import Reader
from sessions.live import tools_at_work
from sessions.lock import Presence
from sessions.model import WAITING
from sessions.states import ENDED, SessionState
from workbench import launch, lookup, renewing
from workbench.errors import DONE, FAILED, CannotGoOn
from workbench.shown import in_flight

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder
    from sessions.model import State, SteerRecord
    from workbench.printing import Printer

TAKEN_LIMIT_S = 10.0
"""An engine looks for commands four times a second; one that is silent this long does not respond."""
STOPPED_LIMIT_S = 30.0
"""How long `stop --now` waits for the engine before it is ended by a signal."""
_LOOK_S = 0.1
_BUDGETS = ("queries", "cost", "hours")
_MORE = ("budget", "submit", "fork")
"""Acts that give a finished search something to do."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Carry out one of the three."""
    folder = lookup.session(typed.session)
    match typed.command:
        case "pause":
            return _pause(folder, printer, now=typed.now)
        case "stop":
            return _stop(folder, printer, now=typed.now)
        case _:
            return resume(folder, printer, take_over=typed.take_over)


def resume(folder: SessionFolder, printer: Printer, *, take_over: bool = False) -> int:
    """Go on with a paused search, or revive the engine of one that crashed or was stopped.

    `take_over`: a person says that the engine on another host is gone.
    """
    found = lookup.state(folder)
    alive = launch.is_alive(folder)
    if found.state is SessionState.RUNNING and alive:
        printer.talk(f"{folder.name} is already running.")
        return DONE
    if found.state is SessionState.FINISHED and not _more_is_allowed(folder, found):
        more = f" Raise its budget first: `pike steer {folder.name} budget --queries N`."
        raise CannotGoOn(
            f"{folder.name} is finished: {found.cause}.{more if found.code in _BUDGETS else ''}"
        )
    if alive and renewing.is_outdated(found):
        if not renewing.make_way(folder, found):
            raise CannotGoOn(
                f"{folder.name} goes on with a new engine, and the old one still ends: "
                f"{_in_flight(folder, found)}. Then once more: pike resume {folder.name}"
            )
        alive = False
    command = commands.send(folder.journal, "resume", {}, seen_seq=found.seq)
    if not alive:
        pid = renewing.start(folder, found, take_over=take_over)
        printer.talk(
            f"{folder.name} is running again, engine {pid}. `pike attach {folder.name}` shows it."
        )
        return DONE
    return _told(folder, command, printer, f"{folder.name} is running again.")


def _more_is_allowed(folder: SessionFolder, found: State) -> bool:
    """Whether a finished search could go on: a steer gives it work, or its budget was raised after the end."""
    with Reader(folder.journal) as reader:
        if found.open or any(command.act in _MORE for command in reader.waiting_commands()):
            return True
    spent = {
        "queries": ("queries", float(found.spending.queries)),
        "cost": ("cost_usd", found.spending.cost_usd),
        "hours": ("hours", found.spending.running_s / 3600),
    }
    if found.code == "idle":
        return True
    if found.code not in spent:
        return False
    name, used = spent[found.code]
    limit = found.limits.get(name)
    return limit is None or float(limit) > used


def _pause(folder: SessionFolder, printer: Printer, *, now: bool) -> int:
    found = lookup.state(folder)
    if found.state is SessionState.STOPPED and found.code == WAITING:
        commands.send(folder.journal, "pause", {"now": now}, seen_seq=found.seq)
        printer.talk(
            f"{folder.name} is held: its next step needs `pike step {folder.name} --resume`."
        )
        return DONE
    if _rests(folder, found, printer):
        return DONE
    command = commands.send(folder.journal, "pause", {"now": now}, seen_seq=found.seq)
    return _told(
        folder, command, printer, f"{folder.name} is pausing: {_in_flight(folder, found)}."
    )


def _stop(folder: SessionFolder, printer: Printer, *, now: bool) -> int:
    found = lookup.state(folder)
    if found.state in ENDED or not launch.is_alive(folder):
        printer.talk(f"{folder.name}: no engine runs it ({_word(folder, found)}).")
        return DONE
    command = commands.send(folder.journal, "stop", {"now": now}, seen_seq=found.seq)
    if not now:
        words = f"{folder.name} is stopping: {_in_flight(folder, found)}."
        return _told(folder, command, printer, words)
    if _ended(folder, STOPPED_LIMIT_S) or not launch.terminate(folder):
        printer.talk(f"{folder.name} has stopped. `pike resume {folder.name}` goes on.")
        return DONE
    printer.talk(f"{folder.name}: the engine did not respond and was told to end.")
    if _ended(folder, TAKEN_LIMIT_S) or not launch.kill(folder):
        return DONE
    printer.talk(
        f"{folder.name}: it did not end either and was killed. What was paid for and written is kept; its log: "
        f"{folder.log}"
    )
    return DONE if _ended(folder, TAKEN_LIMIT_S) else FAILED


def _rests(folder: SessionFolder, found: State, printer: Printer) -> bool:
    if found.state in ENDED or found.state is SessionState.PAUSED:
        printer.talk(f"{folder.name} is already {found.state.value}.")
        return True
    if not launch.is_alive(folder):
        raise CannotGoOn(
            f"no engine of this host runs {folder.name} ({_word(folder, found)}); there is nothing to pause."
        )
    return False


def _word(folder: SessionFolder, found: State) -> str:
    presence = launch.presence_now(folder)
    if presence is Presence.FOREIGN:
        return "it runs on another host"
    if presence is Presence.NONE and found.state not in ENDED:
        return SessionState.STOPPED.value
    return "crashed" if found.state not in ENDED else found.state.value


def _in_flight(folder: SessionFolder, found: State) -> str:
    with Reader(folder.journal) as reader:
        tools = tools_at_work(reader.live()[1])
    return f"{in_flight(found, tools)} in flight"


def _told(folder: SessionFolder, command: int, printer: Printer, words: str) -> int:
    if taken(folder, command, TAKEN_LIMIT_S):
        printer.talk(words)
        return DONE
    printer.talk(
        f"{folder.name}: the engine has not taken this up within {TAKEN_LIMIT_S:.0f} s; it is kept, and holds as "
        f"soon as the engine looks. Its log: {folder.log}"
    )
    return FAILED


def taken(folder: SessionFolder, command: int, limit_s: float) -> bool:
    """Wait for the engine to take a command, as long as it lives; return whether it did."""
    deadline = time.monotonic() + limit_s
    with Reader(folder.journal) as reader:
        while True:
            alive = launch.is_alive(folder) and time.monotonic() < deadline
            if all(waiting.id != command for waiting in reader.waiting_commands()):
                return True
            if not alive:
                return False
            time.sleep(_LOOK_S)


def _ended(folder: SessionFolder, limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if not launch.is_alive(folder):
            return True
        time.sleep(_LOOK_S)
    return False


def steer_of(folder: SessionFolder, command: int, limit_s: float) -> SteerRecord | None:
    """Return the steer that an engine made of a command; None if none did in time, or the engine ended."""
    taken(folder, command, limit_s)
    steers = lookup.state(folder).steers.values()
    return next((steer for steer in steers if steer.command == command), None)
