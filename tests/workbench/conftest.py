"""What the tests of the plain commands share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from sessions.folder import all_in
from tests.workbench.commanding import Pike
from workbench import launch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder of the test's own, no settings, no keys; no engine outlives the test."""
    found = tmp_path / "home"
    monkeypatch.setenv("PIKE_HOME", str(found))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    yield found
    for folder in all_in(found / "sessions") if (found / "sessions").is_dir() else ():
        launch.kill(folder)


@pytest.fixture
def pike() -> Pike:
    """The command."""
    return Pike()
