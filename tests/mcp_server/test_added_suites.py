"""Suites of the person's own: real folders, listed with care for what other people put into them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client import Client

from mcp_server import catalog, needs, scan, task_text
from mcp_server.__main__ import main
from mcp_server.added_suites import AddedSuites
from mcp_server.app import build
from mcp_server.contract import RESULT_LIMIT_BYTES, Status, Verdict
from mcp_server.errors import NotASuite, NotATask, UnknownSuite, UnknownTask
from mcp_server.sandbox import PACKAGE
from mcp_server.states import Known, States, current, told_by
from mcp_server.tasks import Tasks
from tests.mcp_server.judge import tasks as sources
from tests.mcp_server.test_tools import fields

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

OLD_S = time.time() - 1000


def _file(path: Path, text: str = sources.SOFTMAX) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    for name in (
        "level1/1_A",
        "level1/10_B",
        "level1/19_C",
        "level3-pike/4_LeNet",
        "level3-pike/44_GPT",
    ):
        _file(made / "KernelBench" / f"{name}.py")
    _file(made / "setup.py", "x = 1\n")
    return made


@pytest.fixture
def tasks(home: Path, checkout: Path) -> Tasks:
    AddedSuites(home).add(checkout, "kb")
    return Tasks(home)


@pytest.fixture
def said(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a plain command: its exit code, its JSON or None, its stderr."""
    monkeypatch.setenv("PIKE_HOME", str(home))

    def run(*words: str) -> tuple[int, Any, str]:
        code = main([*words, "--json"] if words[0] == "tasks" else list(words))
        told = capsys.readouterr()
        return code, json.loads(told.out) if told.out else None, told.err

    return run


def test_a_checkout_lists_its_levels_by_number_and_copies_nothing(tasks: Tasks, home: Path) -> None:
    ids = [i for i in tasks.ids() if i.startswith("kb/")]
    assert ids == [
        "kb/level1/1_A",
        "kb/level1/10_B",
        "kb/level1/19_C",
        "kb/level3-pike/4_LeNet",
        "kb/level3-pike/44_GPT",
    ]
    assert not list(home.rglob("*_A.py"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("kb/level1/19_C", "kb/level1/19_C"),
        ("kb/level3-pike/44", "kb/level3-pike/44_GPT"),
        ("level3-pike/44", "kb/level3-pike/44_GPT"),
        ("kb/level3-pike/4", "kb/level3-pike/4_LeNet"),
        ("level1/1", "kb/level1/1_A"),
    ],
)
def test_a_task_is_named_by_its_id_or_the_beginning_of_it(
    tasks: Tasks, name: str, found: str
) -> None:
    assert tasks.get(name).id == found


@pytest.mark.parametrize(
    "name",
    [
        "kb/level1/../../setup",
        "kb/../setup",
        "kb//setup",
        "../checkout/setup",
        "kb/level1/1_A.py",
        "nothing/x",
    ],
)
def test_a_name_that_is_a_path_names_no_task(tasks: Tasks, name: str) -> None:
    with pytest.raises(UnknownTask):
        tasks.get(name)


def test_a_suite_without_its_folder_says_so_and_the_others_go_on(
    tasks: Tasks, checkout: Path, said: Any
) -> None:
    checkout.rename(checkout.with_name("elsewhere"))
    assert "starter/softmax" in tasks.ids()
    with pytest.raises(UnknownSuite, match=r"suite kb is not there any more: .*checkout"):
        tasks.get("kb/level1/1_A")
    assert "is not there any more" in said("tasks")[2]
    assert said("suite", "list")[1][0]["state"] == "gone"


@pytest.mark.parametrize(
    "name", ["starter", "local", "../x", "a/b", "", ".hidden", "Ab", "x" * 41, "a\x1b[31m"]
)
def test_a_suites_name_is_no_path_and_none_of_ours(home: Path, checkout: Path, name: str) -> None:
    with pytest.raises(NotASuite, match="name"):
        AddedSuites(home).add(checkout, name)


def test_a_name_is_taken_once_but_a_folder_may_be_added_again(
    tasks: Tasks, home: Path, checkout: Path, tmp_path: Path
) -> None:
    _file(tmp_path / "other" / "x.py")
    with pytest.raises(NotASuite, match="suite kb already"):
        AddedSuites(home).add(tmp_path / "other", "kb")
    assert AddedSuites(home).add(checkout, "kb")[0].tasks == 5
    AddedSuites(home).remove("kb")
    assert not [i for i in tasks.ids() if i.startswith("kb/")]
    with pytest.raises(UnknownSuite, match="no suite 'kb'"):
        AddedSuites(home).remove("kb")


