"""Carries out what people ask of a running engine: pause, resume, stop, and the steers."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions import answers, commands, opening, proposing, replies
from sessions import facts as f
from sessions.models import files
from sessions.recorder import Entry
from sessions.states import SessionState
from sessions.storage import ROOM_BYTES, put_ballast, storage_of

if TYPE_CHECKING:
    from sessions.engine import Engine
    from sessions.errors import LineageError
    from sessions.folder import SessionFolder
    from sessions.journal import Command
    from sessions.model import State

log = logging.getLogger(__name__)

NOT_RUNNING = tuple(state for state in SessionState if state is not SessionState.RUNNING)


@dataclass(frozen=True, slots=True)
class Stop:
    """The engine is to end."""

    author: str
    now: bool
    why: str = ""
    """What only others can bring, or what cut the engine short, where no person asked it to end."""
    code: str = "asked"

    @property
    def cause(self) -> str:
        """What the fact says."""
        asked = f"stopped by {self.author}" + (", calls in flight lost" if self.now else "")
        return self.why or asked

    @property
    def fact(self) -> f.Stopped:
        """The fact."""
        return f.Stopped(self.cause, self.author, self.code)


async def obey(engine: Engine, command: Command) -> None:
    """Carry out one command, once."""
    match command.act:
        case "pause":
            await _pause(engine, command)
        case "resume":
            await _resume(engine, command)
        case "stop":
            await _stop(engine, command)
        case commands.REPLY:
            await _reply(engine, command)
        case _:
            await _steer(engine, command)


def lineage_trouble(folder: SessionFolder, error: LineageError) -> tuple[str, str]:
    """Return cause and code of the pause that a failing repository brings."""
    if storage_of(folder.path).free_bytes < ROOM_BYTES:
        return (
            f"the disk is full: free some room for {folder.path}, then resume ({error})",
            "disk_full",
        )
    return f"{error}; the attempts so far are kept: resume once it is mended", "git"


async def leave(engine: Engine) -> None:
    """Leave the journal so that lists are right and the folder can be copied."""
    parts = engine.parts
    parts.live.agents.clear()
    parts.live.evaluations.clear()
    parts.live.waits.clear()
    try:
        open_queries = [query.id for query in parts.state.awaited]
        await asyncio.to_thread(files.tidy, parts.folder.artifacts, open_queries)
        await parts.recorder.summarise()
        await parts.recorder.show(parts.clock.now(), parts.live.row())
        await parts.recorder.journal.checkpoint()
    except (sqlite3.Error, OSError) as error:
        log.warning("leaving: %s", error)


async def _pause(engine: Engine, command: Command) -> None:
    now = bool(command.args.get("now"))
    fact = f.Paused(f"paused by {command.author}", "asked", command.author, now)
    engine.parts.gate.close()
    when = (SessionState.RUNNING, SessionState.PAUSED) if now else (SessionState.RUNNING,)
    await _take(engine, command, fact, when)
    if now:
        engine.cancel_evaluations()


async def _resume(engine: Engine, command: Command) -> None:
    fact = f.Resumed(f"resumed by {command.author}", command.author)
    engine.stop = None
    await _take(engine, command, fact, NOT_RUNNING)
    try:
        put_ballast(engine.parts.folder.ballast)
    except OSError as error:
        log.warning("no room is held back for a full disk: %s", error)
    engine.go_on()


async def _stop(engine: Engine, command: Command) -> None:
    engine.stop = Stop(command.author, bool(command.args.get("now")))
    engine.parts.gate.close()
    fact = f.Paused(f"stopping, asked by {command.author}", "asked", command.author)
    await _take(engine, command, fact, (SessionState.RUNNING,))


async def _reply(engine: Engine, command: Command) -> None:
    parts = engine.parts
    command = replace(command, args=parts.redactor.data(command.args))
    await parts.recorder.decide(lambda s: replies.brought(s, command, parts.clock.now()))


async def _steer(engine: Engine, command: Command) -> None:
    parts = engine.parts
    command = replace(command, args=parts.redactor.data(command.args))
    outside = await opening.outside(parts, command, engine.seats)

    def decide(state: State) -> Entry:
        found = answers.answer(state, command, parts.clock.now(), outside)
        fact = answers.steered(state, command, found)
        if fact.applied:  # under the recorder's lock: a search that is about to finish must see it
            engine.steered()
        made = [proposing.by_person(found.opens)] if found.opens else []
        ended = [f.Closed(name, "cancelled") for name in found.cancels]
        return Entry((fact, *made, *ended), texts=found.texts, taken=(command.id,))

    await parts.recorder.decide(decide)


async def _take(
    engine: Engine,
    command: Command,
    fact: f.Paused | f.Resumed,
    when: tuple[SessionState, ...],
) -> None:
    """Take a command, with its fact if there is something to change."""

    def decide(state: State) -> Entry:
        return Entry((fact,) if state.state in when else (), taken=(command.id,))

    await engine.parts.recorder.decide(decide)
