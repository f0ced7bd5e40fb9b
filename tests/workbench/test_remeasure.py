"""Attempts measured again by the real evaluator, on this CPU."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.folder import SessionFolder
from sessions.journal import key_of
from tests.tui import journals
from workbench import comparing, config, lookup
from workbench.errors import CannotGoOn
from workbench.remeasure import Remeasurement, elsewhere

if TYPE_CHECKING:
    from pathlib import Path

TASK = '''"""Twice a sum of squares."""
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * (x * x).sum(-1)


def get_inputs():
    return [torch.randn(256, 4096)]


def get_init_inputs():
    return []
'''
CANDIDATE = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return 2 * torch.linalg.vecdot(x, x)
"""


@pytest.fixture
def session(home: Path) -> SessionFolder:
    """A session on the CPU with one attempt."""
    folder = SessionFolder(home / "sessions/tiny")
    folder.task.mkdir(parents=True)
    (folder.task / "tiny.py").write_text(TASK, encoding="utf-8")
    opened = replace(
        journals.opened("tiny"),
        task="local/tiny",
        source_key=key_of(TASK),
        device="cpu",
        sandbox="best-effort",
    )
    proposal: dict[str, Any] = {"id": "p1", "role": "improve", "parent": "c0", "idea": None}
    proposal |= {"inspirations": [], "meta": {}}
    made = journals.Script()
    made.add([opened], [TASK])
    made.add([journals.baseline(), f.Proposed([proposal], {}), f.Started("p1", "001")])
    attempt = f.AttemptMade("c1", "c0", "p1", 0, "001", key_of(CANDIDATE), "", "human", "")
    made.add([attempt], [CANDIDATE])
    asyncio.run(journals.write(folder.journal, made))
    return folder


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.timeout(1200)
def test_an_attempt_is_judged_and_timed_again(session: SessionFolder) -> None:
    told: list[str] = []
    work = Remeasurement(session, lookup.state(session), ["c0", "c1"])
    found = work.run(lambda name, what: told.append(f"{name} {what}"))
    assert list(found) == ["c1"]
    assert found["c1"]["status"] == "ok", found["c1"].get("cause")
    assert found["c1"]["speedup_eager_lo_ratio"] <= found["c1"]["speedup_eager_ratio"]
    assert any(line.startswith("c1 ") for line in told)
    assert lookup.state(session).attempts["c1"].kind == "", "nothing of it enters the journal"


@pytest.mark.timeout(300)
def test_it_ends_when_it_is_stopped(session: SessionFolder) -> None:
    work = Remeasurement(session, lookup.state(session), ["c1"])
    ended: list[str] = []

    def run() -> None:
        try:
            work.run(lambda _name, _what: None)
        except CannotGoOn as error:
            ended.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    work.stop()
    thread.join(120)
    assert not thread.is_alive()
    assert ended == ["measuring again was stopped; nothing was kept."]


def test_without_attempts_there_is_nothing_to_measure(session: SessionFolder) -> None:
    work = Remeasurement(session, lookup.state(session), ["c0"])
    with pytest.raises(CannotGoOn, match="nothing to measure"):
        work.run(lambda _name, _what: None)


@pytest.mark.parametrize(
    ("executor", "tables", "where"),
    [
        ("", {}, ""),
        ("ray://head", {}, "ray://head"),
        ("", {"gpu2": {"command": ["ssh", "gpu2", "pike", "mcp", "--engine"]}}, "gpu2"),
        ("", {"gpu2": {"url": "https://gpu2/mcp"}, "here": {}}, ""),
    ],
)
def test_a_session_that_is_measured_elsewhere_is_said_to_be(
    session: SessionFolder, executor: str, tables: dict[str, Any], where: str
) -> None:
    opened = lookup.state(session).opened
    assert opened is not None
    settings = replace(config.load({}), evaluators=tables)
    assert elsewhere(replace(opened, executor=executor), settings) == where
    sides = comparing.sides(lookup.state(session), ["c1"], at_work=False)
    verdict = {"status": "ok", "speedup_eager_ratio": 1.5}
    told = comparing.told_again(sides, {"c1": verdict}, where)
    assert ("on this machine, not where the session measures" in told) is bool(where)
