"""What the plain commands show of a finished search, and of one whose every foreign text is an attack."""

from __future__ import annotations

import ast
import json
import subprocess
import unicodedata
from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from sessions.facts import Fact
from sessions.fold import fold
from sessions.journal import Reader
from tests.sessions.searches import Search, search
from tests.tui import journals

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike


REFUSED = {"status": "rejected", "code": "stale_answer"}


@pytest.fixture
async def done(home: Path) -> Search:
    """A search run to its end by a real engine, with real git."""
    found = search(home / "sessions", name="small-1")
    await found.run()
    return found


@pytest.fixture
def hostile(home: Path) -> str:
    """A session full of texts that would break or deceive a terminal."""
    journals.build(home / "sessions" / "gpt-block", 30, hostile=True)
    return "gpt-block"


def test_the_rows_of_sessions_have_the_promised_keys(pike: Pike, done: Search) -> None:
    rows = pike("sessions", "--json").json
    assert {"id", "state", "task", "strategy", "attempts", "best_speedup"} <= set(rows[0])
    assert (rows[0]["id"], rows[0]["state"]) == ("small-1", "finished")
    assert rows[0]["attempts"] == len(done.state.attempts)


def test_the_list_of_sessions_has_a_line_each(pike: Pike, done: Search) -> None:
    told = pike("sessions")
    assert told.code == 0
    assert [line for line in told.lines if "small-1" in line and "✓ finished" in line]


def test_a_session_whose_engine_never_was_is_stopped_in_every_list(pike: Pike, home: Path) -> None:
    journals.build(home / "sessions" / "left", 30)  # long ago, and no engine holds its lock
    (row,) = pike("sessions", "--json").json
    assert (row["state"], row["cause"], row["engine"]) == ("stopped", "no engine runs it", "none")
    assert pike("show", "left", "--json").json["state"] == "stopped"
    assert "■ stopped" in pike("sessions").out


def test_a_renamed_session_is_listed_by_the_name_that_finds_it(pike: Pike, done: Search) -> None:
    done.folder.path.rename(done.folder.path.with_name("kept"))
    assert [row["id"] for row in pike("sessions", "--json").json] == ["kept"]
    assert pike("show", "kept", "--json").json["id"] == "kept"


def test_a_unique_beginning_of_a_name_will_do(pike: Pike, done: Search) -> None:
    assert pike("show", "sm").out == pike("show", "small-1").out


def test_show_lists_every_attempt_and_the_best(pike: Pike, done: Search) -> None:
    told = pike("show", "small-1")
    for attempt in done.state.attempts:
        assert [line for line in told.lines if attempt in line.split()]
    assert "★" in told.out


def test_show_of_an_attempt_holds_source_prompt_and_reply(pike: Pike, done: Search) -> None:
    name = next(iter(done.state.attempts))
    found = pike("show", "small-1", name, "--json").json
    assert "class ModelNew" in found["source"]
    assert found["prompt"]
    assert found["source"].strip() in found["reply"]
    assert found["verdict"]["status"]


def test_show_of_an_attempt_says_what_the_second_measurement_said(pike: Pike, done: Search) -> None:
    again = next(a for a in done.state.attempts.values() if a.remeasured)
    assert "measured again: correct" in pike("show", "small-1", again.id).out
    journal = [*done.facts, Fact(done.state.seq + 1, 1.0, f.Remeasured(again.id, REFUSED))]
    assert fold(journal).attempts[again.id].refutation == "measured again: rejected, stale_answer"


def test_show_of_an_unknown_attempt_names_the_newest(pike: Pike, done: Search) -> None:
    told = pike("show", "small-1", "c999")
    assert told.code == 2
    assert list(done.state.attempts)[-1] in told.err


def test_tail_tells_every_fact_once_in_order(pike: Pike, done: Search) -> None:
    facts = [json.loads(line) for line in pike("tail", "small-1", "--json").lines]
    assert [fact["seq"] for fact in facts] == [fact.seq for fact in done.facts]
    assert [fact["kind"] for fact in facts] == [fact.body.KIND for fact in done.facts]
    assert len(pike("tail", "small-1").lines) == len(facts)


def test_following_a_finished_search_ends(pike: Pike, done: Search) -> None:
    told = pike("tail", "small-1", "--follow")
    assert told.code == 0
    assert told.lines[-1].split("  ", 1)[1].startswith("finished")


def test_the_best_candidate_says_where_it_comes_from(
    pike: Pike, done: Search, tmp_path: Path
) -> None:
    target = tmp_path / "best.py"
    told = pike("best", "small-1", "-o", str(target))
    assert told.code == 0
    written = target.read_text(encoding="utf-8")
    assert "session small-1" in written.splitlines()[0]
    assert "class ModelNew" in written
    ast.parse(written)
    assert "measured again" in told.err


