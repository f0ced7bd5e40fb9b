"""A recorded session to look at, and an application on it with a clock that stands still."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from sessions.folder import SessionFolder
from sessions.journal import Reader
from sessions.lock import EngineLock
from tests.tui import journals
from workbench.app import PikeApp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.journal import Command
    from workbench.keymap import Keymap


@dataclass(frozen=True, slots=True)
class Stage:
    """A state folder with sessions, and the time on its clock."""

    root: Path
    folder: SessionFolder
    """`gpt-block`: running, an engine alive."""
    at: float

    def app(
        self,
        *,
        on_list: bool = False,
        unicode: bool = True,
        theme: str = "dark",
        keys: Keymap | None = None,
    ) -> PikeApp:
        """Return an application four seconds after the last fact."""
        return PikeApp(
            None if on_list else self.folder,
            under=self.root / "sessions",
            now=lambda: self.at + 4,
            unicode=unicode,
            wanted_theme=theme,
            keys=keys,
        )

    def asked(self) -> list[Command]:
        """Return what was asked of the engine."""
        with Reader(self.folder.journal) as reader:
            return reader.waiting_commands()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """Record the sessions once."""
    root = tmp_path_factory.mktemp("recorded")
    made = journals.build(root / "sessions/gpt-block")
    journals.build(
        root / "sessions/scan-1",
        12,
        hostile=False,
        end=(f.Finished("all 300 queries are used", "queries"),),
    )
    journals.build(
        root / "sessions/attn-2",
        8,
        hostile=False,
        end=(f.Paused("the key in OPENAI_API_KEY was refused", "bad_key"),),
    )
    return root, made.at


@pytest.fixture
def stage(
    recorded: tuple[Path, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    """Return a copy of the recorded sessions; an engine (this process) holds the first one's lock."""
    root, at = recorded
    shutil.copytree(root / "sessions", tmp_path / "sessions")
    monkeypatch.setenv("PIKE_HOME", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    folder = SessionFolder(tmp_path / "sessions/gpt-block")
    lock = EngineLock.take(folder)
    yield Stage(tmp_path, folder, at)
    lock.release()
