"""Ends an engine that a model refused: it has the keys and settings of its start, and a new one takes those of now."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sessions import commands
from sessions.opening import names_in
from sessions.states import SessionState
from workbench import config, kept_models, launch

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from sessions.model import State

OUTDATED = frozenset({"bad_key", "unknown_model", "bad_settings"})
"""Codes of a pause that the same engine would only come to again."""
LIMIT_S = 30.0
"""How long what is in flight may take."""
_LOOK_S = 0.1


def is_outdated(found: State) -> bool:
    """Return whether the search waits for a key or a setting that its engine cannot learn of."""
    return found.state is SessionState.PAUSED and found.code in OUTDATED


def make_way(folder: SessionFolder, found: State) -> bool:
    """Stop the engine, which finishes what is in flight; return whether it ended in time."""
    commands.send(folder.journal, "stop", {"now": False}, seen_seq=found.seq)
    deadline = time.monotonic() + LIMIT_S
    while launch.is_alive(folder):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_S)
    return True


def start(
    folder: SessionFolder,
    found: State,
    *,
    take_over: bool = False,
    step: bool = False,
    orphan: bool = False,
) -> int:
    """Start an engine with the settings of now; return its process id. The flags are those of `launch.start`.

    Raises:
        WorkbenchError: a setting is wrong, or the engine ended at once.
        sessions.errors.SessionBusy: an engine runs it already.
    """
    kept_models.keep(folder, names_in(found), config.load().models)
    return launch.start(folder, take_over=take_over, step=step, orphan=orphan)
