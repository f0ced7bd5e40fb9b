"""`pike report` and `pike best --all`, typed: what is said, what is written, what is refused."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import sys
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from sessions.report import LeftOut, report_of
from sessions.report_pairs import Pair
from sessions.report_reading import read
from sessions.report_sources import find
from sessions.report_spending import Cutoff
from sessions.report_statistics import Interval
from tests.sessions.reported import Study, make, run_of_study, write_runs
from tests.tui import journals
from tests.tui.journals import HOSTILE
from workbench import report_caveats, report_figures, report_markdown, report_words
from workbench.commands.report import cutoffs
from workbench.errors import WrongUsage
from workbench.report_cells import short
from workbench.report_files import write
from workbench.report_view import view_of

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.report import Report
    from tests.workbench.commanding import Pike

TASKS = ("level3/44_MiniGPTBlock", "level3/8_ResNetBlock")
AT = [Cutoff("dollars", 0.3), Cutoff("queries", 10)]


def study(**given: Any) -> list[Study]:
    """Two configurations on two tasks, twice each: `full` 1.5 times as fast everywhere."""
    return [
        Study(f"{name}-{n}-{repeat}", name, task, repeat, factor * luck, plain=False, **given)
        for name, factor in (("full", 3.0), ("bare", 2.0))
        for n, task in enumerate(TASKS)
        for repeat, luck in ((1, 1.03), (2, 1 / 1.03))
    ]


def report(*studies: Study, **changes: Any) -> Report:
    """A report over made-up runs, without any file."""
    return report_of("", [replace(run_of_study(one), **changes) for one in studies])


def bytes_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- the command, whole


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with an experiment."""
    found = tmp_path_factory.mktemp("made")
    make(found, study(), "ablation")
    return found


@pytest.fixture(scope="module")
def out(made: Path) -> Path:
    """The report on it."""
    write(view_of(read(find(made, ["ablation"])), AT), made / "out")
    return made / "out"


