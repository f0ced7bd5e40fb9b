"""Searches a step at a time: prompts and replies as files, and a folder carried between two hosts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import pytest

from sessions.folder import SessionFolder
from sessions.lock import Holder
from sessions.model import WAITING
from sessions.start import create_session
from sessions.states import SessionState
from tests.fakes import SOURCE, answer_text
from tests.sessions.agents import end_engines, state_of
from tests.sessions.searches import request
from workbench.carried_task import bring

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike, Told

MODELS = {"ideas": "files", "improve": "files", "fix": "files"}
NAME = "air"
HERE, ELSEWHERE = "a test CPU", "another CPU"


@dataclass
class Host:
    """A machine with a state folder of its own; its evaluator is scripted, or missing."""

    home: Path
    config: Path
    monkeypatch: pytest.MonkeyPatch
    pike: Pike

    @property
    def folder(self) -> SessionFolder:
        return SessionFolder(self.home / "sessions" / NAME)

    def has(self, title: str) -> Host:
        """Give it an evaluator whose device is of this model; an empty title: none that starts."""
        words = [sys.executable, "-m", "tests.sessions.scripted_server", "cpu", title]
        table = f"command = {words if title else ['/no/such/program']}"
        self.config.mkdir(parents=True, exist_ok=True)
        (self.config / "config.toml").write_text(f"[evaluators.it]\n{table}\n", encoding="utf-8")
        return self

    def step(self, *flags: str) -> Told:
        """Type `pike step` there."""
        self.monkeypatch.setenv("PIKE_HOME", str(self.home))
        self.monkeypatch.setenv("XDG_CONFIG_HOME", str(self.config.parent))
        return self.pike("step", NAME, *flags)

    def carry_to(self, other: Host) -> None:
        """Copy the session's folder, as `rsync -a` would."""
        shutil.copytree(self.folder.path, other.folder.path, dirs_exist_ok=True)

    def prompts(self) -> list[str]:
        found = self.folder.artifacts / "prompts"
        return sorted((p.stem for p in found.glob("*.md")), key=lambda name: int(name[1:]))

    def answer(self, query: str, text: str) -> None:
        """Lay a reply beside its prompt: written aside, then renamed."""
        replies = self.folder.artifacts / "replies"
        aside = replies / f"{query}.part"
        aside.write_text(text, encoding="utf-8")
        aside.rename(replies / f"{query}.md")

    def answer_all(self) -> None:
        for query in self.prompts():
            text = (self.folder.artifacts / "prompts" / f"{query}.md").read_text(encoding="utf-8")
            ideas = text.startswith(f"<!-- pike {query}: IBA, ideas")
            self.answer(
                query, "1. fuse\n2. unroll\n" if ideas else answer_text(3, query, 0, ("ok",))
            )


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pike: Pike) -> tuple[Host, Host]:
    monkeypatch.setenv("PYTHONPATH", os.getcwd())  # noqa: PTH109 - the repository
    gpu, desk = (
        Host(tmp_path / name, tmp_path / f"{name}-config" / "pike", monkeypatch, pike)
        for name in ("gpu", "desk")
    )
    settings = {"queries": 7, "width": 2, "places": 2, "fixes": 0, "ideas": 2}
    asked = request(name=NAME, models=MODELS, settings=settings, device="cpu")
    create_session(asked, gpu.home / "sessions")
    return gpu.has(HERE), desk.has("")


@pytest.mark.timeout(600)
def test_a_search_goes_three_rounds_between_two_hosts_of_which_one_evaluates(
    hosts: tuple[Host, Host],
) -> None:
    gpu, desk = hosts
    first = gpu.step()
    assert (first.code, gpu.prompts()) == (3, ["q1"])
    assert "air: waiting for 1 reply" in first.out
    for expected in (["q2", "q3"], ["q4", "q5"], ["q6", "q7"]):
        gpu.carry_to(desk)
        desk.answer_all()
        told = desk.step("--json")
        asked = told.json["prompts"]
        if expected == ["q2", "q3"]:  # ideas need no evaluator: the desk goes on by itself
            assert (told.code, [row["query"] for row in asked]) == (3, expected)
            desk.answer_all()
            told = desk.step("--json")
        assert (told.code, told.json["state"]) == (4, "waiting")
        assert told.json["cause"] == "no evaluator here"
        assert len(told.json["evaluations"]) == 2, "the replies are taken, nothing is judged"
        shutil.rmtree(gpu.folder.path)
        desk.carry_to(gpu)
        found = gpu.step()
        if expected != ["q6", "q7"]:
            assert found.code == 3
    assert found.code == 0
    assert "finished" in found.out
    state = state_of(gpu.folder)
    assert (state.state, state.code) == (SessionState.FINISHED, "queries")
    assert (state.spending.queries, state.spending.unpriced) == (7, 7)
    assert all(a.correct and a.commit for a in state.attempts.values())
    assert {q.end for q in state.queries.values()} == {"done"}
    assert not gpu.prompts()
    assert gpu.step().code == 0


