"""Plain lines of a search as it runs in another process, and how a person's command ends with it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from sessions.lock import Presence
from tests.sessions.searches import request
from tests.workbench.test_engines import until
from workbench import launch, lookup
from workbench.printing import Printer
from workbench.watching import Way, print_until_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sessions.folder import SessionFolder
    from tests.workbench.commanding import Pike

PLAIN = Way(plain=True, json=False, detach=False)
JSON = Way(plain=False, json=True, detach=False)


@pytest.fixture
def folder(home: Path) -> SessionFolder:
    """A new session without an engine."""
    from sessions.start import create_session

    return create_session(request(name="live"), home / "sessions")


@pytest.fixture
def begin(folder: SessionFolder) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a fated engine; it is gone afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(fate: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "tests.workbench.fated_engine", str(folder.path), fate]
        started.append(subprocess.Popen(argv, start_new_session=True))
        until(lambda: launch.is_alive(folder) or started[-1].poll() is not None)
        return started[-1]

    yield start
    for engine in started:
        if engine.poll() is None:
            os.killpg(engine.pid, signal.SIGKILL)
        engine.wait(60)


def watched(folder: SessionFolder, way: Way) -> tuple[int, list[str], str]:
    """Print until the search is over; return exit code, stdout's lines and stderr."""
    out, err = io.StringIO(), io.StringIO()
    code = print_until_over(folder, way, Printer(out, err))
    return code, out.getvalue().splitlines(), err.getvalue()


def test_a_finished_search_ends_with_its_summary_and_zero(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    begin("ends")
    code, lines, _ = watched(folder, PLAIN)
    found = lookup.state(folder)
    assert code == 0
    told = [line for line in lines if "  finished: " in line]
    assert len(told) == 1
    summary = lines[lines.index(told[0]) + 1 :]
    assert any("★ best" in line for line in summary)
    assert any("over eager" in line for line in summary)
    assert any("lineage/001" in line for line in summary)
    assert any(line == f"folder: {folder.path}" for line in summary)
    assert any("pike best live" in line for line in summary)
    assert lines.index(told[0]) + 1 == found.seq


def test_json_lines_hold_every_fact_and_nothing_else(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    begin("ends")
    code, lines, _ = watched(folder, JSON)
    rows = [json.loads(line) for line in lines]
    assert code == 0
    assert [row["seq"] for row in rows] == list(range(1, lookup.state(folder).seq + 1))


def test_a_search_that_pauses_by_itself_ends_with_one_and_says_why(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    begin("bad-key")
    code, _, told = watched(folder, PLAIN)
    assert code == 1
    assert "FATED_API_KEY" in told
    assert "pike resume live" in told


def test_an_engine_that_dies_is_told_with_the_way_to_revive_it(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    engine = begin("slow")
    killer = threading.Timer(1.0, lambda: os.killpg(engine.pid, signal.SIGKILL))
    killer.start()
    code, _, told = watched(folder, PLAIN)
    killer.join()
    assert code == 1
    assert "pike resume live" in told
    assert launch.presence_now(folder) is Presence.CRASHED


def test_tail_follows_a_running_search_to_its_end(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]], pike: Pike
) -> None:
    begin("ends")
    told = pike("tail", "live", "--follow")
    assert told.code == 0
    assert len(told.lines) == lookup.state(folder).seq


def test_pausing_waits_for_what_is_in_flight_and_stopping_ends_the_engine(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]], pike: Pike
) -> None:
    engine = begin("slow")
    until(lambda: bool(lookup.state(folder).in_flight))
    told = pike("pause", "live")
    assert told.code == 0
    assert "in flight" in told.err
    until(lambda: lookup.state(folder).state.value == "paused")
    assert pike("stop", "live").code == 0
    engine.wait(60)
    assert lookup.state(folder).state.value == "stopped"
    assert not lookup.state(folder).in_flight


def test_resuming_after_a_refused_key_ends_the_engine_that_has_the_old_one(
    folder: SessionFolder, begin: Callable[[str], subprocess.Popen[bytes]], pike: Pike
) -> None:
    old = begin("bad-key")
    until(lambda: lookup.state(folder).code == "bad_key")
    told = pike("resume", "live")
    assert old.wait(60) == 0
    assert "no model is called 'fated'" in told.err, (
        "a new engine was started, by the product's own entry"
    )
    assert lookup.state(folder).spending.queries == 0
