"""Several searches on one task: one measures the original, the others wait and find what it kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from mcp_server import machine
from mcp_server.executor import Work
from mcp_server.judge_request import task_key
from mcp_server.qualify import Qualifications
from mcp_server.tasks import Tasks

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.qualify import Key


def key_of(home: Path) -> Key:
    return task_key(Work("job", Tasks(home).get("starter/softmax"), ""), machine.cpu(), "2", None)


async def test_of_two_one_measures_and_the_other_waits_for_it(tmp_path: Path) -> None:
    key, told, waited = key_of(tmp_path), list[str](), anyio.Event()
    first, second = Qualifications(tmp_path), Qualifications(tmp_path)

    async def other() -> None:
        async with second.measuring(key, waited.set):
            told.append(str(second.get(key)))

    with anyio.fail_after(20):
        async with (
            anyio.create_task_group() as group,
            first.measuring(key, lambda: told.append("waited")),
        ):
            group.start_soon(other)
            await waited.wait()
            first.put(key, {"baselines": [1]})
    assert told == ["{'baselines': [1]}"]


async def test_a_folder_that_cannot_be_written_keeps_nobody_waiting(tmp_path: Path) -> None:
    key = key_of(tmp_path)
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    here = Qualifications(tmp_path)
    with anyio.fail_after(20):
        async with here.measuring(key, lambda: None), here.measuring(key, lambda: None):
            pass
