"""Tells the command of `--notify` that a session finished or needs a person."""

from __future__ import annotations

import logging
import os
import shlex
import subprocess

from workbench.plain import inert_line

log = logging.getLogger(__name__)

LIMIT_S = 30
"""A command that takes longer is ended: it must not hold the engine."""


def notify(command: str, session: str, event: str, words: str) -> bool:
    """Run `COMMAND "SESSION EVENT" "WORDS"`; return whether it ended well. Never raises.

    The session, the event (`finished`, `needs you`, `stopped`) and the words are also in the environment, as
    `PIKE_SESSION`, `PIKE_EVENT` and `PIKE_WORDS`.
    """
    said = str(inert_line(words))
    env = {**os.environ, "PIKE_SESSION": session, "PIKE_EVENT": event, "PIKE_WORDS": said}
    try:
        done = subprocess.run(
            [*shlex.split(command), f"{session} {event}", said],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.warning("the command of --notify failed: %s", error)
        return False
    if done.returncode:
        log.warning("the command of --notify ended with %d", done.returncode)
    return done.returncode == 0


def usable(command: str) -> str:
    """Return why a command of `--notify` cannot work; empty if it can."""
    import shutil

    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"--notify {command!r} cannot be read: {error}."
    if not words or shutil.which(words[0]) is None:
        return f"--notify: there is no program {(words or [''])[0]!r}."
    return ""
