"""Tasks, candidates, program output and artifacts as text."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server import build, clean, folders, intake
from mcp_server.artifacts import Artifacts
from mcp_server.errors import NotATask, StateUnusable, UnknownId, UnknownTask
from mcp_server.tasks import Tasks

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '''"""Double a tensor."""
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x + x

def get_inputs():
    return [torch.rand(4)]

def get_init_inputs():
    return []
'''


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_eight_starter_tasks_come_with_a_title_each(home: Path) -> None:
    tasks = Tasks(home)
    ids = [i for i in tasks.ids() if i.startswith("starter/")]
    assert len(ids) == 8
    assert all(tasks.get(i).title != i for i in ids)


def test_a_unique_prefix_finds_its_task_and_an_ambiguous_one_lists_them(home: Path) -> None:
    tasks = Tasks(home)
    assert tasks.get("starter/soft").id == "starter/softmax"
    with pytest.raises(UnknownTask, match=r"starter/scan.*starter/softmax"):
        tasks.get("starter/s")
    with pytest.raises(UnknownTask, match="list_tasks"):
        tasks.get("starter/nothing")


def test_a_file_becomes_a_local_task_once(home: Path, tmp_path: Path) -> None:
    tasks = Tasks(home)
    first = tasks.find(str(written(tmp_path, "my model.py", GOOD)))
    again = tasks.find(str(tmp_path / "my model.py"))
    assert first == again
    assert first.id.startswith("local/my-model-")
    assert len(first.id.rpartition("-")[2]) == 8
    assert first.title == "Double a tensor."
    assert tasks.get(first.id).source == GOOD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "not a Python file, line 1"),
        (GOOD.replace("Model", "Net"), "no class Model"),
        (GOOD.replace("get_inputs", "inputs"), "no function get_inputs"),
        (GOOD.replace("get_init_inputs", "init"), "no function get_init_inputs"),
        ("(" * 5000, "not a Python file"),
    ],
)
def test_a_file_that_is_no_task_is_refused_with_the_reason(
    home: Path, tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(NotATask, match=said):
        Tasks(home).find(str(written(tmp_path, "task.py", text)))


def test_bytes_that_are_no_text_and_missing_files_are_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NotATask, match="UTF-8"):
        Tasks(home).find(str(tmp_path / "task.py"))
    with pytest.raises(UnknownTask, match="no file"):
        Tasks(home).find(str(tmp_path / "missing.py"))


def test_a_state_folder_that_cannot_be_written_names_the_remedy(tmp_path: Path) -> None:
    blocked = written(tmp_path, "blocked", "a file where a folder should be")
    with pytest.raises(StateUnusable, match="PIKE_HOME"):
        Tasks(blocked).find(str(written(tmp_path, "task.py", GOOD)))


def test_a_reader_is_told_what_a_candidate_uses() -> None:
    read = intake.read(
        "import torch, threading, sys\n"
        "torch.cuda.synchronize = lambda: None\n"
        "class ModelNew:\n"
        "    def forward(self, x):\n"
        "        return sys._getframe(1)\n"
    )
    assert read.flags == ("patches_modules", "uses_frames", "uses_threads")
    assert read.status is None


@given(st.text(max_size=2_000))
def test_any_text_can_be_read_as_a_candidate(source: str) -> None:
    assert len(intake.read(source).sha256) == 64


@given(st.text(max_size=500))
def test_shown_output_has_no_control_characters(text: str) -> None:
    shown = clean.printable(text)
    assert "\x1b" not in shown
    assert all(c in "\n\t" or c.isprintable() or c.isspace() for c in shown)


def test_escape_sequences_go_and_their_text_stays() -> None:
    hostile = "\x1b]0;title\x07\x1b[31mred\x1b[0m\u202eevil\r\nnext\x00"
    assert clean.printable(hostile) == "redevil\nnext"


def test_ptxas_and_cuobjdump_tell_registers_and_spills() -> None:
    ptxas = (
        "ptxas info    : Function properties for f\n"
        "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 1 barriers\n"
    )
    dumped = " Function f:\n  REG:32 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:908 TEXTURE:0\n"
    assert build.usage(ptxas) == build.Usage(40, 12)
    assert build.usage(dumped) == build.Usage(32, 0)
    assert build.usage("nothing") == build.Usage(None, None)


def test_a_slow_build_is_told_a_cheaper_way_and_a_fast_one_is_not() -> None:
    source = 'load_inline(cuda_sources="#include <torch/extension.h>")'
    assert "extern" in (build.advice(source, 51.0) or "")
    assert build.advice(source, 2.0) is None


def test_pages_of_an_artifact_fit_and_make_up_the_whole() -> None:
    artifacts = Artifacts()
    text = "".join(f"line {n} \u00e9\u4e2d\n" for n in range(2_000)) + "x" * 9_000
    artifact_id = artifacts.keep("local", "log", text)
    assert artifact_id is not None
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = artifacts.page("local", artifact_id, offset, 4_000)
        assert len(json.dumps(page.text, ensure_ascii=False).encode()) <= 4_000
        parts.append(page.text)
        offset = page.next_offset
    assert "".join(parts) == text


def test_an_artifact_of_another_caller_is_unknown() -> None:
    artifacts = Artifacts()
    artifact_id = artifacts.keep("one", "log", "text")
    assert artifact_id is not None
    with pytest.raises(UnknownId):
        artifacts.page("two", artifact_id, 0, 4_000)
    assert artifacts.keep("one", "log", " \n") is None


def test_copied_builds_keep_times_and_leave_out_links(tmp_path: Path) -> None:
    source = tmp_path / "build"
    (source / "sub").mkdir(parents=True)
    written(source / "sub", "a.o", "object")
    os.utime(source / "sub" / "a.o", ns=(5, 10**18 + 3))
    (source / "escape").symlink_to("/etc")
    (source / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(source / "pipe")
    assert folders.copy(source, tmp_path / "kept") == 1
    kept = tmp_path / "kept"
    assert (kept / "sub" / "a.o").stat().st_mtime_ns == 10**18 + 3
    assert sorted(p.name for p in kept.iterdir()) == ["sub"]


def test_a_build_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "build").symlink_to("/etc")
    assert folders.copy(tmp_path / "build", tmp_path / "kept") == 0


def test_the_workspace_of_a_killed_server_goes_with_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "pike-server-dead"
    left.mkdir()
    written(left, ".held", "")
    written(left, "scratch", "x")
    alive = folders.Workspace(tmp_path)
    second = folders.Workspace(tmp_path)
    assert not left.exists()
    assert alive.path.exists()
    second.close()
    alive.close()
    assert list(tmp_path.iterdir()) == []


def test_servers_that_start_at_once_leave_each_other_their_workspaces(tmp_path: Path) -> None:
    def start_and_end() -> None:
        for _ in range(150):
            workspace = folders.Workspace(tmp_path)
            assert (workspace.path / ".held").exists()
            workspace.close()

    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(start_and_end) for _ in range(4)]:
            one.result()
    assert list(tmp_path.iterdir()) == []
