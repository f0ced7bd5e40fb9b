"""Engines as detached processes: started, refused twice, paused, stopped, killed, revived. No verdict is awaited."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.errors import SessionBusy
from sessions.folder import SessionFolder
from sessions.lock import Holder, Presence, holder
from sessions.start import create_session
from tests.sessions.searches import request
from tests.sessions.test_lock import ended, held
from workbench import launch, lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.workbench.commanding import Pike

LIMIT_S = 60.0
"""For another process to do what it was asked."""


def until(true: Callable[[], bool]) -> None:
    """Wait for something in another process."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline, "this took too long"
        time.sleep(0.05)


@pytest.fixture
def folder(pike: Pike, home: Path) -> Iterator[SessionFolder]:
    """A running search; its engine is gone afterwards."""
    told = pike(
        "run", "starter/softmax", "--model", "offline", "--device", "cpu", "--name", "s", "--detach"
    )
    assert (told.code, told.out) == (0, "s\n"), told.err
    found = SessionFolder(home / "sessions" / "s")
    yield found
    if launch.kill(found):
        until(lambda: launch.presence_now(found) is not Presence.ALIVE)


def test_an_engine_leads_a_session_of_its_own_and_writes_a_log(folder: SessionFolder) -> None:
    engine = holder(folder)
    assert engine is not None
    assert os.getsid(engine.pid) == engine.pid != os.getsid(0)
    until(lambda: "begins" in folder.log.read_text(encoding="utf-8"))


def test_a_second_engine_is_refused_by_the_launcher_and_by_itself(folder: SessionFolder) -> None:
    with pytest.raises(SessionBusy, match="already run by process"):
        launch.start(folder)
    argv = [sys.executable, "-m", "workbench.engine_entry", str(folder.path)]
    second = subprocess.run(argv, capture_output=True, timeout=60, check=False)
    assert second.returncode == 1
    assert b"already run by process" in second.stderr
    assert b"Traceback" not in second.stderr


def test_a_search_whose_host_died_goes_on_elsewhere_when_a_person_says_that_it_is_gone(
    folder: SessionFolder, pike: Pike
) -> None:
    assert launch.kill(folder)
    until(lambda: launch.presence_now(folder) is not Presence.ALIVE)
    folder.lock.write_text(json.dumps(asdict(Holder("gpu017", 4, "boot", "1"))), encoding="utf-8")
    refused = pike("resume", "s")
    assert refused.code == 1
    assert "process 4 on gpu017" in refused.err
    assert "say so with --take-over" in refused.err
    assert pike("resume", "s", "--take-over").code == 0
    assert launch.is_alive(folder)


def test_of_many_that_start_a_killed_engine_at_once_one_does_and_the_others_are_told_it_runs(
    folder: SessionFolder,
) -> None:
    killed = holder(folder)
    assert killed is not None
    os.killpg(killed.pid, signal.SIGKILL)
    until(lambda: launch.presence_now(folder) is not Presence.ALIVE)
    with ThreadPoolExecutor(4) as many:
        starts = [many.submit(launch.start, folder) for _ in range(4)]
        errors = [start.exception(timeout=4 * LIMIT_S) for start in starts]
    assert [type(error) for error in errors if error] == [SessionBusy] * 3
    [begun] = [start.result() for start in starts if not start.exception()]
    engine = holder(folder)
    assert engine is not None
    assert engine.pid == begun


def test_an_engine_is_paused_resumed_and_stopped_by_commands(
    folder: SessionFolder, pike: Pike
) -> None:
    assert pike("sessions", "--json").json[0]["state"] == "running"
    assert pike("pause", "s", "--now").code == 0
    until(lambda: lookup.state(folder).state.value == "paused")
    assert pike("resume", "s").code == 0
    until(lambda: lookup.state(folder).state.value == "running")
    told = pike("stop", "s", "--now")
    assert told.code == 0, told.err
    assert lookup.state(folder).state.value == "stopped"
    assert launch.presence_now(folder) is Presence.NONE


def test_steers_are_answered_by_the_running_engine(folder: SessionFolder, pike: Pike) -> None:
    applied = pike("steer", "s", "guide", "keep the rows in cache")
    assert (applied.code, applied.out) == (0, "s1\n"), applied.err
    refused = pike("steer", "s", "ban", "c77")
    assert refused.code == 1
    assert "refused" in refused.err
    assert pike("steer", "s", "withdraw", "s1").code == 0
    assert "s1 guide, withdrawn" in pike("show", "s").out


def test_a_killed_engine_is_seen_as_crashed_and_revived(folder: SessionFolder, pike: Pike) -> None:
    engine = holder(folder)
    assert engine is not None
    os.killpg(engine.pid, signal.SIGKILL)
    until(lambda: launch.presence_now(folder) is Presence.CRASHED)
    assert pike("sessions", "--json").json[0]["state"] == "crashed"
    assert pike("pause", "s").code == 1
    told = pike("resume", "s")
    assert told.code == 0, told.err
    assert launch.is_alive(folder)
    revived = holder(folder)
    assert revived is not None
    assert revived.pid != engine.pid


def test_an_engine_that_a_signal_no_longer_finds_was_none_to_tell(home: Path) -> None:
    found = create_session(request(), home / "sessions")
    other = held(found)  # it leads no group of its own: to kill that is as late as it can get
    try:
        assert launch.is_alive(found)
        assert not launch.kill(found)
    finally:
        ended(other)


@pytest.mark.slow
def test_an_engine_that_hears_nothing_is_killed_by_stop_now_and_goes_on_later(
    folder: SessionFolder, pike: Pike
) -> None:
    engine = holder(folder)
    assert engine is not None
    os.kill(engine.pid, signal.SIGSTOP)  # as a strategy that never returns
    told = pike("stop", "s", "--now")
    assert (told.code, "it did not end either and was killed" in told.err) == (0, True)
    assert launch.presence_now(folder) is not Presence.ALIVE
    assert pike("resume", "s").code == 0


def test_an_engine_whose_folder_is_removed_ends_by_itself(folder: SessionFolder) -> None:
    engine = holder(folder)
    assert engine is not None
    until(lambda: is_removed(folder.path))
    until(lambda: not is_running(engine.pid))


def is_removed(path: Path) -> bool:
    """Remove a folder that another process still writes in; return whether it is gone."""
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def is_running(pid: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_leaving_plain_lines_leaves_the_engine_and_names_the_way_back(home: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "workbench",
        "run",
        "starter/softmax",
        "--model",
        "offline",
        "--device",
        "cpu",
    ]
    shown = subprocess.Popen(
        [*argv, "--name", "s", "--plain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    found = SessionFolder(home / "sessions" / "s")
    until(lambda: found.journal.is_file() and launch.is_alive(found))
    assert shown.stdout is not None
    assert b"session s:" in shown.stdout.readline()
    shown.send_signal(signal.SIGINT)
    _, told = shown.communicate(timeout=60)
    assert shown.returncode == 130
    assert told.decode().splitlines()[-1].endswith("pike attach s")
    assert launch.is_alive(found)
    launch.terminate(found)
    until(lambda: launch.presence_now(found) is not Presence.ALIVE)


def test_an_engine_that_cannot_begin_says_why_to_whoever_started_it(
    folder: SessionFolder, pike: Pike
) -> None:
    assert pike("stop", "s", "--now").code == 0
    folder.journal.write_bytes(b"no journal any more, but long enough to be read as one")
    with pytest.raises(Exception, match=r"journal\.db"):
        launch.start(folder)
