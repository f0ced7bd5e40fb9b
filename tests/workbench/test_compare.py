"""`pike compare`: attempts and sessions side by side, and what is said of them."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions import facts as f
from sessions.folder import SessionFolder
from sessions.lock import EngineLock
from tests.tui import journals
from workbench import comparing, lookup
from workbench.comparing import Ratio, Side
from workbench.patches import patch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike


@pytest.fixture
def two(home: Path) -> Path:
    """Two sessions on one task, made up."""
    journals.build(home / "sessions/first")
    end = (f.Finished("all 300 queries are used", "queries"),)
    journals.build(home / "sessions/second", 12, hostile=False, end=end)
    return home


def side(name: str, low: float, high: float, word: str = "correct", at: float = 0.0) -> Side:
    return Side(name, word, eager=Ratio((low + high) / 2, low, high), measured_at=at)


def test_what_has_no_verdict_runs_only_while_an_engine_is_there(two: Path) -> None:
    folder = SessionFolder(two / "sessions/first")
    state = lookup.state(folder)
    (open_,) = [a.id for a in state.attempts.values() if not a.kind][:1]
    for at_work, word in ((True, "running"), (False, comparing.UNJUDGED)):
        found = comparing.sides(state, ["c3", open_], at_work=at_work)
        assert [s.cells["verdict"] for s in found if s.id == open_] == [word]
    assert not comparing.at_work(folder)
    lock = EngineLock.take(folder)
    assert comparing.at_work(folder)
    lock.release()


# --- what is said


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ([side("c1", 1.0, 1.1), side("c2", 1.2, 1.3)], "c2 is faster than c1: their intervals"),
        ([side("c1", 1.0, 1.2), side("c2", 1.1, 1.3)], "c2 and c1 are not told apart"),
        (
            [side("c1", 1.0, 1.1), side("c2", 1.2, 1.3), side("c3", 2.0, 2.1)],
            "c3 is the fastest: its interval over eager (2.00–2.10) lies above all others.",
        ),
        (
            [side("c1", 1.0, 1.1), side("c2", 1.9, 2.05), side("c3", 2.0, 2.1)],
            "c3 measured fastest, but is not told apart from c2",
        ),
        ([side("c1", 1.0, 1.1), side("c2", 9.0, 9.1, "suspect")], "c2 is suspect: its number"),
        ([side("c1", 1.0, 1.1), side("c2", 1.0, 1.1, "wrong")], "c1 alone is correct and timed."),
        ([Side("c1", "running"), Side("c2", "error")], "no speed to compare"),
        ([side("c1", 1.0, 1.1), Side("c2", "running")], "c2 is not judged yet."),
        (
            [side("c1", 1.0, 1.1), Side("c2", comparing.UNJUDGED)],
            "c2 was not judged: no engine runs",
        ),
        ([side("c1", 1.0, 1.1), Side("c2", "correct")], "c2 has no number over eager."),
    ],
)
def test_the_sentence_says_which_is_faster_and_how_sure(sides: list[Side], words: str) -> None:
    assert words in comparing.told(sides)


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0, 10)), min_size=2, max_size=5))
def test_nobody_is_called_faster_whose_interval_touches_another(
    found: list[tuple[float, float]],
) -> None:
    sides = [side(f"c{n}", low, low + width) for n, (low, width) in enumerate(found)]
    first, *rest = sorted(sides, key=lambda s: -(s.eager.value if s.eager else 0))
    touches = any(comparing.overlaps(first.eager, other.eager) for other in rest)
    told = comparing.told(sides)
    assert ("told apart" in told) == touches
    assert ("faster than" in told or "the fastest" in told) != touches


def test_the_time_between_measurements_is_said() -> None:
    sides = [side("c1", 1, 2, at=10.0), side("c2", 1, 2, at=10.0 + 52 * 60)]
    assert comparing.told_apart(sides) == "Measured 52 min apart."
    assert comparing.told_apart(sides[:1]) == ""


# --- the command


def test_attempts_stand_beside_each_other_with_the_original(pike: Pike, two: Path) -> None:
    told = pike("compare", "first", "c3", "c25")
    assert told.code == 0
    assert told.lines[0].split() == ["c3", "c25", "★", "original"]
    rows = {line[:15].strip(): line for line in told.lines[1:9]}
    assert "0.85× 0.83–0.87" in rows["speedup, 98 %"]
    assert "bf16 + compile" in rows["over"]
    assert "1.00×" in rows["over eager"]
    assert "2.05" in rows["runtime ms"]
    assert "COA" in rows["by"]
    assert "c25 is faster than c3: their intervals over eager are apart" in told.out
    assert "--again times them back to back" in told.out


def test_attempts_as_json_hold_intervals_and_the_sentence(pike: Pike, two: Path) -> None:
    found = pike("compare", "first", "c3", "c25", "--json").json
    assert [a["id"] for a in found["attempts"]] == ["c3", "c25"]
    assert found["attempts"][1]["best"] is True
    assert found["attempts"][1]["eager"]["low"] < found["attempts"][1]["eager"]["value"]
    assert "c25 is faster" in found["told"]
    assert found["apart_s"] > 0


def test_numbers_of_another_kind_say_so(
    pike: Pike, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journals.opened

    def offline(session: str, queries: int) -> f.Opened:
        models = dict.fromkeys(("ideas", "improve", "fix"), "offline")
        return replace(real(session, queries), models=models)

    monkeypatch.setattr(journals, "opened", offline)
    journals.build(home / "sessions/first", 12, hostile=False)
    told = pike("compare", "first", "c3", "c5")
    assert "numbers of another kind: offline." in told.out
    assert pike("compare", "first", "c3", "c5", "--json").json["labels"] == ["offline"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("c3",), "two attempts"),
        (("c3", "c3"), "two attempts"),
        (("c3", "c999"), "no attempt 'c999'"),
        (tuple(f"c{n}" for n in range(3, 12)), "6 at most"),
        (("nobody",), "no session 'nobody'"),
        (("second", "--again"), "for attempts of one session"),
        (("first",), "two sessions"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    pike: Pike, two: Path, words: tuple[str, ...], said: str
) -> None:
    told = pike("compare", "first", *words)
    assert (told.code, told.out) == (2, "")
    assert said in told.err


def test_sessions_stand_beside_each_other(pike: Pike, two: Path) -> None:
    told = pike("compare", "first", "second")
    assert told.code == 0
    assert told.lines[0].split() == ["first", "second"]
    assert "The best of first is faster than that of second" in told.out
    assert "2 unavailable" in told.out
    found = pike("compare", "first", "second", "--json").json
    assert [s["name"] for s in found["sessions"]] == ["first", "second"]


def test_sessions_on_different_tasks_are_refused(
    pike: Pike, two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journals.opened

    def another(*given: Any) -> f.Opened:
        return replace(real(*given), task="starter/scan", task_sha256="6" * 64)

    monkeypatch.setattr(journals, "opened", another)
    journals.build(two / "sessions/third", 8, hostile=False)
    told = pike("compare", "first", "third")
    assert told.code == 2
    assert "first works on starter/softmax, third on starter/scan" in told.err


# --- the patch


def test_the_patch_is_one_that_git_applies(pike: Pike, two: Path, tmp_path: Path) -> None:
    before = pike("show", "first", "c3", "--json").json["source"]
    after = pike("show", "first", "c25", "--json").json["source"]
    _applies(tmp_path, before, after, pike("compare", "first", "c3", "c25", "--diff").out)


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb", "a\nc"), ("a\n", "a"), ("a\x0cb\nc\n", "a\x0cb\nd\n"), ("a\u2028b\n", "c\n")],
)
def test_odd_line_ends_survive_a_patch(tmp_path: Path, before: str, after: str) -> None:
    _applies(tmp_path, before, after, patch(before, after, "f.py", "f.py"))


def _applies(folder: Path, before: str, after: str, text: str) -> None:
    name = text.splitlines()[1].removeprefix("+++ ").strip()
    changed = text.replace(text.splitlines()[0], f"--- {name}", 1)
    (folder / name).write_text(before, encoding="utf-8", newline="")
    done = subprocess.run(
        ["git", "apply", "-p0", "-"],
        input=changed.encode(),
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / name).read_bytes() == after.encode()
