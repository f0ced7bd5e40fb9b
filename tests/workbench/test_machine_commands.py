"""`pike doctor`, `pike tasks`, `pike evaluate`: what the evaluator says, passed on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike

STARTER = {
    f"starter/{name}"
    for name in (
        "elementwise",
        "softmax",
        "attention",
        "layernorm-mlp",
        "conv-bn-relu",
        "rmsnorm",
        "cross-entropy",
        "scan",
    )
}


def test_the_rows_of_tasks_have_ids_and_hold_the_starter_suite(pike: Pike) -> None:
    assert {row["id"] for row in pike("tasks", "--json").json} == STARTER


def test_a_task_is_shown_whole_by_the_beginning_of_its_name(pike: Pike) -> None:
    told = pike("tasks", "show", "starter/rms")
    assert told.code == 0
    names = {getattr(node, "name", "") for node in ast.parse(told.out).body}
    assert {"Model", "get_inputs", "get_init_inputs"} <= names


def test_a_beginning_that_is_not_unique_lists_what_it_may_be(pike: Pike) -> None:
    told = pike("tasks", "show", "starter/s")
    assert told.code == 2
    assert "starter/scan" in told.err
    assert "starter/softmax" in told.err


def test_a_file_that_was_run_is_a_task_of_the_local_suite(pike: Pike, tmp_path: Path) -> None:
    path = tmp_path / "my task.py"
    path.write_text(
        "class Model: pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n", encoding="utf-8"
    )
    assert pike("tasks", "show", str(path)).code == 0
    local = {row["id"] for row in pike("tasks", "--json").json} - STARTER
    assert len(local) == 1
    assert local.pop().startswith("local/my-task-")


def test_doctor_says_of_each_thing_what_was_found(pike: Pike, home: Path) -> None:
    rows = {row["name"]: row for row in pike("doctor", "--json").json}
    assert {"torch", "cpu", "c++", "git", "keys", "state folder", "disk"} <= set(rows)
    assert rows["state folder"]["found"] == str(home)
    assert all(row["remedy"] for row in rows.values() if row["state"] == "missing")


def test_doctor_names_the_keys_it_finds_and_never_shows_one(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-of-a-person")
    told = pike("doctor")
    assert "ANTHROPIC_API_KEY" in told.out
    assert "sk-secret" not in told.out + told.err


def test_doctor_fails_where_git_is_missing_and_says_what_to_do(
    pike: Pike, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = pike("doctor")
    assert told.code == 1
    assert "install git" in told.err


@pytest.mark.parametrize("words", [("no-such-task", "good.py"), ("starter/softmax", "missing.py")])
def test_evaluating_what_is_not_there_judges_nothing(
    pike: Pike, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text("class ModelNew: pass\n", encoding="utf-8")
    told = pike("evaluate", *words)
    assert told.code == 2
    assert told.out == ""
    assert told.err.startswith("pike: ")


def test_a_terminal_that_cannot_carry_a_screen_gets_the_plain_command(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    told = pike()
    assert told.code == 1
    assert "pike sessions" in told.err
    assert "--plain" not in told.err  # which bare `pike` does not take
