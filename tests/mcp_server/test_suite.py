"""Whole suites: real judges qualify real tasks, what is known is kept, and no generic cheat passes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcp_server import generic_cheats, qualify_command, suite
from mcp_server.__main__ import main
from mcp_server.errors import UnknownTask
from mcp_server.local import open_local
from mcp_server.pool import Programs
from mcp_server.suite import Kept, Row, Wish
from mcp_server.tasks import Task, Tasks
from tests.mcp_server.judge import tasks as sources

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

pytestmark = pytest.mark.timeout(300)

TWO_OUTPUTS = sources.NORM.replace(
    "return x + self.down(torch.relu(self.up(self.norm(x))))",
    "h = self.norm(x)\n        return x + self.down(torch.relu(self.up(h))), h.sum(1)",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "level9"
    made.mkdir()
    (made / "10_Norm.py").write_text(TWO_OUTPUTS, encoding="utf-8")
    (made / "2_Softmax.py").write_text(sources.SOFTMAX, encoding="utf-8")
    (made / "3_Random.py").write_text(sources.RANDOM, encoding="utf-8")
    (made / "4_Notes.py").write_text("x = 1\n", encoding="utf-8")
    return made


def test_a_folder_is_its_files_by_number_and_a_suite_its_tasks(folder: Path, home: Path) -> None:
    listed = suite.found([str(folder), "starter"], Tasks(home))
    names = [name for name, _ in listed]
    assert names[:4] == ["level9/2_Softmax", "level9/3_Random", "level9/4_Notes", "level9/10_Norm"]
    assert "starter/rmsnorm" in names
    assert [name for name, _ in suite.found(["starter/rms"], Tasks(home))] == ["starter/rmsnorm"]


def test_a_name_that_is_nothing_is_refused(home: Path) -> None:
    with pytest.raises(UnknownTask, match="no file, folder or suite nowhere"):
        suite.found(["nowhere"], Tasks(home))


@pytest.mark.parametrize(
    "words",
    [("evaluate", "starter/softmax", "FILE"), ("profile", "starter/softmax"), ("qualify", "FILE")],
)
@pytest.mark.parametrize(
    ("flags", "why", "code"),
    [
        (("--device", "cuda:99"), "There is no device 'cuda:99' here", 2),
        (("--python", "/nowhere"), "'/nowhere' is neither an environment", 2),
    ],
)
def test_a_machine_that_cannot_evaluate_is_told_in_a_line(
    home: Path,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    flags: tuple[str, ...],
    why: str,
    code: int,
) -> None:
    file = str(next(folder.glob("*.py")))
    assert main([*(file if word == "FILE" else word for word in words), *flags]) == code
    err = capsys.readouterr().err
    assert why in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "why", "code"),
    [
        (("no/such\x1b[31m",), "no file, folder or suite no/such: `pike tasks`", 2),
        (("--list", "/no\x1b[31m/list"), "/no/list cannot be read (No such file or directory)", 1),
    ],
)
def test_what_names_nothing_is_told_in_words_a_terminal_does_not_obey(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str, code: int
) -> None:
    assert main(["qualify", *words]) == code
    assert why in capsys.readouterr().err


def test_a_run_says_a_line_per_task_and_the_next_one_knows_them(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIKE_HOME", str(home))
    table = folder / "table.md"
    words = ["qualify", str(folder), "--no-baselines", "--device", "cpu", "--sandbox", "process"]
    assert main([*words, "--table", str(table), "--json"]) == 0
    first = capsys.readouterr()
    rows = {row["task"]: row for row in json.loads(first.out)}
    assert rows["level9/2_Softmax"]["state"] == "qualified"
    assert rows["level9/2_Softmax"]["policy"] == "half"
    assert rows["level9/3_Random"] == rows["level9/3_Random"] | {
        "state": "unfit",
        "code": "stochastic",
    }
    assert rows["level9/4_Notes"]["code"] == "not_kernelbench"
    assert len(rows["level9/10_Norm"]["scales"]) == 2
    assert rows["level9/10_Norm"]["mutants"]["normalisations dropped"] > 0.1
    assert "4/4" in first.err
    assert "| level9/3_Random | unfit: `stochastic`" in table.read_text(encoding="utf-8")
    assert main(words) == 0
    assert capsys.readouterr().err.count("(known)") == 3


async def test_no_generic_cheat_passes_a_task_that_has_parts_to_leave_out(setting: Setting) -> None:
    real = replace(setting, programs=Programs())
    async with open_local(real) as executor:
        task = Task("level9/norm", "", TWO_OUTPUTS, setting.home)
        row = await suite.qualify(executor, task, Wish(baselines=False, cheats=True))
    assert row.state == "qualified"
    assert row.passed == []
    assert row.cheats == {
        "zeros": "wrong_result/values",
        "remembered": "rejected/stale_answer",
        "defaults": "wrong_result/values",
        "norms": "wrong_result/values",
        "mean": "wrong_result/values",
        "half": "wrong_result/values",
        "shorter": "wrong_result/structure",
    }


def test_a_cheat_that_passed_is_shouted_and_ends_with_one() -> None:
    row = Row("level9/odd", "qualified", cheats={"zeros": "ok", "norms": "wrong_result/values"})
    assert row.passed == ["zeros"]
    assert "PASSED BY zeros" in qualify_command.line(row)
    assert "**PASSED: zeros**" in qualify_command.table([row], "Here.")
    assert "1 generic cheat passed" in qualify_command.summary([row])


def test_a_row_is_kept_and_a_damaged_one_counts_as_absent(home: Path) -> None:
    kept = Kept(home)
    kept.put("key", Row("level9/x", "qualified", scales=[1.0]))
    assert kept.get("key") == Row("level9/x", "qualified", scales=[1.0])
    (kept.folder / "key.json").write_text("[1", encoding="utf-8")
    assert kept.get("key") is None


def test_every_generic_cheat_is_python() -> None:
    for name in generic_cheats.NAMES:
        compile(generic_cheats.source(sources.NORM, name), name, "exec")
