"""Folders of the person's that a task may read: only what was opened, only where its text names it, never to write."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcp_server import projects
from mcp_server.contract import Status
from mcp_server.errors import NotAProject
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.pool import Programs
from mcp_server.tasks import Tasks
from tests.mcp_server.conftest import TASK, candidate, ignore
from tests.mcp_server.judge import tasks as sources

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    (made / "pkg").mkdir(parents=True)
    (made / "pkg" / "__init__.py").write_text("LIMIT = 3.0\n", encoding="utf-8")
    (tmp_path / "other").mkdir()
    return made


def _naming(folder: Path) -> str:
    head = f"import sys\nPROJECT = {str(folder)!r}\nsys.path.insert(0, PROJECT)\nfrom pkg import LIMIT\n"
    return head + sources.SOFTMAX


def _added(home: Path, folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "task.py"
    file.write_text(text, encoding="utf-8")
    return Tasks(home).add(file).reads


def test_a_task_reads_what_it_names_once_a_person_opened_it(
    home: Path, project: Path, tmp_path: Path
) -> None:
    assert _added(home, tmp_path, _naming(project)) == ()
    projects.open_up(home, [project])
    assert _added(home, tmp_path, _naming(project)) == (str(project),)
    assert _added(home, tmp_path, _naming(tmp_path / "other")) == ()
    assert _added(home, tmp_path, _naming(tmp_path)) == ()
    assert _added(home, tmp_path, sources.SOFTMAX) == ()


def test_an_agents_task_and_a_suites_task_read_nothing(
    home: Path, project: Path, tmp_path: Path
) -> None:
    projects.open_up(home, [project])
    file = tmp_path / "task.py"
    file.write_text(_naming(project), encoding="utf-8")
    tasks = Tasks(home)
    task = tasks.add(file)
    task.path.with_suffix(".agent").touch()
    assert tasks.get(task.id).reads == ()
    (tmp_path / "suite").mkdir()
    file.rename(tmp_path / "suite" / "task.py")
    tasks.suites.add(tmp_path / "suite", "mine")
    assert tasks.get("mine/task").reads == ()


@pytest.mark.parametrize("name", ["/", "/etc", "/proc/self", "HOME", "STATE"])
def test_more_than_a_project_is_not_opened(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    (tmp_path / "person" / "project").mkdir(parents=True)
    home.mkdir()
    places = {"HOME": tmp_path / "person", "STATE": home}
    with pytest.raises(NotAProject, match="tasks may not read that"):
        projects.open_up(home, [places.get(name, tmp_path.joinpath(name))])
    with pytest.raises(NotAProject, match="There is no"):
        projects.open_up(home, [tmp_path / "absent"])
    assert projects.open_up(home, [tmp_path / "person" / "project"])


async def test_the_sandbox_opens_the_project_for_reading_and_nothing_beside_it(
    fenced: Setting, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "other" / "secret").write_text("secret", encoding="utf-8")
    body = f"""
import os
def attempt(act, path):
    try:
        return str(act(path))
    except OSError as error:
        return type(error).__name__
read = lambda path: open(path).read()
write = lambda path: open(path, "w").write("x")
inside, beside = {str(project / "pkg" / "__init__.py")!r}, {str(tmp_path / "other" / "secret")!r}
said = [attempt(read, inside), attempt(write, inside), attempt(read, beside)]
"""
    opened = replace(TASK, reads=(str(project),))
    async with open_local(fenced) as executor:
        seen = await executor.run(Work("job_0123456789", opened, candidate(body)), ignore)
        blind = await executor.run(Work("job_0123456790", TASK, candidate(body)), ignore)
    read, written, secret = seen.evidence["answer"]["said"]
    assert read == "LIMIT = 3.0\n"
    assert written in ("OSError", "PermissionError")
    assert secret in ("FileNotFoundError", "PermissionError")
    assert (project / "pkg" / "__init__.py").read_text(encoding="utf-8") == "LIMIT = 3.0\n"
    assert blind.evidence["answer"]["said"][0] in ("FileNotFoundError", "PermissionError")


@pytest.mark.torch
@pytest.mark.timeout(300)
async def test_a_task_and_its_candidate_import_the_project(
    setting: Setting, project: Path, tmp_path: Path
) -> None:
    projects.open_up(setting.home, [project])
    file = tmp_path / "task.py"
    file.write_text(_naming(project), encoding="utf-8")
    task = Tasks(setting.home).add(file)
    source = f"{_naming(project)}\n\nclass ModelNew(Model):\n    limit = LIMIT\n"
    async with open_local(replace(setting, sandbox="best-effort", programs=Programs())) as executor:
        work = Work("job_0123456789", task, source, stages=("build", "correctness"))
        verdict = (await executor.run(work, ignore)).verdict
    assert (verdict.status, verdict.cause) == (Status.OK, None)
