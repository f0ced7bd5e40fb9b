"""What the tests of the plain commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.workbench.commanding import Pike

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, no settings, no keys."""
    found = tmp_path / "home"
    monkeypatch.setenv("PIKE_HOME", str(found))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "OPENROUTER_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def pike() -> Pike:
    """The command."""
    return Pike()
