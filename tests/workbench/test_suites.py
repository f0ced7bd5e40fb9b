"""Suites and tasks on the command line: added, listed with their state, and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mcp_server.judge import tasks as sources
from tests.workbench.commanding import Pike
from workbench import task_files, task_rows
from workbench.errors import WrongUsage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    for name in ("level1/19_ReLU", "level1/1_Matmul", "level2/2_Conv"):
        file = made / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sources.SOFTMAX, encoding="utf-8")
    (made / "level2" / "3_Half.py").write_text("class Model: ...\n", encoding="utf-8")
    lacking = f"import nobody_has_this\n{sources.SOFTMAX}"
    (made / "level2" / "4_Lacking.py").write_text(lacking, encoding="utf-8")
    return made


@pytest.fixture
def pike(folder: Path) -> Pike:
    typed = Pike()
    added = typed("suite", "add", "kernelbench", str(folder))
    assert added.code == 0
    assert "kernelbench: 5 tasks in" in added.out
    assert "(level1 2, level2 3)" in added.out
    assert "1 file cannot be a task" in added.out
    return typed


def test_a_list_says_what_stands_in_the_way_of_a_task(pike: Pike) -> None:
    told = pike("tasks", "kernelbench")
    lines = {line.split()[0]: line for line in told.lines}
    assert "not tried  19 ReLU" in lines["kernelbench/level1/19_ReLU"]
    assert "unfit      3_Half.py has no function get_inputs" in lines["kernelbench/level2/3_Half"]
    assert "needs nobody_has_this, not installed here" in lines["kernelbench/level2/4_Lacking"]
    assert "5 tasks: 4 not tried, 1 unfit; 1 of those not tried needs what is not here" in told.err
    assert len(pike("tasks", "level1", "--json").json) == 2


def test_a_task_of_a_suite_is_named_as_any_other(pike: Pike) -> None:
    assert task_files.find("level1/19").id == "kernelbench/level1/19_ReLU"
    assert pike("tasks", "show", "kernelbench/level1/1").out == sources.SOFTMAX
    for named, why in (
        ("level1/", "may be any of"),
        ("kernelbench/level1/19_ReLy", "Did you mean"),
    ):
        with pytest.raises(WrongUsage, match=why):
            task_files.find(named)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("tasks", "kernelbnech"), "Did you mean 'kernelbench"),
        (("tasks", "kernelbench", "more"), "takes nothing more"),
        (("suite", "add", "kernelbench", "/nowhere"), "There is no folder /nowhere"),
        (("suite", "add", "kernelbench", "/usr", "--name", "../x"), "cannot name a suite"),
        (("suite", "add", "kernelbench", "/usr", "--name", "starter"), "a suite of the product"),
        (
            ("suite", "add", "other", "/usr"),
            "FORMAT: invalid choice: 'other' (choose from 'kernelb",
        ),
        (("suite", "remove", "other"), "no suite 'other'"),
        (("suite",), "required"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(
    pike: Pike, words: tuple[str, ...], why: str
) -> None:
    told = pike(*words)
    assert told.code != 0
    assert why in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("tasks", "qualify", "kernelbnch"), "suite or task 'kernelbnch'. Did you mean"),
        (("suite", "baselines", "kernelbench/level1/19_ReLy"), "Did you mean"),
        (("tasks", "qualify", "level1", "no/such\x1b[31m"), "suite or task 'no/such"),
        (("suite", "baselines", "level1", "--candidates", "nowhere"), "of candidates 'nowhere'"),
    ],
)
def test_a_name_that_is_nothing_is_refused_before_any_work(
    pike: Pike, words: tuple[str, ...], why: str
) -> None:
    told = pike(*words)
    assert told.code == 2
    assert told.err.startswith("pike: there is no ")
    assert why in told.err
    assert "\x1b" not in told.err


@pytest.mark.parametrize("named", ["level1", "kernelbench/level2", "level1/19", "kernelbench"])
def test_what_stands_for_tasks_is_not_refused(pike: Pike, folder: Path, named: str) -> None:
    task_files.check_named([named, str(folder), str(folder / "level1" / "1_Matmul.py")])


def test_a_suite_is_listed_removed_and_missed(pike: Pike, folder: Path) -> None:
    (folder / "level1" / "19_ReLU.py").unlink()
    assert "4 (5 when added)" in pike("suite", "list").out
    folder.rename(folder.with_name("moved"))
    told = pike("suite", "list")
    assert "gone" in told.out
    assert "is not there any more" in told.err
    assert "is not there any more" in pike("tasks").err
    told = pike("evaluate", "kernelbench/level1/1_Matmul", __file__)
    assert (told.code, "is not there any more" in told.err) == (2, True)
    assert "forgotten" in pike("suite", "remove", "kernelbench").out
    assert pike("suite", "list").out == ""


def test_needs_are_told_only_where_something_is_missing() -> None:
    needs = [
        {"kind": "package", "what": "numpy", "here": True},
        {"kind": "package", "what": "einops", "here": False},
        {"kind": "weights", "what": "gpt2"},
        {"kind": "memory", "what": str(3 * 2**30), "here": False},
        {"kind": "cuda", "what": "", "here": False},
        {"kind": "network", "what": "huggingface.co", "here": False},
    ]
    assert task_rows.lacking({"needs": needs}) == [
        "einops, not installed here",
        "weights of gpt2",
        "3.2 GB for one set of inputs; 1 GiB is the limit",
        "a GPU, which this machine lacks",
        "the network (huggingface.co), which the sandbox has not",
    ]