def test_a_folder_without_tasks_is_refused_and_forgotten(said: Any, tmp_path: Path) -> None:
    _file(tmp_path / "plain" / "setup.py", "x = 1\n")
    assert said("suite", "add", "plain", str(tmp_path / "plain"))[0] == 1
    assert said("suite", "list")[1] == []
    for nothing in (tmp_path / "plain" / "setup.py", tmp_path / "nowhere"):
        assert said("suite", "add", "x", str(nothing))[0] == 1


def test_a_folder_of_refused_files_names_what_was_passed_over_too(
    said: Any, tmp_path: Path
) -> None:
    _file(tmp_path / "odd" / "broken.py", "class Model(:\n")
    _file(tmp_path / "odd" / "two words.py")
    code, _, told = said("suite", "add", "odd", str(tmp_path / "odd"))
    assert code == 1
    assert "broken.py is not a Python file" in told
    assert "Passed over: two words.py has a name with other characters" in told


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("two words", "other characters"),
        ("naïve", "other characters"),
        ("-rf", "begins with"),
        ("+x/good", "begins with"),
        ("a.py", "ends with .py twice"),
    ],
)
def test_a_name_passed_over_is_told_what_is_wrong_with_it(
    tmp_path: Path, name: str, why: str
) -> None:
    _file(tmp_path / "odd" / f"{name}.py")
    found = scan.folder(tmp_path / "odd", "odd")
    assert not found.files
    assert why in found.passed_over[0][1]


def test_files_without_a_task_are_not_counted_as_tasks_that_went(said: Any, tmp_path: Path) -> None:
    _file(tmp_path / "odd" / "good.py")
    _file(tmp_path / "odd" / "helpers.py", "x = 1\n")
    assert said("suite", "add", "odd", str(tmp_path / "odd"))[0] == 0
    (row,) = said("suite", "list")[1]
    assert row["tasks"] == row["tasks_when_added"] == 1
    code, _, told = said("tasks", "--find", "odd/helpers")
    assert code == 1
    assert "holds no task: its file has no Model" in told


def test_what_other_people_put_into_a_folder_is_passed_over_in_words(
    home: Path, tmp_path: Path, said: Any
) -> None:
    folder = tmp_path / "odd"
    _file(folder / "good.py")
    secret = _file(tmp_path / "secret.py")
    (folder / "link.py").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "dangling.py").symlink_to(tmp_path / "nothing")
    (folder / "same.py").symlink_to(folder / "good.py")
    _file(folder / "red\x1b[31m.py")
    _file(folder / ("l" * 120 + ".py"))
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    (folder / os.fsdecode(b"\xff\xfe.py")).write_bytes(b"")
    (folder / "latin.py").write_bytes("class Model: 'é'".encode("latin-1"))
    _file(folder / "half.py", "class Model: ...\n")
    _file(folder / "broken.py", "class Model(:\n")
    code, rows, _ = said("suite", "add", "odd", str(folder))
    assert code == 0
    told = "\n".join(rows[0]["passed_over"])
    assert "\x1b" not in told
    for name in ("link.py is a link out", "dangling.py", "pipe.py is no plain file", "characters"):
        assert name in told
    rows = {row["id"]: row for row in said("tasks")[1] if row["suite"] == "odd"}
    assert set(rows) == {f"odd/{n}" for n in ("good", "same", "latin", "half", "broken")}
    assert "not UTF-8" in rows["odd/latin"]["reason"]
    assert "no function get_inputs" in rows["odd/half"]["reason"]
    assert rows["odd/broken"]["state"] == "unfit"
    with pytest.raises(NotATask, match="UTF-8"):
        Tasks(home).get("odd/latin")


def test_a_link_that_comes_later_is_not_followed_either(
    tasks: Tasks, checkout: Path, tmp_path: Path
) -> None:
    target = checkout / "KernelBench" / "level1" / "1_A.py"
    target.unlink()
    target.symlink_to(_file(tmp_path / "secret.py"))
    with pytest.raises(UnknownTask):
        tasks.get("kb/level1/1_A")


def test_a_damaged_list_of_suites_is_told_and_kept(home: Path, said: Any) -> None:
    home.mkdir()
    (home / "suites.json").write_text("{", encoding="utf-8")
    code, _, err = said("tasks")
    assert code == 1
    assert "suites.json cannot be read" in err
    assert (home / "suites.json").read_text(encoding="utf-8") == "{"


