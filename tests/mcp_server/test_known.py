"""What was measured of a machine and a task is told with the task, and measured once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client

from mcp_server import facts, interpreter, machine
from mcp_server.app import build
from mcp_server.bundle import Evidence
from mcp_server.contract import RESULT_LIMIT_BYTES, Status
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.facts import KnownFacts
from mcp_server.local import open_local, task_key
from mcp_server.pool import Programs
from mcp_server.profile import described, whole
from mcp_server.profile_command import STAGES
from mcp_server.qualify import Qualifications
from mcp_server.tasks import Tasks
from tests.mcp_server.conftest import Told
from tests.mcp_server.test_real import RIGHT, TASK
from tests.mcp_server.test_tools import fields, text

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

FACTS: dict[str, Any] = {
    "device": "cpu",
    "copy_bytes_per_s": 3.1e10,
    "read_bytes_per_s": 3.0e10,
    "write_bytes_per_s": 2.6e10,
    "matrix_flops_per_s": {"fp32": 1e11, "bf16": 2.2e11},
    "launch_us": 2.4,
    "launch_sync_us": 2.4,
    "threads": 1,
    "cache_bytes": 33554432,
    "version": 1,
}
QUALIFICATION: dict[str, Any] = {
    "baselines": [
        {"name": "eager", "precision_class": "fp32", "time_ms": 17.5},
        {"name": "compile", "precision_class": "fp32", "time_ms": 7.0},
    ],
    "floors": {"fp32": {"memory_ms": 0.31, "compute_ms": 0.0}},
}


async def test_a_task_is_shown_with_what_is_known_of_it_and_of_the_machine(
    setting: Setting, home: Path
) -> None:
    async with Client(build(setting)) as client:
        before = fields(await client.call_tool("get_task", {"task_id": "starter/softmax"}))
        assert before["machine"] == before["baselines"] == before["floors"] == []
        python = interpreter.find(None)
        KnownFacts(home).put(facts.key_of(machine.cpu(), python), FACTS)
        work = Work("known", Tasks(home).get("starter/softmax"), "")
        key = task_key(work, machine.cpu(), python.torch, None)
        Qualifications(home).put(key, QUALIFICATION)
        reply = await client.call_tool("get_task", {"task_id": "starter/softmax"})
    shown = fields(reply)
    assert "memory: copy 31 GB/s, read 30 GB/s, write 26 GB/s" in shown["machine"]
    assert shown["baselines"][1] == "compile (fp32): 7 ms, 2.50× over eager"
    assert shown["floors"] == ["fp32: 0.31 ms, set by memory"]
    for line in (*shown["machine"], *shown["baselines"], *shown["floors"]):
        assert line in text(reply)
    assert len(json.dumps(shown).encode()) <= RESULT_LIMIT_BYTES
    assert len(text(reply).encode()) <= RESULT_LIMIT_BYTES


async def test_a_source_that_leaves_no_room_beside_it_is_read_as_an_artifact(
    setting: Setting, home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "long.py"
    path.write_text(TASK + "\n# " + 'é"' * 1400, encoding="utf-8")
    task = Tasks(home).add(path)
    assert len(task.source.encode()) <= 5_000
    async with Client(build(setting)) as client:
        reply = await client.call_tool("get_task", {"task_id": task.id})
        shown = fields(reply)
        assert "source" not in shown
        page = await client.call_tool("get_artifact", {"artifact_id": shown["source_id"]})
    assert "class Model" in fields(page)["text"]
    assert len(json.dumps(shown).encode()) <= RESULT_LIMIT_BYTES


def test_facts_measured_beside_other_work_are_measured_again_once_it_is_quiet(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, key = KnownFacts(home), facts.key_of(machine.cpu(), interpreter.find(None))
    monkeypatch.setattr("os.getloadavg", lambda: (1000.0, 0.0, 0.0))
    kept.put(key, FACTS)
    assert kept.get(key) == FACTS
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.0, 0.0))
    assert kept.get(key) is None
    kept.put(key, FACTS)
    assert kept.get(key) == FACTS


@pytest.mark.torch
@pytest.mark.timeout(600)
async def test_a_real_profile_measures_the_machine_once_and_keeps_its_evidence(
    setting: Setting, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.0, 0.0))  # else it may be measured again
    path = tmp_path / "rows.py"
    path.write_text(TASK)
    task = Tasks(home).add(path)
    short = StageLimits(qualify=1, grace=400)
    chosen = replace(setting, programs=Programs(), stage_limits=short)
    told = Told([])
    async with open_local(chosen) as executor:
        device, measured = await executor.measure("cpu", told)
        work = Work("job_profile", task, RIGHT, precision="fp32", stages=STAGES)
        outcome = await executor.run(work, told)
        again = Told([])
        assert (await executor.measure("cpu", again))[1] == measured
    assert device.name == "cpu"
    assert again.stages == []
    found, shown = described(outcome), whole(outcome)
    assert found.hottest, outcome.verdict.model_dump(exclude_none=True)
    assert found.summary
    names = [row["name"] for row in shown["profile"]["candidate"]["kernels"]]  # pyright: ignore[reportIndexIssue, reportUnknownVariableType] -- JSON
    assert any("tanh" in name for name in names)
    if outcome.verdict.status is Status.OK:  # a busy machine may not let it be timed
        assert outcome.verdict.floor_ms is not None
        name = outcome.verdict.evidence_sha256
        assert Evidence(home).get(name)["seed"] == outcome.evidence["seed"]