def test_a_report_says_who_is_ahead_how_sure_that_is_and_what_it_cost(
    made: Path, pike: Pike, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIKE_HOME", str(made))
    told = pike("report", "ablation", "--out", str(tmp_path / "out"))
    assert told.code == 0, told.err
    assert "bare against full on the same 2 tasks: full is ahead (1.50×" in told.out
    assert "95 % over repeats" in told.out
    assert "In all: $ " in told.out
    assert "A  bare" in told.out
    page = (tmp_path / "out/report.md").read_text(encoding="utf-8")
    for part in ("full is ahead (1.50×", "In all: ", "### By task", "How the numbers are made"):
        assert part in page


def test_every_figure_has_the_numbers_behind_it_and_the_page_shows_it(out: Path) -> None:
    figures = out / "nvidia-h200/figures"
    drawn = {path.stem for path in figures.glob("*.png")}
    assert drawn == {"speedups", "by_queries", "by_dollars", "pairs", "fixes", "lines", "agents"}
    page = (out / "report.md").read_text(encoding="utf-8")
    for name in drawn:
        assert rows_of(figures / f"{name}.csv")
        assert (figures / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert f"](nvidia-h200/figures/{name}.png)" in page


def test_tables_json_and_parquet_hold_the_same_numbers(out: Path) -> None:
    data = json.loads((out / "report.json").read_text(encoding="utf-8"))
    (section,) = data["sections"]
    rows = rows_of(out / "nvidia-h200/tables/pairs.csv")
    assert [float(row["ratio"]) for row in rows] == [
        pytest.approx(row["ratio"], rel=1e-5)  # pyright: ignore[reportUnknownMemberType]
        for row in section["tables"]["pairs"]
    ]
    read: Any = import_module("pyarrow.parquet").read_table
    kept = read(out / "nvidia-h200/tables/runs.parquet").to_pylist()
    assert kept == section["tables"]["runs"]
    assert set(data["files"]) == set(bytes_in(out))


def test_equal_sessions_give_equal_bytes(made: Path, out: Path, tmp_path: Path) -> None:
    write(view_of(read(find(made, ["ablation"])), AT), tmp_path)
    assert bytes_in(tmp_path) == bytes_in(out)


def test_json_alone_is_the_report(made: Path, pike: Pike, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIKE_HOME", str(made))
    told = pike("report", "full-0-1", "bare-0-1", "--json")
    assert told.code == 0
    (section,) = told.json["sections"]
    assert section["device"] == "NVIDIA H200"
    assert {row["session"] for row in section["tables"]["runs"]} == {"full-0-1", "bare-0-1"}


# --- files


def test_what_an_earlier_report_wrote_and_this_one_does_not_is_removed(tmp_path: Path) -> None:
    write(view_of(report(*study()), AT), tmp_path)
    mine = tmp_path / "nvidia-h200/figures/mine.txt"
    mine.write_text("mine", encoding="utf-8")
    assert (tmp_path / "nvidia-h200/figures/pairs.csv").exists()
    write(view_of(report(study()[0]), AT), tmp_path)
    assert not (tmp_path / "nvidia-h200/figures/pairs.csv").exists()
    assert mine.exists()


def test_a_list_of_files_that_was_tampered_with_removes_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    other = tmp_path / "other.csv"
    other.write_text("mine", encoding="utf-8")
    listed = {"files": ["../other.csv", str(other), "x/tables/../../../other.csv", 7]}
    (out / "report.json").write_text(json.dumps(listed), encoding="utf-8")
    write(view_of(report(study()[0]), AT), out)
    assert other.exists()


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(
    home: Path, pike: Pike, tmp_path: Path
) -> None:
    make(home, study()[:1])
    (tmp_path / "file").write_text("", encoding="utf-8")
    told = pike("report", "--out", str(tmp_path / "file/below"))
    assert told.code == 1
    assert "cannot write the report to" in told.err
    assert "choose another --out" in told.err


def test_without_matplotlib_the_tables_are_written_and_the_extra_is_named(
    home: Path, pike: Pike, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(home, study()[:2])
    for name in ("matplotlib", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    told = pike("report", "--out", str(tmp_path / "out"))
    assert told.code == 0
    assert "pip install 'pike-workbench[report]'" in told.err
    assert "queries per run" in told.out
    assert {path.suffix for path in (tmp_path / "out").rglob("*.*")} == {".md", ".json", ".csv"}


def test_foreign_names_are_shown_and_obeyed_nowhere(tmp_path: Path) -> None:
    foreign = [*HOSTILE, "=HYPERLINK(1)", "$x^{$ |a|b|", "漢字 \udc80"]
    runs = [
        replace(run_of_study(Study(f"s{n}")), configuration=text, task=text, cause=text)
        for n, text in enumerate(foreign)
    ]
    write(view_of(report_of(HOSTILE[1], runs), AT), tmp_path)
    for name, data in bytes_in(tmp_path).items():
        if name.endswith((".md", ".csv", ".svg")):
            assert not set(data.decode("utf-8")) & set("\x1b\x00\x07\x7f\x9b\u202e"), name
    rows = rows_of(tmp_path / "nvidia-h200/tables/runs.csv")
    assert all(not row["task"].startswith("=") for row in rows)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    tables = page.replace("\\|", "").split("\n\n")
    for table in (part.splitlines() for part in tables if part.startswith("| ")):
        assert {line.count("|") for line in table} == {table[0].count("|")}
    assert "\\[@click=app.quit\\]" in page


def test_a_long_table_is_cut_on_the_page_and_whole_in_its_file(tmp_path: Path) -> None:
    one = run_of_study(Study("a"))
    runs = [replace(one, session=f"s{n}", repeat=n) for n in range(120)]
    view = view_of(report_of("", runs), AT)
    page = report_markdown.page(view, {})
    assert "20 more rows are in `runs.csv`." in page
    assert "| s119 |" not in page
    (runs_table,) = (table for table in view.sections[0].tables if table.name == "runs")
    assert len(runs_table.raw) == 120


def test_a_page_keeps_gpu_models_apart_and_lists_what_it_leaves_out() -> None:
    runs = [run_of_study(Study("a")), run_of_study(Study("b", device="NVIDIA H100"))]
    left = [LeftOut("", "full", TASKS[0], "unfit: *stochastic*")]
    page = report_markdown.page(view_of(report_of("x", runs, left), AT), {})
    assert "2 GPU models: a section each" in page
    assert page.index("## On NVIDIA H100") < page.index("## On NVIDIA H200")
    assert "unfit: \\*stochastic\\*" in page
    assert "No run holds a number yet." in report_markdown.page(view_of(report_of("", []), AT), {})


def test_more_curves_than_bands_can_show_say_how_sure_they_are_at_their_ends() -> None:
    runs = [
        replace(run_of_study(Study("a")), configuration=f"c{n}", repeat=repeat)
        for n in range(4)
        for repeat in (1, 2)
    ]
    (section,) = view_of(report_of("", runs), AT).sections
    (plot,) = (plot for plot in section.plots if plot.name == "by_queries")
    svg = report_figures.drawn(plot, "gpu")["svg"].decode()
    assert "bars at the ends" in svg
    assert "shaded" not in svg


# --- odd input


def test_sessions_that_run_or_have_not_begun_are_said(home: Path, pike: Pike) -> None:
    make(home, [Study("runs", end="running"), Study("waits", end="paused")])
    journals.build(home / "sessions/odd", 8, hostile=True)
    empty = journals.Script()
    empty.add([journals.opened("empty")], [journals.ORIGINAL])
    (home / "sessions/empty").mkdir()
    asyncio.run(journals.write(home / "sessions/empty/journal.db", empty))
    told = pike("report")
    assert told.code == 0, told.err
    assert "Not ended, so their numbers are those so far:" in told.out
    assert "the original was not measured" in told.out
    assert "measured once" in told.out


def test_no_sessions_and_no_numbers_end_with_1_and_a_hint(home: Path, pike: Pike) -> None:
    told = pike("report")
    assert told.code == 1
    assert "No run holds a number yet" in told.err
    write_runs(home, "x", [{"configuration": "a", "task": "t", "why": "the task is unfit"}])
    told = pike("report", "x")
    assert told.code == 1
    assert "the task is unfit" in told.out


def test_an_unknown_name_is_wrong_usage(home: Path, pike: Pike) -> None:
    make(home, study()[:1], "ablation")
    told = pike("report", "ablatoin")
    assert told.code == 2
    assert "ablation" in told.err


def test_a_configuration_without_a_correct_answer_has_1_and_says_so(home: Path, pike: Pike) -> None:
    bad = [replace(one, correct=False) for one in study() if one.configuration == "bare"]
    make(home, [one for one in study() if one.configuration == "full"] + bad, "x")
    told = pike("report", "x")
    assert told.code == 0
    assert "4 of 8 runs found a correct answer" in told.out
    assert "0 of 2" in told.out
    assert "full is ahead" in told.out
    assert re.search(r"\d ahead, \d behind of 2$", told.out, re.MULTILINE), (
        "whole, at 80 columns too"
    )


# --- words


def pair(ratio: float, **ends: Interval | None) -> Pair:
    given = {"measurement": None, "repeats": None, "over_tasks": None} | ends
    return Pair(first="a", second="b", tasks=(), ratio=ratio, **given)


def test_ahead_is_said_only_where_luck_and_noise_exclude_1() -> None:
    sure, noisy = Interval(1.05, 1.4), Interval(0.98, 1.5)
    assert "a is ahead" in report_words.pair_words(pair(1.2, repeats=sure, measurement=sure))
    assert "not told apart" in report_words.pair_words(pair(1.2, repeats=noisy))
    assert "not told apart" in report_words.pair_words(pair(1.2, repeats=sure, measurement=noisy))
    assert "cannot tell luck from merit" in report_words.pair_words(pair(1.2, measurement=sure))
    assert "over tasks, single runs" in report_words.pair_words(pair(1.2, over_tasks=sure))


def test_who_is_ahead_does_not_depend_on_who_is_named_first() -> None:
    found = report_words.pair_words(pair(0.5, repeats=Interval(0.4, 0.8)))
    assert "b is ahead (2.00×, 95 % over repeats: 1.25–2.50" in found


def test_two_that_found_nothing_are_not_called_equal() -> None:
    bad = [replace(one, correct=False) for one in study()]
    (section,) = report(*bad).sections
    told = " ".join(report_words.findings(section))
    assert "neither found a correct answer" in told
    assert "no difference" not in told


def test_where_a_plain_attempt_is_the_best_the_queries_are_said_to_have_added_nothing() -> None:
    (section,) = report(Study("a", gain=0.1), Study("b", gain=3.0)).sections
    told = " ".join(report_words.findings(section))
    assert "In 1 of 2 runs the best is a plain attempt: there the queries added nothing." in told


def test_long_names_are_cut_in_their_middle() -> None:
    assert short("pike-b, offline, queries 3", 12) == "pike-b…ies 3"
    assert short("pike-b", 12) == "pike-b"


def test_equal_numbers_are_no_difference() -> None:
    assert "no difference at all" in report_words.pair_words(pair(1.0, repeats=Interval(1.0, 1.0)))
    even = report_words.pair_words(pair(1.0, repeats=Interval(0.99, 1.01)))
    assert even.endswith(": neither came out ahead (1.00×, 95 % over repeats: 0.99–1.01).")


def test_unknown_costs_and_single_runs_are_kept_in_mind() -> None:
    (section,) = report(Study("a"), Study("b", "other"), unpriced=2).sections
    told = " ".join(report_caveats.caveats(section))
    assert "The cost of 4 queries is not known" in told
    assert "With a single run on some task" in told
    assert "at least $" in " ".join(report_words.costs(section))


def test_other_budgets_and_stopped_runs_are_kept_in_mind() -> None:
    one, two = run_of_study(Study("a")), run_of_study(Study("b", "other"))
    (same,) = report_of("", [one, two]).sections
    assert "Budgets differ" not in " ".join(report_caveats.caveats(same))
    single = replace(two, limits={"queries": 1})
    (section,) = report_of("", [one, single]).sections
    assert "other 1 query." in " ".join(report_caveats.caveats(section))
    two = replace(two, limits={"queries": 10, "cost_usd": None, "hours": 2.0}, state="stopped")
    (section,) = report_of("", [one, two]).sections
    told = " ".join(report_caveats.caveats(section))
    assert "full 300 queries, $ 10.00, 12 h; other 10 queries, 2 h." in told
    assert "Stopped before their budget was used up: b." in told


def test_offline_numbers_are_called_that(home: Path, pike: Pike) -> None:
    make(home, [Study("a", model="offline")])
    assert "Numbers of another kind: offline" in pike("report").out


# --- cut-offs


def test_cutoffs_are_dollars_or_queries() -> None:
    assert cutoffs("$25, 50,100q,25") == [
        Cutoff("dollars", 25),
        Cutoff("dollars", 50),
        Cutoff("queries", 100),
    ]


@pytest.mark.parametrize("text", ["", "x", "-5", "0", "5,", "1e3", "5qq", "nan"])
def test_what_is_no_cutoff_is_refused(text: str) -> None:
    with pytest.raises(WrongUsage, match="is no budget"):
        cutoffs(text)


# --- the winners


def test_the_winners_are_written_with_provenance_and_evidence(
    home: Path, pike: Pike, tmp_path: Path
) -> None:
    make(home, [*study()[:2], replace(study()[0], session="h100", device="NVIDIA H100", gain=9.0)])
    told = pike("best", "--all", str(tmp_path / "out"))
    assert told.code == 0, told.err
    assert "out holds 2 winners of 3 sessions; winners.md lists them." in told.err
    listed = rows_of(tmp_path / "out/winners.csv")
    assert [(row["device"], row["session"]) for row in listed] == [
        ("NVIDIA H100", "h100"),
        ("NVIDIA H200", "full-0-1"),
    ]
    folder = tmp_path / "out" / listed[1]["folder"]
    source = (folder / "candidate.py").read_text(encoding="utf-8")
    assert source.startswith(f"# {listed[1]['candidate']} of session full-0-1")
    assert "class ModelNew" in source
    evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    assert "class ModelNew" in evidence["candidate"]["source"]
    assert "NVIDIA H100" in (tmp_path / "out/winners.md").read_text(encoding="utf-8")


def test_the_winners_need_a_correct_attempt_and_a_folder(
    home: Path, pike: Pike, tmp_path: Path
) -> None:
    make(home, [replace(study()[0], correct=False)])
    assert "no session has a correct attempt yet" in pike("best", "--all", str(tmp_path / "x")).err
    assert pike("best").code == 2
    assert pike("best", "full-0-1", "--all", "x").code == 2
    (tmp_path / "file").write_text("", encoding="utf-8")
    make(home, [replace(study()[0], session="good")])
    told = pike("best", "--all", str(tmp_path / "file"))
    assert told.code == 1
    assert "choose another folder" in told.err


def test_an_estimated_cost_is_called_that() -> None:
    (section,) = report(Study("a"), estimated_usd=0.25).sections
    (row,) = view_of(report_of("", section.runs), AT).sections[0].tables[0].rows
    assert any("$ 0.25 of it estimated" in cell for cell in row)


def test_a_refuted_best_is_said() -> None:
    (section,) = report(Study("a"), refuted=("c7: measured again: wrong_result",)).sections
    assert "Did not stand up, and do not count: a c7" in " ".join(report_caveats.caveats(section))


def test_a_session_that_no_fact_ended_is_not_called_ended() -> None:
    assert run_of_study(Study("a")).ended
    assert not run_of_study(Study("a", end="running")).ended
