"""The long list of escapes: what each level keeps back, and that a table is written from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest

from mcp_server import escapes, escapes_as_user, interpreter, machine, sandbox, sandbox_table
from mcp_server.__main__ import main
from mcp_server.escapes import THINGS, Examined
from mcp_server.sandbox_table import Column
from tests.mcp_server.conftest import needs_bwrap, needs_landlock

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.sandbox import Level

LIMITS = {"processes", "memory", "scratch", "output"}


async def examined(level: Level) -> Examined:
    """Return what a level keeps back, all of it really tried."""
    found = await escapes.examine(level, interpreter.find(None), machine.cpu())
    assert found.works, found.reason
    assert set(found.outcomes) == set(THINGS)
    assert "unknown" not in found.outcomes.values(), found.outcomes
    return found


def still_open(found: Examined) -> set[str]:
    return {name for name, outcome in found.outcomes.items() if outcome == "open"}


@needs_bwrap
async def test_nothing_on_the_long_list_gets_out_of_bubblewrap() -> None:
    found = await examined("bwrap")
    assert still_open(found) == set()
    assert found.suffices


@needs_landlock
async def test_landlock_leaves_socket_files_open_and_where_proc_is_masked_the_sight_of_others() -> (
    None
):
    found = await examined("landlock")
    assert still_open(found) - {"sight"} == {"unix_sockets"}


@needs_landlock
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mask a part of /proc")
@pytest.mark.parametrize("masked", [True, False])
def test_landlock_works_with_a_proc_of_its_own_or_as_in_a_container_without(masked: bool) -> None:
    question = json.dumps([["landlock"], asdict(interpreter.find(None)), asdict(machine.cpu())])
    mask = "mount --bind /dev/null /proc/version && " if masked else ""
    argv = ["unshare", "--mount", "sh", "-c", f'{mask}exec "$@"', "sh", sys.executable, "-m"]
    done = subprocess.run(
        [*argv, escapes_as_user.__name__, question], capture_output=True, timeout=100, check=False
    )
    if done.returncode != 0:
        pytest.skip(done.stderr.decode("utf-8", "replace")[-300:])
    (row,) = json.loads(done.stdout)["rows"]
    assert row["works"], row["reason"]
    assert "sight" in row["outcomes"] if masked else row["outcomes"]["sight"] == "kept"
    assert row["outcomes"]["signals"] == row["outcomes"]["environment"] == "kept"


async def test_without_a_fence_every_attempt_succeeds_that_the_user_may_make_and_limits_hold() -> (
    None
):
    found = await examined("process")
    may = {"files", "writes", "network", "datagrams", "unix_sockets", "abstract_sockets", "sight"}
    assert may <= still_open(found)
    assert {"environment", "signals"} <= still_open(found)
    assert {found.outcomes[name] for name in LIMITS} <= {"kept", "ended"}
    assert found.outcomes["lingering"] == "kept"


async def test_a_program_that_never_tried_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(1)", encoding="utf-8")
    monkeypatch.setattr(escapes, "PROGRAM", str(broken))
    found = await escapes.examine("process", interpreter.find(None), machine.cpu())
    unknown = {name for name, outcome in found.outcomes.items() if outcome == "unknown"}
    assert unknown == set(THINGS) - {
        "files",
        "writes",
        "network",
        "unix_sockets",
        "environment",
        "signals",
    }


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_child_without_rights_finds_no_more_open_and_fork_bombs_refused() -> None:
    found = escapes_as_user.examine(["process"], interpreter.find(None), machine.cpu())
    if isinstance(found, escapes_as_user.Refused):
        pytest.skip(found.reason)
    assert [row.level for row in found] == ["process"]
    assert found[0].works
    assert found[0].outcomes["devices"] == "kept"
    assert found[0].outcomes["processes"] == "kept"
    assert found[0].outcomes["network"] == "open"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_interpreter_that_others_may_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(escapes_as_user, "_PLAIN", ())
    tmp_path.chmod(0o700)
    mine = tmp_path / "python"
    mine.symlink_to(interpreter.find(None).executable)
    python = replace(interpreter.find(None), executable=str(mine))
    found = escapes_as_user.examine(["process"], python, machine.cpu())
    assert isinstance(found, escapes_as_user.Refused)
    assert str(mine) in found.reason


def test_the_table_tells_each_level_and_user_and_why_one_does_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIKE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sandbox_table, "LEVELS", ("bwrap", "process"))
    monkeypatch.setattr(escapes_as_user, "_PLAIN", ())
    monkeypatch.setattr(sandbox, "ENTER", tmp_path / "nowhere.py")  # no level works
    path = tmp_path / "new" / "sandbox.md"
    main(["doctor", "--output", str(path)])
    text = path.read_text(encoding="utf-8")
    assert "| works | no | no |" in text
    assert "* process by " in text
    assert "Made by `python -m mcp_server doctor --output FILE.md`" in text
    assert "sandbox process" in capsys.readouterr().out
    assert main(["doctor", "--output", "/proc/sandbox.md"]) == 1
    assert "/proc/sandbox.md cannot be written" in capsys.readouterr().err


def test_a_section_has_a_row_for_each_thing() -> None:
    found = Examined("bwrap", works=True, outcomes={"files": "kept", "network": "open"})
    columns = [
        Column("me", found),
        Column("you", Examined("process", works=False, reason="it | ended")),
    ]
    text = sandbox_table.section(machine.cpu(), interpreter.find(None), columns, ["A note."])
    assert "|  | bwrap, me | process, you |" in text
    assert "| works | yes | no |" in text
    assert f"| {THINGS['files']} | kept | – |" in text
    assert f"| {THINGS['network']} | **open** | – |" in text
    assert f"| {THINGS['ptrace']} | unknown | – |" in text
    assert "* process by you: it | ended\n* A note." in text
