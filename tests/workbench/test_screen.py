"""Whether a screen can be opened, asked from inside a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def in_a_terminal(*words: str, term: str) -> tuple[int, str]:
    """Run `pike` in a terminal of its own; return its exit code and all that was printed."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "workbench", *words]
    env = {**os.environ, "TERM": term}
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.returncode, printed.decode("utf-8", "replace")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_dumb_terminal_is_refused_with_the_plain_command(term: str) -> None:
    code, printed = in_a_terminal(term=term)
    assert code == 1
    assert "TERM is dumb" in printed
    assert "Use `pike sessions`." in printed, "and no flag that `pike` alone does not take"
    assert "\x1b" not in printed


def test_plain_commands_send_no_colours_to_a_terminal() -> None:
    code, printed = in_a_terminal("config", term="xterm-256color")
    assert code == 0
    assert "queries" in printed
    assert "\x1b" not in printed


def test_a_program_that_serves_screens_over_pipes_gets_them(home: Path) -> None:
    env = {**os.environ, "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}
    argv = [sys.executable, "-m", "workbench"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"__GANGLION__\n", "what textual-serve waits for"
        process.kill()
