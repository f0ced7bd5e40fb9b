"""`pike run --dry-run`: the checks and the estimate, and nothing written."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sessions.estimate import Ahead, Estimate, Likeness
from tests.mcp_server.judge import tasks as sources
from workbench import expected, run_line, task_files
from workbench.arguments import parse
from workbench.errors import WrongUsage
from workbench.gpus import parsed
from workbench.starting import Wish

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike

AHEAD = Ahead(
    "starter/scan", "pike-b", {}, "cpu", {"queries": 300, "cost_usd": 10.0, "hours": None}
)


def test_a_dry_run_tells_checks_and_estimate_and_starts_nothing(pike: Pike, home: Path) -> None:
    told = pike("run", "starter/softmax", "--model", "offline", "--device", "cpu", "--dry-run")
    assert told.code == 0
    assert "no earlier session to estimate from: at most 300 queries, $ 10.00 and 12 h" in told.out
    for name in ("device", "compiler", "models", "sandbox", "git", "state folder", "disk"):
        assert any(line.startswith(name) for line in told.lines)
    assert "pike run starter/softmax --model offline --device cpu" in told.err
    assert not list((home / "sessions").glob("*"))


def test_a_dry_run_as_json_holds_the_same(pike: Pike, home: Path) -> None:
    told = pike(
        "run", "starter/scan", "--model", "offline", "--set", "width=3", "--dry-run", "--json"
    )
    assert told.json["ready"] is True
    assert told.json["estimate"]["sessions"] == 0
    assert told.json["session"]["settings"]["width"] == 3
    assert {row["state"] for row in told.json["checks"]} <= {"ok", "warning"}
    assert not list((home / "sessions").glob("*"))


def test_a_file_is_kept_by_a_start_and_not_by_a_dry_run(
    pike: Pike, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(sources.SOFTMAX, encoding="utf-8")
    told = pike("run", str(file), "--model", "offline", "--device", "cpu", "--dry-run", "--json")
    assert told.json["session"]["task"].startswith("local/mine-")
    assert not (home / "tasks").exists()
    looked = task_files.find(str(file), keep=False)
    task_files.keep(looked)
    assert task_files.listed(looked.id).source == sources.SOFTMAX
    file.write_text(f"{sources.SOFTMAX}\n# more\n", encoding="utf-8")
    with pytest.raises(WrongUsage, match="has changed in this moment"):
        task_files.keep(looked)


def test_a_dry_run_tells_what_is_tried_before_the_first_query(pike: Pike, home: Path) -> None:
    words = ("run", "starter/scan", "--model", "offline", "--device", "cpu", "--dry-run")
    told = pike(*words, "--plain-start", "yes")
    (line,) = (line for line in told.lines if line.startswith("before "))
    assert int(line.split()[1]) >= 1
    assert "of the original: evaluations, but no query" in line
    assert not any(line.startswith("before ") for line in pike(*words).lines)


@pytest.mark.parametrize(
    ("level", "says"),
    [
        ("high", "offline is no reasoning model"),
        ("deeply", "thinking is off, low, medium, high"),
        ("coder=low", "'coder' is no agent: improve, ideas, fix"),
    ],
)
def test_thinking_that_cannot_be_is_refused_in_words(
    pike: Pike, home: Path, level: str, says: str
) -> None:
    words = ("run", "starter/scan", "--model", "offline", "--dry-run")
    for typed in (("--thinking", level), ("--set", f"thinking={level}")):
        told = pike(*words, *typed)
        assert (told.code, told.out) == (2, "")
        assert says in told.err


@pytest.mark.parametrize(
    ("queries", "more", "offered"),
    [("4", "ideas=0", False), ("4", "ideas=3", False), ("5", "ideas=3", False), ("6", "ideas=3", True)],
)  # fmt: skip
def test_tools_that_no_query_is_left_for_are_said_before_a_start(
    pike: Pike, home: Path, queries: str, more: str, offered: bool
) -> None:
    words = ("run", "starter/scan", "--model", "offline", "--device", "cpu", "--dry-run")
    places = ("--set", "width=4", "--set", "places=10", "--set", more, "--queries", queries)
    told = pike(*words, *places, "--agent-tools")
    assert told.code == 0
    assert ("no agent is offered one" in told.err) is not offered
    assert "no agent is offered one" not in pike(*words, *places).err


def test_a_dry_run_refuses_as_a_start_would(pike: Pike, home: Path) -> None:
    told = pike("run", "starter/softmax", "--model", "offlin", "--dry-run")
    assert (told.code, told.out) == (2, "")
    assert "'offlin'" in told.err


@pytest.mark.parametrize("flag", ["--name", "--from", "--instructions"])
def test_an_empty_word_is_refused_and_not_taken_for_none(pike: Pike, home: Path, flag: str) -> None:
    told = pike("run", "starter/softmax", "--model", "offline", "--dry-run", flag, "")
    assert (told.code, told.out) == (2, "")
    assert f"{flag} is empty" in told.err


def test_what_is_no_file_of_text_is_refused_by_its_kind(pike: Pike, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    refusals = {
        "": "the task's name is empty",
        "/dev/null": "/dev/null is no plain file",
        str(tmp_path / "pipe.py"): "pipe.py is no plain file",
        str(tmp_path): "is a folder",
        str(tmp_path / "none.py"): "there is no file",
        "a" * 5000 + ".py": "there is no file",
    }
    for named, why in refusals.items():
        told = pike("run", named, "--model", "offline", "--dry-run")
        assert (told.code, told.out) == (2, "")
        assert why in told.err


def test_a_name_that_is_taken_is_refused_before_anything_starts(pike: Pike, home: Path) -> None:
    (home / "sessions" / "mine").mkdir(parents=True)
    told = pike("run", "starter/scan", "--model", "offline", "--name", "mine", "--dry-run")
    assert told.code == 2
    assert "pike attach mine" in told.err


def test_the_line_starts_the_same_session() -> None:
    wish = Wish("my task.py", name="n", seed=0, assign=("width=3",), instructions="a b.md")
    typed = {"model": "strong", "cost": "none", "fix_model": "cheap,strong", "device": None}
    found = parse(shlex.split(run_line.line(wish, typed))[1:])
    assert (found.task, found.name, found.seed, found.assign) == ("my task.py", "n", 0, ["width=3"])
    assert (found.model, found.cost, found.fix_model) == ("strong", "none", "cheap,strong")
    assert (found.device, found.instructions, found.origin) == (None, "a b.md", None)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Estimate(0), "no earlier session to estimate from: at most 300 queries and $ 10.00"),
        (
            Estimate(3, Likeness.SAME, 8.6, 5.0, 300, "queries", (7.0, 9.5)),
            "about $ 8.60 (7.00–9.50) and 5 h, from 3 sessions like this one",
        ),
        (
            Estimate(1, Likeness.STRATEGY, None, 0.5, 40, "", None),
            "unknown cost and 30 min, from 1 session of pike-b with these models on other tasks",
        ),
        (
            Estimate(1, Likeness.TASK, 10.0, 1.0, 40, "cost_usd", (10.0, 10.0)),
            "from 1 session on this task with these models; the limit of dollars ends it",
        ),
    ],
)
def test_an_estimate_says_from_what_it_was_made(found: Estimate, words: str) -> None:
    assert words in expected.told(AHEAD, found)


def test_without_any_limit_that_is_said() -> None:
    endless = replace(AHEAD, limits={"queries": None, "cost_usd": None, "hours": None})
    assert "it goes on until you stop it" in expected.told(endless, Estimate(0))


def test_a_gpu_is_told_in_one_line() -> None:
    found = parsed("0, NVIDIA H200, 87, 61, 39100, 143771")
    assert found is not None
    assert found.told == "GPU0 H200 87 % 61 °C 38/140 GiB"
    assert found.busy
    quiet = parsed("1, NVIDIA H200, 0, [N/A], 4, 143771")
    assert quiet is not None
    assert (quiet.told, quiet.busy) == ("GPU1 H200 0 % 0/140 GiB", False)
    assert parsed("No devices were found") is None
