"""What a screen asks of a session, off the event loop: a command through `sessions.commands`, an engine to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.messages import Failed, SteerAsked, Told

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from workbench.messages import Message

REVIVED = "the engine starts"


def ask(
    folder: SessionFolder, act: str, args: dict[str, Any], seen_seq: int, *, revive: bool = False
) -> Message | None:
    """Write a command into the journal; with `revive`, start an engine to take it. Blocking: call it in a thread.

    Returns what to tell the person; None if the screen will show it by itself.
    """
    from sessions.commands import send
    from sessions.errors import SessionError
    from sessions.journal import JournalError

    try:
        if act == "resume" and not revive:
            revive = _make_way(folder)
        send(folder.journal, act, args, seen_seq=seen_seq)
    except (SessionError, JournalError) as error:
        return Failed(f"{act} was not asked: {error}")
    return start(folder) if revive else None


def start(folder: SessionFolder) -> Message:
    """Start an engine for a session that has none. Blocking: call it in a thread."""
    from sessions.errors import SessionError
    from sessions.journal import JournalError
    from workbench import lookup, renewing
    from workbench.errors import WorkbenchError

    try:
        renewing.start(folder, lookup.state(folder))
    except (SessionError, WorkbenchError, JournalError, OSError) as error:
        return Failed(f"the engine did not start: {error}")
    return Told(REVIVED)


def _make_way(folder: SessionFolder) -> bool:
    """End an engine that cannot go on with what it knows; return whether a new one is to be started."""
    from workbench import lookup, renewing

    found = lookup.state(folder)
    return renewing.is_outdated(found) and renewing.make_way(folder, found)


def steer(folder: SessionFolder, act: str, args: dict[str, Any], seen_seq: int) -> SteerAsked:
    """Write a steer into the journal; return its id, or why it was not written. Blocking: call it in a thread."""
    from sessions.commands import send
    from sessions.errors import SessionError
    from sessions.journal import JournalError

    try:
        return SteerAsked(act, send(folder.journal, act, args, seen_seq=seen_seq))
    except (SessionError, JournalError) as error:
        return SteerAsked(act, 0, f"{act} was not asked: {error}")