def test_the_best_goes_to_stdout_as_it_was_judged(pike: Pike, done: Search) -> None:
    out = pike("best", "small-1").out
    code = "\n".join(line for line in out.splitlines() if not line.startswith("# "))
    assert "class ModelNew" in code


def test_git_reaches_the_sessions_repository(home: Path, done: Search) -> None:
    import sys

    argv = [
        sys.executable,
        "-m",
        "workbench",
        "git",
        "small-1",
        "--",
        "log",
        "--format=%H",
        "--all",
    ]
    found = subprocess.run(argv, capture_output=True, timeout=60, check=True)
    commits = found.stdout.decode().split()
    assert len(commits) == len(done.state.attempts) + 1
    assert {a.commit for a in done.state.attempts.values()} <= set(commits)


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("show", "gpt"),
        ("tail", "gpt"),
        *[("show", "gpt", f"c{n}") for n in range(1, 40)],
    ],
    ids=" ".join,
)
def test_no_foreign_text_reaches_the_terminal_alive(
    pike: Pike, hostile: str, words: tuple[str, ...]
) -> None:
    told = pike(*words)
    for text in (told.out, told.err):
        alive = {c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"}
        assert not alive
        assert not set(text) & set("\u202e\u202d\u2066\u2067\u2068\u2028")


@pytest.mark.parametrize("words", [("sessions", "--json"), ("show", "gpt", "--json")], ids=" ".join)
def test_json_of_hostile_text_is_plain_ascii(
    pike: Pike, hostile: str, words: tuple[str, ...]
) -> None:
    told = pike(*words)
    told.out.encode("ascii")
    assert "\x1b" not in told.out
    assert told.json


def test_on_a_terminal_the_best_is_shown_inert(home: Path, hostile: str) -> None:
    from tests.workbench.commanding import Pike

    told = Pike(terminal=True)("best", "gpt-block")
    assert "\x1b" not in told.out + told.err


def test_a_damaged_journal_is_a_row_and_a_refusal_and_no_traceback(pike: Pike, home: Path) -> None:
    folder = home / "sessions" / "broken"
    folder.mkdir(parents=True)
    (folder / "journal.db").write_bytes(b"this is no database, but long enough to be read as one")
    assert pike("sessions", "--json").json[0]["state"] == "unreadable"
    told = pike("show", "broken")
    assert told.code == 1
    assert "journal.db" in told.err
    assert "Traceback" not in told.err


def test_a_journal_of_a_newer_version_asks_for_an_update(pike: Pike, done: Search) -> None:
    import sqlite3

    with sqlite3.connect(done.folder.journal) as db:
        db.execute("UPDATE meta SET value='99' WHERE key='version'")
    db.close()
    told = pike("tail", "small-1")
    assert told.code == 1
    assert "newer" in told.err


def test_commands_on_a_finished_search_say_so_and_write_nothing(pike: Pike, done: Search) -> None:
    assert "already finished" in pike("pause", "small-1").err
    assert "no engine runs it" in pike("stop", "small-1").err
    told = pike("resume", "small-1")
    assert told.code == 1
    assert "--queries" in told.err
    with Reader(done.folder.journal) as reader:
        assert reader.waiting_commands() == []


def test_a_steer_without_an_engine_is_kept_for_the_next(pike: Pike, done: Search) -> None:
    told = pike("steer", "small-1", "guide", "no atomics", "--for", "3", "--last", "5")
    assert told.code == 0
    assert "no engine runs it" in told.err
    with Reader(done.folder.journal) as reader:
        (command,) = reader.waiting_commands()
    assert (command.act, command.args) == (
        "guide",
        {"text": "no atomics", "scope": "lineage:003", "last": 5},
    )


async def test_a_finished_search_goes_on_after_a_higher_budget(pike: Pike, done: Search) -> None:
    before = len(done.state.queries)
    assert pike("steer", "small-1", "budget", "--queries", "16").code == 0
    # `resume` would start the real engine; this one has the same journal to obey.
    from sessions import commands

    commands.send(done.folder.journal, "resume", {}, seen_seq=done.state.seq)
    await done.run()
    assert len(done.state.queries) == 16 > before
    assert fold(done.facts).limits["queries"] == 16
    assert "limits: queries 16" in pike("show", "small-1").out
    assert "as steered since it began" in pike("show", "small-1").out


def test_a_session_named_by_nothing_that_exists_lists_what_there_is(
    pike: Pike, done: Search
) -> None:
    told = pike("tail", "smull")
    assert told.code == 2
    assert "small-1" in told.err


def test_a_state_folder_that_is_a_file_is_refused_with_its_name(pike: Pike, home: Path) -> None:
    home.write_text("", encoding="utf-8")
    told = pike("sessions")
    assert told.code == 1
    assert "PIKE_HOME" in told.err
