"""Starts, finds and signals engines: detached processes that outlive the window that started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from sessions.errors import SessionBusy
from sessions.lock import Presence, holder, presence
from workbench.errors import CannotGoOn
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.folder import SessionFolder

ENGINE = "workbench.engine_entry"
"""The module that an engine's process runs."""
START_LIMIT_S = 90.0
"""An engine is ready in about two seconds; one that must look at the machine first, under load, needs more."""
_REAP_S = 5.0
_started: list[subprocess.Popen[bytes]] = []
"""Kept: an engine that ends while its window lives is reaped when that window looks."""


def start(
    folder: SessionFolder, *, take_over: bool = False, step: bool = False, orphan: bool = False
) -> int:
    """Start the engine of a session, detached; return its process id once it holds the lock and all it needs.

    `take_over`: a person says that the engine on another host is gone. `step`: it ends where only others can go on.
    `orphan`: it descends from nobody here, for a starter whose own client kills all that descends from it.

    Raises:
        sessions.errors.SessionBusy: another engine runs it.
        CannotGoOn: it ended at once; the message has its last words.
    """
    _check_free(folder)
    reading, writing = os.pipe()
    try:
        try:
            flags = {"--take-over": take_over, "--step": step, "--orphan": orphan}
            process = _spawn(folder, writing, [flag for flag, meant in flags.items() if meant])
        finally:
            os.close(writing)
        _started.append(process)
        _await_ready(folder, process, reading)
    finally:
        os.close(reading)
    if not orphan:
        return process.pid
    process.wait(_REAP_S)  # it left when the engine was on its own
    engine = holder(folder)
    return engine.pid if engine is not None else process.pid


def _check_free(folder: SessionFolder) -> None:
    found = holder(folder)
    if found is not None and presence(folder) is Presence.ALIVE:
        raise SessionBusy(
            f"session {folder.name} is already run by process {found.pid} on {found.host}; "
            f"`pike attach {folder.name}` shows it."
        )


def presence_now(folder: SessionFolder) -> Presence:
    """Return whether an engine runs the session, reaping those that this window started and that ended."""
    for process in _started:
        process.poll()
    return presence(folder)


def is_alive(folder: SessionFolder) -> bool:
    """Return whether an engine of this host runs the session."""
    return presence_now(folder) is Presence.ALIVE


def terminate(folder: SessionFolder) -> bool:
    """Tell the session's engine to end now; return whether there was one to tell."""
    return _signalled(folder, os.kill, signal.SIGTERM)


def kill(folder: SessionFolder) -> bool:
    """End the session's engine and all it started, as a power cut would; return whether there was one to end."""
    return _signalled(folder, os.killpg, signal.SIGKILL)


def _signalled(
    folder: SessionFolder, send: Callable[[int, int], None], number: signal.Signals
) -> bool:
    found = holder(folder)
    if found is None or presence(folder) is not Presence.ALIVE:
        return False
    try:
        send(found.pid, number)
    except ProcessLookupError:
        return False  # it ended just now
    return True


def last_words(folder: SessionFolder, lines: int = 1) -> str:
    """Return the last lines of the engine's log, inert, joined by ` / `."""
    try:
        text = folder.log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    told = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(inert_line(line, 300) for line in told[-lines:])


def _spawn(folder: SessionFolder, ready: int, flags: list[str]) -> subprocess.Popen[bytes]:
    # `-P`: the engine starts in the session's folder, and nothing there may shadow our rooms.
    words = [sys.executable, "-P", "-m", ENGINE, str(folder.path.absolute())]
    words += ["--ready", str(ready), *flags]
    try:
        with folder.log.open("ab") as log:
            return subprocess.Popen(
                words,
                cwd=folder.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(ready,),
            )
    except OSError as error:
        raise CannotGoOn(
            f"the engine of {folder.name} cannot be started: {error.strerror} ({error.filename})."
        ) from error


def _await_ready(folder: SessionFolder, process: subprocess.Popen[bytes], reading: int) -> None:
    """Wait for the engine's word on its end of the pipe; the pipe closes without one if it ends."""
    if not select.select([reading], [], [], START_LIMIT_S)[0]:
        raise CannotGoOn(
            f"the engine of {folder.name} is not ready after {START_LIMIT_S:.0f} s; it may still come, "
            f"see {folder.log}."
        )
    if os.read(reading, 1):
        return
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAP_S)
    _check_free(folder)  # two started it at once, and this one was slower
    raise CannotGoOn(
        f"the engine of {folder.name} ended at once: {last_words(folder)} (log: {folder.log})"
    )