@pytest.mark.slow
def test_another_model_of_device_is_no_evaluator_and_says_why(hosts: tuple[Host, Host]) -> None:
    gpu, desk = hosts
    gpu.step()
    gpu.answer_all()
    gpu.step()
    gpu.answer_all()
    gpu.carry_to(desk)
    told = desk.has(ELSEWHERE).step()
    assert told.code == 4
    assert f"cpu is {ELSEWHERE}, and this session is measured on {HERE}" in told.out
    assert not any(a.kind for a in state_of(desk.folder).attempts.values())
    row = desk.pike("sessions", "--json").json[0]
    assert (row["state"], row["needs"]) == ("waiting", "")
    assert desk.pike("show", NAME).lines[0].startswith(f"{NAME}: no evaluator here: it: cpu is")
    assert desk.has(HERE).step().code == 3


@pytest.mark.slow
def test_a_reply_that_is_not_whole_is_not_taken_and_what_is_missing_is_said(
    hosts: tuple[Host, Host],
) -> None:
    gpu, _ = hosts
    gpu.step()
    gpu.answer("q1", "```python\nclass ModelNew:")
    told = gpu.step("--json")
    assert (told.code, told.json["queries"]) == (3, 0)
    assert "has a code fence that is not closed" in told.json["prompts"][0]["incomplete"]
    gpu.answer_all()
    assert gpu.step("--json").json["queries"] == 1


@pytest.mark.slow
def test_a_persons_pause_holds_and_an_engine_on_another_host_is_named(
    hosts: tuple[Host, Host],
) -> None:
    gpu, _ = hosts
    gpu.step()
    assert state_of(gpu.folder).code == WAITING
    gone = Holder("gpu017", 4, "boot", "1")
    gpu.folder.lock.write_text(json.dumps(asdict(gone)), encoding="utf-8")
    told = gpu.step()
    assert (told.code, "process 4 on gpu017" in told.err) == (1, True)
    assert gpu.step("--take-over").code == 3
    assert "its next step needs" in gpu.pike("pause", NAME).err
    told = gpu.step()
    assert (told.code, told.out) == (1, "")
    assert "and a step does not undo that. `pike step air --resume` goes on" in told.err
    assert gpu.step("--resume").code == 3
    end_engines(gpu.home / "sessions")


def test_a_persons_task_comes_with_its_session(hosts: tuple[Host, Host]) -> None:
    gpu, desk = hosts
    gpu.carry_to(desk)
    opened = state_of(desk.folder).opened
    assert opened is not None
    desk.monkeypatch.setenv("PIKE_HOME", str(desk.home))
    bring(desk.folder, opened)
    kept = desk.home / "tasks" / "twice.py"
    assert kept.read_text(encoding="utf-8") == SOURCE
    kept.unlink()
    (desk.folder.task / "twice.py").write_text("changed", encoding="utf-8")
    bring(desk.folder, opened)
    assert not kept.exists(), "another text is not the task"
    bring(desk.folder, replace(opened, task="level3/44_MiniGPT"))
    assert list((desk.home / "tasks").iterdir()) == []


@pytest.mark.slow
def test_a_signal_ends_a_step_in_order_and_the_next_one_goes_on(hosts: tuple[Host, Host]) -> None:
    gpu, _ = hosts
    gpu.step()
    gpu.answer_all()
    gpu.step()
    for query in gpu.prompts():
        gpu.answer(
            query, f"```python\n# slow\n{SOURCE.replace('class Model(', 'class ModelNew(')}```\n"
        )
    words = [sys.executable, "-P", "-m", "workbench", "step", NAME]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as step:
        deadline = time.monotonic() + 120
        while not any(a.evaluating for a in state_of(gpu.folder).attempts.values()):
            assert step.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        step.send_signal(signal.SIGTERM)
        told = step.communicate(timeout=120)[0]
    assert step.returncode == 143
    assert "cut short by a signal" in told
    assert gpu.folder.lock.read_text(encoding="utf-8") == "", "any host may go on"
    state = state_of(gpu.folder)
    assert (state.state, state.code) == (SessionState.STOPPED, "cut")
    assert not any(a.kind or a.evaluating for a in state.attempts.values())
    assert gpu.has("").step().code == 4
