"""Plain PyTorch and given candidates on whole suites: matched by name, measured once, told in a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcp_server import measures_page, measures_table
from mcp_server.__main__ import main
from mcp_server.candidate_files import matched
from mcp_server.errors import EvaluatorError
from mcp_server.suite import Row
from mcp_server.suite_measures import Measured, Result
from tests.mcp_server.judge import tasks as sources

if TYPE_CHECKING:
    from pathlib import Path

TASKS = ["kb/level3/4_LeNet5", "kb/level3/44_MiniGPT", "kb/level3/49_Mamba", "starter/softmax"]


def _file(path: Path, text: str = "class ModelNew: ...\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "task"),
    [
        ("44_MiniGPT.py", "kb/level3/44_MiniGPT"),
        ("task_44.py", "kb/level3/44_MiniGPT"),
        ("task_4.py", "kb/level3/4_LeNet5"),
        ("044.py", "kb/level3/44_MiniGPT"),
        ("task_49/best.py", "kb/level3/49_Mamba"),
        ("Softmax.py", "starter/softmax"),
        ("softmax--in-place.py", "starter/softmax"),
        ("softmax/3.py", "starter/softmax"),
    ],
)
def test_a_candidate_is_for_the_task_whose_name_or_number_it_bears(
    tmp_path: Path, file: str, task: str
) -> None:
    _file(tmp_path / "mine" / file)
    found = matched([tmp_path / "mine"], TASKS)
    assert {i: [c.name for c in files] for i, files in found.by_task.items()} == {
        task: [f"mine/{file}"]
    }
    assert found.astray == []


def test_a_candidate_of_no_task_or_of_two_is_passed_over_in_words(tmp_path: Path) -> None:
    _file(tmp_path / "mine" / "task_4.py")
    _file(tmp_path / "mine" / "setup.py")
    found = matched([tmp_path / "mine"], [*TASKS, "kb/level1/4_Matrix"])
    assert found.by_task == {}
    assert dict(found.astray) == {
        "mine/setup.py": "bears the name or number of none of these tasks",
        "mine/task_4.py": "may be for kb/level3/4_LeNet5 or kb/level1/4_Matrix: name one suite",
    }


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a" / "x").mkdir(parents=True)
    (tmp_path / "b" / "x").mkdir(parents=True)
    with pytest.raises(EvaluatorError, match="called x"):
        matched([tmp_path / "a" / "x", tmp_path / "b" / "x"], TASKS)
    with pytest.raises(EvaluatorError, match="no folder of candidates"):
        matched([tmp_path / "nowhere"], TASKS)


def _measured(task: str, eager: float, plain: float, *results: Result) -> Measured:
    times = {"eager": eager, "compile": plain, "bf16_cast_compile": plain / 2}
    classes = {"eager": "fp32", "compile": "fp32", "bf16_cast_compile": "bf16"}
    row = Row(task, "qualified", baselines_ms=times, classes=classes)
    return Measured(row, list(results))


def _ok(file: str, kind: str, over_plain: float, over_eager: float, paper: float) -> Result:
    """Return a right candidate, its interval two per cent wide, its do_bench as fast as its runtime."""
    return Result(
        file,
        "s",
        "ok",
        baseline="compile" if kind == "fp32" else "bf16_cast_compile",
        precision_class=kind,
        speedup_ratio=over_plain,
        speedup_eager_ratio=over_eager,
        speedup_eager_lo_ratio=over_eager * 0.99,
        speedup_eager_hi_ratio=over_eager * 1.01,
        paper_speedup_ratio=paper,
        do_bench_ms=4.0 / over_eager,
        eager_do_bench_ms=4.0,
    )


def _rows() -> list[Measured]:
    bad = Result("s/c.py", "s", "wrong_result", "values", "The values | are wrong.")
    noted = _measured("x/2", 1.0, 0.5, bad)
    noted.row.unmeasured.append("fp16_cast_compile: 5.0 × eager before it is compiled")
    fine = _ok("s/a\x1b[31m.py", "fp32", 2.0, 4.0, 3.9)
    coarse = _ok("s/b.py", "bf16", 0.25, 1.0, 0.9)
    return [
        _measured("x/1", 4.0, 2.0, coarse, fine),
        noted,
        Measured(Row("x/3", "unfit", "stochastic", "It rolls dice.")),
    ]


def test_a_summary_counts_failures_both_ways_and_each_class_by_itself() -> None:
    told = "\n".join(measures_table.summary(_rows(), ["s"]))
    assert "2 of 3 tasks measured; the best plain baseline is 4.00x over eager" in told
    assert "of each class or a finer one fp32 2.00x, bf16 4.00x." in told
    assert "s: a correct candidate on 1 of 2 tasks; on those 4.00x over eager" in told
    assert "2.00x over the best plain baseline of its class" in told
    assert "2.00x over eager where a failure counts as 1, 1.97x as the paper counts" in told


def test_a_page_tells_classes_candidates_and_what_has_no_time_and_obeys_no_name() -> None:
    page = measures_page.page(_rows(), ["s"], "Here.")
    head = "| task | eager (fp32) | compile (fp32) | bf16_cast_compile (bf16) "
    assert f"{head}| best of fp32 | best of bf16 | best over eager |" in page
    assert "| x/1 | 4 | 2 | 1 | 2.00x | 4.00x | 4.00x bf16_cast_compile |" in page
    assert "| geometric mean |  |  |  | 2.00x | 4.00x | 4.00x |" in page
    fine = "fp32 | 4.00x [3.96, 4.04] | 2.00x compile | 3.90x | 4, 1 (4.00x) |"
    coarse = "bf16 | 1.00x [0.99, 1.01] | 0.25x bf16_cast_compile | 1.00x | 4, 4 (1.00x) |"
    assert fine in page
    assert f"| x/1 | s/b.py | {coarse}" in page
    bad = "wrong_result/values The values \\| are wrong."
    assert f"| x/2 | s/c.py |  | {bad} |  | 1.00x |  |" in page
    assert "* x/2: fp16_cast_compile: 5.0 × eager before it is compiled" in page
    assert "* x/3: unfit: stochastic: It rolls dice." in page
    assert "\x1b" not in page
    for table in page.split("\n\n"):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1, table


def test_a_candidate_is_held_against_graphs_of_its_class_though_its_verdict_was_not() -> None:
    result = _ok("s/a.py", "fp32", 2.0, 4.0, 3.9)
    one = _measured("x/1", 4.0, 2.0, result)
    one.row.baselines_ms["graphed"], one.row.classes["graphed"] = 0.5, "fp32"
    assert one.over_best(result) == 0.5
    assert one.best_within("fp32") == ("graphed", 0.5)


def test_what_cannot_be_measured_is_told_in_a_line(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIKE_HOME", str(home))
    (tmp_path / "none").mkdir()
    for words, why in (
        (["nowhere"], "no file, folder or suite nowhere"),
        (["starter", "--candidates", str(tmp_path / "none")], "No candidate is for any"),
        (["starter", "--output", "/nowhere/x.md"], "There is no folder /nowhere"),
    ):
        assert main(["baselines", *words]) == 2
        err = capsys.readouterr().err
        assert why in err
        assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.timeout(1200)
def test_tasks_and_candidates_are_measured_once_and_the_unfit_are_passed_over(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIKE_HOME", str(home))
    folder = tmp_path / "level9"
    _file(folder / "2_Softmax.py", sources.SOFTMAX)
    _file(folder / "3_Random.py", sources.RANDOM)
    _file(folder / "4_Notes.py", "x = 1\n")
    same = f"{sources.SOFTMAX}\n\nclass ModelNew(Model): ...\n"
    _file(tmp_path / "mine" / "task_2.py", same)
    (tmp_path / "mine" / "2_latin.py").write_bytes(b"class ModelNew: '\xe9'")
    table = tmp_path / "table.md"
    words = [
        "baselines",
        str(folder),
        "--candidates",
        str(tmp_path / "mine"),
        "--device",
        "cpu",
        "--sandbox",
        "process",
    ]
    assert main([*words, "--json", "--output", str(table)]) == 0
    first = capsys.readouterr()
    rows = {row["task"]: row for row in json.loads(first.out)}
    assert rows["level9/2_Softmax"]["eager_ms"] > 0
    files = {c["file"]: c["status"] for c in rows["level9/2_Softmax"]["candidates"]}
    assert files == {"mine/2_latin.py": "unreadable", "mine/task_2.py": "ok"}
    assert rows["level9/3_Random"]["code"] == "stochastic"
    assert rows["level9/4_Notes"]["code"] == "not_kernelbench"
    page = table.read_text(encoding="utf-8")
    assert "* level9/3_Random: unfit: stochastic" in page
    assert "| level9/2_Softmax | mine/task_2.py | fp32 |" in page
    assert "best of fp32" in page
    (tmp_path / "mine" / "2_latin.py").unlink()
    assert main(words) == 0
    again = capsys.readouterr()
    assert "2_Softmax" in again.err
    assert again.err.count("(known)") == 3  # the task, its candidate, and the unfit one
    assert "1 of 3 tasks measured" in again.out