def _aged(folder: Path) -> None:
    """Wait until nothing of a folder is so young that it would be read again."""
    newest = max(file.stat().st_ctime for file in folder.rglob("*.py"))
    while time.time() - newest < 2.1:
        time.sleep(0.05)


def test_a_listing_reads_only_what_has_changed(tasks: Tasks, home: Path, checkout: Path) -> None:
    _aged(checkout)
    before = {one.id: one.told for one in tasks.listed()}
    kept = home / "cache" / "listings" / "kb.json"
    marked = kept.read_text(encoding="utf-8").replace('"44 GPT"', '"from the cache"')
    kept.write_text(marked, encoding="utf-8")
    file = checkout / "KernelBench" / "level1" / "1_A.py"
    _file(file, f'"""Another title."""\n{sources.SOFTMAX}')
    after = {one.id: one.told for one in tasks.listed()}
    assert after["kb/level3-pike/44_GPT"].title == "from the cache"
    assert after["kb/level1/1_A"].title == "Another title."
    assert after["kb/level1/1_A"].sha256 != before["kb/level1/1_A"].sha256
    kept.write_text("[]", encoding="utf-8")
    assert {one.id: one.told.title for one in tasks.listed()}["kb/level3-pike/44_GPT"] == "44 GPT"


def test_five_thousand_files_are_listed_and_named(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    text = "class Model: ...\ndef get_inputs(): ...\ndef get_init_inputs(): ...\n"
    for number in range(5000):
        _file(folder / f"{number}_x.py", text)
    assert AddedSuites(home).add(folder, "many")[0].tasks == 5000
    tasks = Tasks(home)
    ids = tasks.ids()
    assert (len(ids), ids[-1]) == (5008, "many/4999_x")
    assert tasks.get("many/49").id == "many/49_x"


def test_a_state_holds_for_the_text_that_was_tried(
    tasks: Tasks, home: Path, checkout: Path, said: Any
) -> None:
    task = tasks.get("kb/level1/1_A")
    States(home).put(task, Known("unfit", "stochastic", "It rolls dice.", device="cpu"))
    row = next(r for r in said("tasks")[1] if r["id"] == task.id)
    assert (row["state"], row["code"], row["reason"]) == ("unfit", "stochastic", "It rolls dice.")
    States(home).put(task, Known("qualified", policy="half", device="gpu"))
    row = next(r for r in said("tasks")[1] if r["id"] == task.id)
    assert (row["state"], row["policy"], row["device"]) == ("qualified", "half", "gpu")
    _file(checkout / "KernelBench" / "level1" / "1_A.py", f"# new\n{sources.SOFTMAX}")
    row = next(r for r in said("tasks")[1] if r["id"] == task.id)
    assert (row["state"], row["reason"]) == ("not tried", "its file has changed since it was tried")


def test_a_state_of_an_earlier_evaluator_does_not_hold(tasks: Tasks, home: Path) -> None:
    task = tasks.get("kb/level1/1_A")
    States(home).put(task, Known("qualified"))
    (kept,) = (home / "cache" / "states").glob("*.json")
    row = json.loads(kept.read_text(encoding="utf-8")) | {"evaluator": "older"}
    assert current([row], task.sha256).state == "not tried"
    kept.write_text("{", encoding="utf-8")
    assert States(home).all() == {}


def test_what_another_machine_might_qualify_is_not_called_unfit() -> None:
    lacking = Verdict(
        status=Status.TASK_UNFIT, code="reference_fails", cause="x needs the package y, which"
    )
    dice = Verdict(status=Status.TASK_UNFIT, code="stochastic", cause="It rolls dice.")
    good = Verdict(status=Status.WRONG_RESULT, code="values", policy_effective="tf32")
    lost = Verdict(status=Status.INFRA_ERROR, code="worker_lost")
    found = [told_by(verdict, "cpu") for verdict in (lacking, dice, good, lost)]
    assert [one and one.state for one in found] == ["not run", "unfit", "qualified", None]


def test_a_suite_that_cannot_be_listed_any_more_leaves_the_others(
    tasks: Tasks, checkout: Path, monkeypatch: pytest.MonkeyPatch, said: Any
) -> None:
    for number in range(20):
        _file(checkout / "KernelBench" / "level2" / f"{number}_x.py")
    monkeypatch.setattr(scan, "_MOST_ENTRIES", 20)
    assert "starter/softmax" in tasks.ids()
    assert "kb/level1/1_A" not in tasks.ids()
    assert "holds more than 20 files" in str(tasks.troubles()[0])
    assert "holds more than 20 files" in said("tasks")[2]
    assert said("suite", "list")[1][0]["state"] == "gone"


def test_an_expression_that_nobody_wrote_by_hand_stops_no_list(
    tasks: Tasks, checkout: Path
) -> None:
    for terms in (500, 900, 20_000):
        text = f"a = {'+'.join(['1'] * terms)}\n{sources.SOFTMAX}"
        _file(checkout / "KernelBench" / "level1" / f"{terms}_deep.py", text)
    assert "kb/level1/500_deep" in tasks.ids()
    assert len(tasks.ids()) == 8 + 5 + 3


def test_a_file_that_goes_while_it_is_listed_is_left_out(tmp_path: Path) -> None:
    assert catalog.described(tmp_path / "gone.py", "gone") is None


def test_many_can_add_suites_at_once(home: Path, checkout: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from mcp_server.added_suites import AddedSuites; "
        "[AddedSuites(Path(sys.argv[1])).add(Path(sys.argv[2]), f'{sys.argv[3]}-{n}') for n in range(10)]"
    )
    argv = [sys.executable, "-c", script, str(home), str(checkout)]
    running = [subprocess.Popen([*argv, name]) for name in ("a", "b", "c")]
    assert [one.wait(timeout=60) for one in running] == [0, 0, 0]
    assert len(AddedSuites(home).all()) == 30


def test_what_a_task_needs_is_told_by_its_text() -> None:
    told = task_text.parsed(
        """
import einops, numpy as np
from transformers import AutoModel
try:
    import flash_attn
except ImportError:
    flash_attn = None
name = "org/model"
batch, width = 64, 1024 * 1024 * 4

class Model: ...

def get_inputs():
    extra = batch // 2
    torch.load("weights.pt")
    AutoModel.from_pretrained(name).to("cuda")
    return [torch.rand(batch, width), torch.randint(0, 9, (extra, width)), torch.rand(unknown)]
""",
        "x.py",
    )
    assert {(need.kind, need.what) for need in needs.of(told)} == {
        ("package", "einops"),
        ("package", "numpy"),
        ("package", "transformers"),
        ("weights", "org/model"),
        ("network", "huggingface.co"),
        ("file", "weights.pt"),
        ("cuda", ""),
        ("memory", str(64 * 2**22 * 4 + 32 * 2**22 * 8)),
    }


@pytest.mark.parametrize(
    "text",
    [
        "a = 2 ** 99999",
        "a = 9 ** 9 ** 9",
        "a = 'x' * 10 ** 9",
        "a = 1 / 0",
        "a = (-2) ** 0.5",
        "a = 1e308 * 10",
    ],
)
def test_no_text_makes_a_list_work_long(text: str) -> None:
    source = f"{text}\ndef get_inputs():\n    return [torch.rand(a, a)]\n"
    assert [
        need for need in needs.of(task_text.parsed(source, "x.py")) if need.kind == "memory"
    ] == []


def test_a_limit_that_is_told_is_the_judges_own() -> None:
    judge = (PACKAGE / "judge" / "task.py").read_text(encoding="utf-8")
    assert "INPUT_LIMIT_BYTES = 1024**3" in judge
    assert needs.INPUT_LIMIT_BYTES == 1024**3


async def test_agents_page_through_suites_and_every_page_fits(
    setting: Setting, checkout: Path
) -> None:
    for number in range(120):
        _file(checkout / "KernelBench" / "level2" / f"{number}_{'long_name_' * 7}.py")
    _file(
        checkout / "KernelBench" / "level1" / "2_E.py",
        f"import einops_that_nobody_has\n{sources.SOFTMAX}",
    )
    AddedSuites(setting.home).add(checkout, "kb")
    seen: list[str] = []
    cursor = ""
    async with Client(build(setting)) as client:
        while True:
            reply = await client.call_tool(
                "list_tasks", {"suite": "kb/level2", "limit": 50, "cursor": cursor}
            )
            page = fields(reply)
            assert len(json.dumps(page).encode()) <= RESULT_LIMIT_BYTES
            seen += [row["id"] for row in page["tasks"]]
            cursor = page.get("next_cursor", "")
            if not cursor:
                break
        rows = fields(await client.call_tool("list_tasks", {"suite": "level1"}))["tasks"]
        shown = fields(await client.call_tool("get_task", {"task_id": "kb/level1/1_A"}))
    assert len(seen) == len(set(seen)) == 120
    assert {row["id"]: row.get("note") for row in rows}[
        "kb/level1/2_E"
    ] == "needs einops_that_nobody_has, not here"
    assert shown["source"] == sources.SOFTMAX
