"""The person's command is told, and can do no harm."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sessions.states import SessionState
from workbench.notices import Notices
from workbench.notify import notify, usable

if TYPE_CHECKING:
    from pathlib import Path


def keeper(tmp_path: Path) -> tuple[str, Path]:
    """Return a command that keeps what it was told, and where."""
    kept, script = tmp_path / "kept", tmp_path / "keep.py"
    script.write_text(
        f"import os, sys\nopen({str(kept)!r}, 'a').write('|'.join([*sys.argv[1:], os.environ['PIKE_SESSION']]))\n",
        encoding="utf-8",
    )
    return f"{sys.executable} {script}", kept


def test_the_command_gets_what_happened_and_to_whom(tmp_path: Path) -> None:
    command, kept = keeper(tmp_path)
    assert notify(command, "conv-1", "finished", "all queries are used")
    assert kept.read_text(encoding="utf-8") == "conv-1 finished|all queries are used|conv-1"


def test_foreign_words_are_arguments_and_never_a_shell_line(tmp_path: Path) -> None:
    command, kept = keeper(tmp_path)
    assert notify(command, "s", "needs you", "$(touch x); `id` \x1b[31m")
    assert "$(touch x); `id` ␛[31m" in kept.read_text(encoding="utf-8")
    assert not (tmp_path / "x").exists()


def test_a_command_that_fails_is_told_by_false_and_raises_nothing() -> None:
    assert not notify("/no/such/program", "s", "finished", "")
    assert not notify("false", "s", "finished", "")
    assert not notify("'unbalanced", "s", "finished", "")


def test_a_command_that_cannot_work_is_known_beforehand() -> None:
    assert usable("true") == ""
    assert "no program" in usable("no-such-program-here -x")
    assert "cannot be read" in usable("'unbalanced")


async def test_notices_go_out_beside_the_engine_and_are_awaited_at_its_end(tmp_path: Path) -> None:
    command, kept = keeper(tmp_path)
    notices = Notices(command, "s", lambda: "best c4: 1.41×")
    notices(SessionState.FINISHED, "all queries are used")
    await notices.told()
    assert "s finished|all queries are used. best c4: 1.41×" in kept.read_text(encoding="utf-8")


async def test_without_a_command_nobody_is_told() -> None:
    notices = Notices("", "s")
    notices(SessionState.PAUSED, "the key was refused")
    await notices.told()


async def test_what_a_search_that_goes_on_asks_is_told_as_needing_you(tmp_path: Path) -> None:
    command, kept = keeper(tmp_path)
    notices = Notices(command, "s")
    notices(SessionState.RUNNING, "80 % of the queries are used")
    await notices.told()
    assert kept.read_text(encoding="utf-8").startswith("s needs you|80 % of the queries are used|")
