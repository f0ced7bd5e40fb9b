"""A terminal of the test's own: tmux on a private server, its screen read until words are seen."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LIMIT_S = 60.0
"""For words to appear on a busy machine."""
LOOK_S = 0.05
STAYING = '"$@"; echo "ended with status $?"; exec sleep 600'
"""Not tmux's own word for it, which now and then never comes: it misses that its child has ended."""
needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux is not installed here; install it and run again"
)


@dataclass(frozen=True, slots=True)
class Tmux:
    """One server with one window."""

    socket: Path
    """Where the server listens: a path of the test's own, so that no other tmux is met."""
    env: Mapping[str, str]
    columns: int = 80
    rows: int = 24

    def start(self, words: Sequence[str]) -> None:
        """Run a program in a new window, which says how it ended and stays."""
        size = ("-x", str(self.columns), "-y", str(self.rows))
        self._tmux("new-session", "-d", "-s", "pike", *size, "sh", "-c", STAYING, "sh", *words)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: `j`, `Enter`, `Escape`, `C-j`."""
        self._tmux("send-keys", "-t", "pike", *keys)

    def type(self, text: str) -> None:
        """Type text, letter by letter."""
        self._tmux("send-keys", "-t", "pike", "-l", text)

    def shown(self) -> str:
        """Return what the screen shows."""
        return self._tmux("capture-pane", "-p", "-t", "pike")

    def until(self, *words: str, gone: Sequence[str] = ()) -> str:
        """Return the screen once it shows all these words and none of those gone.

        Raises:
            AssertionError: not within the limit; the message holds the last screen.
        """
        end = time.monotonic() + LIMIT_S
        while True:
            found = self.shown()
            if all(word in found for word in words) and not any(word in found for word in gone):
                return found
            assert time.monotonic() < end, f"not seen: {words}, without {gone}, in\n{found}"
            time.sleep(LOOK_S)

    def kill(self) -> None:
        """End the server, as a reboot of the terminal's host or a lost connection would."""
        subprocess.run([*self._argv(), "kill-server"], capture_output=True, check=False)
        end = time.monotonic() + LIMIT_S
        while self._listens():  # a new window asked of a server that is ending ends with it
            assert time.monotonic() < end, "tmux did not end"
            time.sleep(LOOK_S)

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(self.socket))
            except OSError:
                return False
        return True

    def _argv(self) -> list[str]:
        return ["tmux", "-f", "/dev/null", "-S", str(self.socket)]

    def _tmux(self, *words: str) -> str:
        told = subprocess.run(
            [*self._argv(), *words],
            capture_output=True,
            encoding="utf-8",
            env=dict(self.env),
            timeout=LIMIT_S,
            check=False,
        )
        assert told.returncode == 0, f"tmux {words[0]}: {told.stderr}"
        return told.stdout
