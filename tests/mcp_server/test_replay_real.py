"""A verdict, its bundle and its replay, with real judges, workers and torch."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from mcp_server import bundle, replay_command
from mcp_server.bundle import Evidence
from mcp_server.contract import Status
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Outcome, Work
from mcp_server.local import open_local
from mcp_server.pool import Programs
from mcp_server.tasks import Task, Tasks
from tests.mcp_server.conftest import ignore
from tests.mcp_server.test_real import TASK

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.setting import Setting

pytestmark = [pytest.mark.torch, pytest.mark.timeout(900)]

SLOW = TASK.replace("return torch.tanh", "time.sleep(0.02)\n        return torch.tanh").replace(
    "import torch\n", "import time\nimport torch\n", 1
)
"""An original that sleeps, so that no load changes by how much another is faster."""
FAST = SLOW.replace("time.sleep(0.02)", "time.sleep(0.01)").replace(
    "class Model(", "class ModelNew("
)
WRONG = FAST.replace("torch.tanh", "torch.sin")
TURNS = 3
"""A busy machine may not let a thing be timed at once."""


async def _judged(setting: Setting, task: Task) -> Outcome:
    work = Work("job_replay", task, FAST, precision="fp32", beat=1.0)
    async with open_local(setting) as executor:
        outcome = await executor.run(work, ignore)
        for _ in range(TURNS - 1):
            if outcome.verdict.status is not Status.INFRA_ERROR:
                break
            outcome = await executor.run(work, ignore)
    return outcome


def _replayed(
    setting: Setting, file: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any]]:
    for turn in range(TURNS):
        code = replay_command.main(setting, file, as_json=True)
        found = json.loads(capsys.readouterr().out)
        if found["claim"] != "cannot be compared" or turn == TURNS - 1:
            return code, found
    raise AssertionError("there is a last turn")


def test_a_claim_stands_on_its_own_machine_and_falls_for_a_wrong_candidate(
    setting: Setting, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.py"
    path.write_text(SLOW)
    task = Tasks(home).add(path)
    short = StageLimits(qualify=1, grace=400)
    chosen = replace(setting, programs=Programs(), stage_limits=short)
    verdict = anyio.run(partial(_judged, chosen, task)).verdict
    assert verdict.status is Status.OK, verdict.cause
    kept = Evidence(home).get(verdict.evidence_sha256)
    assert kept["timings"]
    held = verdict.model_dump(mode="json")
    file = tmp_path / "best.json"
    file.write_text(bundle.make(task.id, task.source, FAST, held, kept))
    code, found = _replayed(chosen, file, capsys)
    assert (code, found["claim"]) == (0, "stands"), found["line"]
    assert found["now"]["evidence_sha256"] != verdict.evidence_sha256

    held["candidate_sha256"] = bundle.text_digest(WRONG)
    file.write_text(bundle.make(task.id, task.source, WRONG, held, kept))
    assert replay_command.main(chosen, file, as_json=False) == 1
    assert "not right here: wrong_result" in capsys.readouterr().out
