"""The evidence of a best: written by `pike best --bundle`, refused by `pike replay` once it was changed."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions import evidence
from tests.sessions.searches import Search, search
from workbench.commands.profile import keep
from workbench.widgets.profile_view import kept_profile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike


@pytest.fixture
async def done(home: Path) -> Search:
    """A search run to its end by a real engine, with real git."""
    found = search(home / "sessions", name="small-1")
    await found.run()
    return found


def test_a_bundle_holds_task_candidate_and_verdict_of_the_best(
    pike: Pike, done: Search, tmp_path: Path
) -> None:
    path = tmp_path / "best.json"
    told = pike("best", "small-1", "--bundle", str(path))
    assert told.code == 0, told.err
    assert told.out == ""
    assert f"pike replay {path}" in told.err
    assert "raw samples are not kept here" in told.err  # a scripted evaluator measures nothing
    held = json.loads(path.read_text(encoding="utf-8"))
    top = done.state.leader
    assert top is not None
    assert held["verdict"]["speedup_ratio"] == top.verdict["speedup_ratio"]
    assert "class Model(" in held["task"]["source"]
    assert "ModelNew" in held["candidate"]["source"]


def test_a_bundle_that_was_changed_is_not_judged(
    pike: Pike, done: Search, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "best.json"
    assert pike("best", "small-1", "--bundle", str(path)).code == 0
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("return x * 2", "return x * 3"), encoding="utf-8")
    told = pike("replay", str(path), "--device", "cpu")
    assert told.code == 1
    assert "was changed after it was written" in capfd.readouterr().err


def test_a_bundle_that_cannot_be_written_is_said_in_a_sentence(
    pike: Pike, done: Search, tmp_path: Path
) -> None:
    told = pike("best", "small-1", "--bundle", str(tmp_path / "no" / "folder" / "x.json"))
    assert told.code == 1
    assert "cannot be written" in told.err
    assert "Traceback" not in told.err


def test_a_dash_is_stdout_for_a_candidate_and_no_place_for_a_bundle(
    pike: Pike, done: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pike("best", "small-1", "--bundle", "-").code == 2
    assert "class ModelNew" in pike("best", "small-1", "-o", "-").out
    assert not list(tmp_path.glob("-"))


def test_what_is_no_file_is_wrong_usage(pike: Pike) -> None:
    assert pike("replay", "nowhere.json").code == 2
    assert pike("profile", "starter/nothing").code == 2
    assert pike("profile", "no-such-session:c1").code == 2


def test_a_session_keeps_the_raw_evidence_of_its_verdicts(home: Path, done: Search) -> None:
    name = "ab" * 32
    kept = home / "evidence" / "ab" / f"{name}.json.gz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(gzip.compress(b'{"seed": 7}'))
    evidence.keep(done.folder, {"evidence_sha256": name})
    copied = done.folder.artifacts / "evidence" / "ab" / kept.name
    assert copied.read_bytes() == kept.read_bytes()
    for other in ("", "../../x", "cd" * 32):
        evidence.keep(done.folder, {"evidence_sha256": other})
    assert [p.name for p in done.folder.artifacts.rglob("*.gz")] == [kept.name]


def test_the_profile_of_an_attempt_is_kept_where_the_screen_looks(done: Search) -> None:
    found: dict[str, Any] = {
        "verdict": {"summary": ["launch-bound"]},
        "profile": {"candidate": {"kernels": []}},
    }
    keep(done.folder.artifacts / "profile-c1.json", found)
    assert kept_profile(done.folder, "c1") == found
    assert kept_profile(done.folder, "c2") is None


def test_the_candidate_and_its_evidence_are_asked_for_one_at_a_time(
    pike: Pike, done: Search, tmp_path: Path
) -> None:
    told = pike("best", "small-1", "-o", str(tmp_path / "x.py"), "--bundle", str(tmp_path / "b"))
    assert told.code == 2
    assert "one at a time" in told.err
    assert list(tmp_path.glob("[xb]*")) == []
