"""Every row of docs/known-cheats.md is shown by a case or a test that exists, and every case stands in its row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server.selftest.runner import CASES, BadCase, main, read

if TYPE_CHECKING:
    from mcp_server.setting import Setting

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "known-cheats.md"
ROWS = [
    *(f"K{n}" for n in range(1, 62)),
    *(f"H{n}" for n in range(1, 32)),
    *(f"T{n}" for n in range(1, 17)),
]
_CASE = re.compile(r"`([KH]\d+[a-z0-9-]*)`(?: \((GPU|host)\))?: ([^;]+)")


def rows() -> dict[str, tuple[str, str]]:
    """Return cases and tests of each row."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| [KHT]\d+ ", line)]
    return {row[0]: (row[2] if len(row) > 2 else "", row[-1]) for row in cells}


def functions() -> set[str]:
    """Return the names of all tests of the evaluator."""
    files = (ROOT / "tests" / "mcp_server").rglob("test_*.py")
    return {
        name
        for path in files
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }


def test_no_row_is_missing_and_none_is_empty() -> None:
    found = rows()
    assert list(found) == ROWS
    assert [
        row for row, (cases, tests) in found.items() if not cases and not tests.strip("| ")
    ] == []


def test_every_case_stands_in_its_row_with_the_verdicts_it_expects() -> None:
    marks = {"cuda": "GPU", "host": "host", "cpu": ""}
    written = {
        name: (row, mark, said.strip())
        for row, (cases, _) in rows().items()
        for name, mark, said in _CASE.findall(cases)
    }
    kept = {
        case.id: (
            case.id.partition("-")[0],
            marks[case.needs],
            " or ".join(case.expect) + (f", {' or '.join(case.outcome)}" if case.outcome else ""),
        )
        for case in map(read, sorted(CASES.glob("*.py")))
    }
    assert written == kept


def test_every_test_it_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert len(named) > 20
    assert named <= functions()


@pytest.mark.parametrize("path", sorted(CASES.glob("H*.py")), ids=lambda p: p.stem)
def test_an_honest_case_ends_ok(path: Path) -> None:
    expect = read(path).expect
    assert expect == ("ok",) or path.stem == "H30"


def test_a_row_names_all_its_cases_and_a_case_only_itself(
    setting: Setting, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(setting, ["K21,K30", "H21-graph"], as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines[:-1]] == ["H21-graph", "K21", "K30"]
    assert all("skipped: needs a GPU" in line for line in lines[:-1])
    assert lines[-1] == "0 as expected, 0 otherwise, 3 skipped"


def test_a_case_that_is_not_there_is_refused_with_those_that_are(setting: Setting) -> None:
    with pytest.raises(BadCase, match=r"no case 'K99': cases are H1, "):
        main(setting, ["K99"], as_json=True)
