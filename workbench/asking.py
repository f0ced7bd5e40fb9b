"""What a screen asks of a session, off the event loop: a command through `sessions.commands`, an engine to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.messages import Failed, Told

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

    try:
        send(folder.journal, act, args, seen_seq=seen_seq)
    except SessionError as error:
        return Failed(f"{act} was not asked: {error}")
    return start(folder) if revive else None


def start(folder: SessionFolder) -> Message:
    """Start an engine for a session that has none. Blocking: call it in a thread."""
    from sessions.errors import SessionError
    from workbench.errors import WorkbenchError
    from workbench.launch import start as start_engine

    try:
        start_engine(folder)
    except (SessionError, WorkbenchError, OSError) as error:
        return Failed(f"the engine did not start: {error}")
    return Told(REVIVED)
