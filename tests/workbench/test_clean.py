"""`pike clean`: lists what no session needs, frees it when told to, and never a lineage that was not named."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sessions.experiments import folder as experiments
from sessions.experiments.plan import RunState
from sessions.folder import sessions_root
from tests.fakes import FatedModel
from tests.sessions.experiments.test_course import plan_of
from tests.sessions.searches import Search, search
from tests.workbench.commanding import Terminal
from workbench import freeing, launch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sessions.experiments.folder import ExperimentFolder
    from sessions.folder import SessionFolder
    from tests.workbench.commanding import Pike


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files with one dead evaluator's and one living one's."""
    found = tmp_path / "tmp"
    monkeypatch.setattr(tempfile, "tempdir", str(found))
    for name in ("pike-server-dead", "pike-server-alive"):
        (found / name).mkdir(parents=True)
        (found / name / ".held").touch()
        (found / name / "job").write_bytes(b"x" * 1000)
    lock = os.open(found / "pike-server-alive" / ".held", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield found
    os.close(lock)


@pytest.fixture
async def done(home: Path) -> Search:
    """A finished search, with room held back."""
    made = search(sessions_root(), name="done", model=FatedModel(fates=("ok",)))
    await made.run()
    assert made.folder.ballast.is_file()
    del home
    return made


def whats(pike: Pike, *words: str) -> dict[str, bool]:
    return {row["what"]: row["freed"] for row in pike("clean", "--json", *words).json}


def test_it_shows_each_thing_with_its_size_and_reason_and_frees_nothing_unasked(
    pike: Pike, done: Search, scratch: Path
) -> None:
    told = pike("clean")
    assert told.code == 0
    assert "1.0 kB  an evaluator's scratch and jobs  its evaluator is gone" in told.out
    assert "room held back for done its search is finished" in " ".join(told.out.split())
    assert "--yes frees it" in told.err
    assert (scratch / "pike-server-dead" / "job").is_file()
    assert done.folder.ballast.is_file()


def test_yes_frees_all_but_what_an_evaluator_holds_and_no_session(
    pike: Pike, done: Search, scratch: Path
) -> None:
    before = sorted(p for p in done.folder.lineage.rglob("*") if p.is_file())
    assert set(whats(pike, "--yes").values()) == {True}
    assert not (scratch / "pike-server-dead").exists()
    assert (scratch / "pike-server-alive" / "job").is_file()
    assert not done.folder.ballast.exists()
    assert sorted(p for p in done.folder.lineage.rglob("*") if p.is_file()) == before
    assert done.state.leader is not None
    assert whats(pike) == {}


def test_compiled_code_goes_only_while_no_evaluator_runs(
    pike: Pike, home: Path, scratch: Path
) -> None:
    for name in ("baselines", "extensions", "qualifications"):
        (home / "cache" / name).mkdir(parents=True)
        (home / "cache" / name / "some.so").write_bytes(b"x" * 100)
    assert "compiled baselines" not in whats(pike)
    (scratch / "pike-server-alive" / ".held").unlink()
    (scratch / "pike-server-alive" / ".held").touch()
    assert whats(pike, "--yes") == {
        "an evaluator's scratch and jobs": True,
        "compiled baselines": True,
        "compiled extensions": True,
    }
    assert [p.name for p in (home / "cache").iterdir()] == ["qualifications"]


@pytest.mark.parametrize(("answers", "stays"), [("y\nnope\n", True), ("n\ndone\n", False)])
def test_a_session_goes_only_when_its_name_is_typed(
    pike: Pike, done: Search, answers: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Keyboard(Terminal):
        pass

    monkeypatch.setattr(sys, "stdin", Keyboard(answers))
    told = pike("clean", "done")
    assert told.code == 0
    assert "Type done to remove the session with all its lineages, for good" in told.err
    assert done.folder.path.exists() is stays


def test_a_running_session_is_never_removed(
    pike: Pike, done: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    def alive(_folder: SessionFolder) -> freeing.Presence:
        return freeing.Presence.ALIVE

    monkeypatch.setattr(launch, "presence_now", alive)
    told = pike("clean", "done", "--yes")
    assert told.code == 1
    assert "an engine runs it; stop it first (pike stop done)" in told.err
    assert done.folder.path.exists()
    assert "room held back for done" not in whats(pike)


def experiment(*sessions: str, state: RunState = RunState.FINISHED) -> ExperimentFolder:
    """Return an experiment whose runs are these sessions."""
    made = experiments.create(experiments.experiments_root(), "", plan_of(1))
    runs = [replace(r, session=s, state=state) for r, s in zip(made.runs, sessions, strict=False)]
    made.keep_runs(runs)
    return made


@pytest.mark.parametrize(("answers", "stays"), [("y\nlab\n", False), ("y\ndone\n", True)])
def test_an_experiment_goes_with_all_its_sessions_only_when_its_name_is_typed(
    pike: Pike, done: Search, answers: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = experiment("done", "not-begun")
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    told = pike("clean", "lab")
    assert told.code == 0
    assert "Type lab to remove the experiment with its 1 session and all their lineages" in told.err
    assert (made.path.exists(), done.folder.path.exists()) == (stays, stays)


def test_an_experiment_that_still_has_a_session_or_a_run_to_begin_is_not_offered(
    pike: Pike, done: Search
) -> None:
    made = experiment("done")
    assert not [what for what in whats(pike) if "experiment" in what]
    shutil.rmtree(done.folder.path)
    made.keep_runs([replace(made.runs[0], state=RunState.WAITING)])
    assert not [what for what in whats(pike) if "experiment" in what]
    made.keep_runs([replace(made.runs[0], state=RunState.FINISHED)])
    assert whats(pike, "--yes")["experiment lab: its list of runs"]
    assert not made.path.exists()


def test_an_experiment_that_something_drives_is_never_removed(pike: Pike, home: Path) -> None:
    made = experiment("gone")
    del home
    lock = experiments.RunnerLock.take(made)
    try:
        told = pike("clean", "lab", "--yes")
    finally:
        lock.release()
    assert told.code == 1
    assert "stop it first (pike experiment stop lab)" in told.err
    assert made.path.exists()


def test_what_a_killed_start_of_an_experiment_left_goes(pike: Pike, home: Path) -> None:
    root = home / "experiments"
    for maker in (os.getpid(), 2**22 + 1):  # beyond what a process may be called
        (root / f".lab.{maker}").mkdir(parents=True)
    assert whats(pike, "--yes")["an interrupted start of an experiment"]
    assert [p.name for p in root.iterdir()] == [f".lab.{os.getpid()}"]


def test_links_are_not_followed_and_locked_folders_are_opened(
    pike: Pike, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    (scratch / "pike-server-dead" / "link").symlink_to(tmp_path / "mine")
    (scratch / "pike-server-link").symlink_to(tmp_path / "mine")
    locked = scratch / "pike-server-dead" / "locked"
    locked.mkdir()
    (locked / "file").touch()
    locked.chmod(0o500)
    assert set(whats(pike, "--yes").values()) == {True}
    assert (tmp_path / "mine" / "thesis.tex").is_file()
    assert not (scratch / "pike-server-dead").exists()


def test_a_name_that_is_no_session_is_wrong_usage(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert pike("clean", "nobody").code == 2
