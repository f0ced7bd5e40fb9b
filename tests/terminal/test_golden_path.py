"""The golden path in tmux at 80×24: everything a person does with one search, by keys, through a lost terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.folder import SessionFolder
from sessions.lock import Presence, presence
from tests.terminal.tmux import LIMIT_S, Tmux, needs_tmux
from workbench import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.terminal, needs_tmux]

PRODUCT = Path(__file__).parents[2]
GUIDE = "no atomics, please"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A state folder; whatever engine runs in it is gone afterwards."""
    yield tmp_path
    for folder in (tmp_path / "sessions").glob("*"):
        launch.kill(SessionFolder(folder))


@pytest.fixture
def tmux(home: Path) -> Iterator[Tmux]:
    """A terminal of 80×24."""
    env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE", "NO_COLOR")}
    env |= {
        "PIKE_HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PYTHONPATH": str(PRODUCT),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    found = Tmux(home / "tmux", env)
    yield found
    found.kill()


def pike(tmux: Tmux, *words: str) -> str:
    """Return what a plain command prints beside the screen."""
    argv = [sys.executable, "-m", "workbench", *words]
    told = subprocess.run(
        argv, capture_output=True, text=True, env=dict(tmux.env), timeout=LIMIT_S, check=True
    )
    return told.stdout


def status_of(shown: str) -> str:
    """Return the part of the status line that tells best, money and queries."""
    return shown.splitlines()[0].partition("best")[2].strip()


def until_no_engine(folder: SessionFolder) -> None:
    """Wait until the engine has ended."""
    end = time.monotonic() + LIMIT_S
    while presence(folder) is not Presence.NONE:
        assert time.monotonic() < end, "the engine did not end"
        time.sleep(0.05)


def until_two_rows(tmux: Tmux) -> None:
    """Wait for a second correct attempt, of which there may be one when the search goes on."""
    end = time.monotonic() + LIMIT_S
    while tmux.shown().count("✓ c") < 2:
        assert time.monotonic() < end, f"there is no second one in\n{tmux.shown()}"
        time.sleep(0.05)


def keep_only_correct(tmux: Tmux) -> None:
    tmux.press("/")
    tmux.until("by:EFA")
    tmux.type("correct")
    tmux.press("Enter")
    tmux.until("· correct ·", gone=("✗", "⊘"))


@pytest.mark.timeout(300)
def test_one_search_from_start_to_stop_through_a_terminal_that_dies(home: Path, tmux: Tmux) -> None:
    folder = SessionFolder(home / "sessions/golden")

    tmux.start([sys.executable, "-m", "tests.terminal.scripted_run", "golden"])
    tmux.until("● running", "2 Attempts", "COA", "p Pause")
    tmux.until("✓ c", "★")

    keep_only_correct(tmux)
    tmux.press("Enter")
    tmux.until("to parent", "hunk 1/", "✓ correct")
    tmux.press("Escape")
    tmux.until("2 Attempts")

    tmux.press("s")
    tmux.until("Steer golden", "(•) guide", "Words for the agents")
    tmux.type(GUIDE)
    tmux.until(GUIDE)
    tmux.press("C-j")
    tmux.until("s1 guide is taken up", gone=("Steer golden",))
    tmux.press("s")
    tmux.until("in force", GUIDE, "used by ")
    tmux.press("Escape")
    tmux.until("2 Attempts", gone=("Steer golden",))

    tmux.press("p")
    before = status_of(tmux.until("‖ paused by", "p Resume"))
    assert re.match(r"\d\.\d\d× ±\d\.\d\d fp32", before), before

    tmux.kill()
    assert presence(folder) is Presence.ALIVE, "the engine died with its terminal"

    tmux.start([sys.executable, "-m", "workbench", "attach", "golden"])
    after = status_of(tmux.until("‖ paused by", "2 Attempts", "p Resume"))
    assert after == before
    tmux.press("s")
    tmux.until("in force", GUIDE)
    tmux.press("Escape")
    tmux.until("2 Attempts", gone=("Steer golden",))

    tmux.press("p")
    tmux.until("● running", "p Pause")
    keep_only_correct(tmux)
    until_two_rows(tmux)
    tmux.press("g", "Space", "j", "Space")
    tmux.until("2 marked")
    tmux.press("c")
    compared = tmux.until("Compare · golden", "speedup, 98 %", "reached after", "├─ Diff c")
    assert re.search(r"speedup, 98 % +\d\.\d\d× \d\.\d\d–\d\.\d\d +\d\.\d\d×", compared), compared
    tmux.press("Escape")
    tmux.until("2 marked")

    written = pike(tmux, "best", "golden")
    assert "class ModelNew" in written
    assert "# speedup: " in written

    tmux.press("x")
    tmux.until("Stop golden", "Cancel")
    tmux.press("x")
    tmux.until("■ stopped by")
    tmux.press("q")
    tmux.until("ended with status 0")
    until_no_engine(folder)
    assert "stopped" in pike(tmux, "sessions")
