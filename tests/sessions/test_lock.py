"""One engine per session: alive, crashed, on another host, or none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from sessions.errors import SessionBusy
from sessions.lock import EngineLock, Presence, holder, presence
from tests.sessions.searches import search

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.folder import SessionFolder

HOLD = """
import sys
from pathlib import Path
from sessions.folder import SessionFolder
from sessions.lock import EngineLock
lock = EngineLock.take(SessionFolder(Path(sys.argv[1])))
print("taken", flush=True)
sys.stdin.read()
"""


def held(folder: SessionFolder) -> subprocess.Popen[str]:
    """Start a process that holds the session."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "taken\n"
    return process


def ended(process: subprocess.Popen[str]) -> None:
    """Kill it and close its pipes."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_second_engine_is_refused_and_told_who_runs_the_session(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    first = held(folder)
    try:
        assert presence(folder) is Presence.ALIVE
        with pytest.raises(SessionBusy, match=f"process {first.pid} on "):
            EngineLock.take(folder)
    finally:
        ended(first)


def test_a_killed_engine_is_seen_as_crashed_and_the_next_one_takes_over(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    ended(held(folder))
    assert presence(folder) is Presence.CRASHED
    lock = EngineLock.take(folder)
    found = holder(folder)
    assert found is not None
    assert found.pid == os.getpid()
    assert presence(folder) is Presence.ALIVE
    lock.release()
    assert presence(folder) is Presence.NONE


def test_a_reused_pid_is_not_mistaken_for_the_engine(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    ended(held(folder))
    lock = json.loads(folder.lock.read_text(encoding="utf-8"))
    folder.lock.write_text(json.dumps({**lock, "pid": os.getpid()}), encoding="utf-8")
    assert presence(folder) is Presence.CRASHED


def test_an_engine_on_another_host_is_named_and_not_overrun_unasked(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    ended(held(folder))
    lock = json.loads(folder.lock.read_text(encoding="utf-8"))
    folder.lock.write_text(json.dumps({**lock, "host": "gpu-box-7"}), encoding="utf-8")
    assert presence(folder) is Presence.FOREIGN
    with pytest.raises(SessionBusy, match="gpu-box-7"):
        EngineLock.take(folder)
    EngineLock.take(folder, take_over=True).release()


def test_a_garbled_lock_is_no_engine(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    folder.lock.write_text("{oops", encoding="utf-8")
    assert presence(folder) is Presence.NONE
