# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What reveals are made of: no call is given again what an earlier one was given whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from mcp_server.judge.inputs import Staged
from mcp_server.judge.sources import Sources
from mcp_server.judge.state import TaskState
from mcp_server.judge.task import load_task
from tests.mcp_server.judge import tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch.set_num_threads(1)
FEW_INPUTS = tasks.SOFTMAX.replace("torch.rand(64, 1024)", "torch.rand(1, 8)")
TWO_NUMBERS = tasks.SOFTMAX.replace("torch.rand(64, 1024)", "torch.rand(1, 2)")
TOGETHER = tasks.SOFTMAX.replace(
    "torch.rand(64, 1024)", "torch.rand(8, 1).expand(8, 64).contiguous()"
).replace(
    "return torch.softmax(x, dim=1)", "assert bool((x == x[:, :1]).all())\n        return x * 2"
)


def sources(task_file: Callable[[str], Path], source: str) -> Sources:
    task = load_task("local/task", task_file(source), "cpu")
    return Sources(TaskState(task, plain=True), torch.Generator().manual_seed(1))


@pytest.mark.parametrize("source", [FEW_INPUTS, TWO_NUMBERS, tasks.IN_PLACE, TOGETHER])
def test_what_replaces_all_of_an_input_never_comes_again(
    task_file: Callable[[str], Path], source: str
) -> None:
    found = sources(task_file, source)
    assert found.replaces
    kept = [entry.draw for entry in found.state.entries.kept]
    staged = Staged(0, kept[0], found.state.most_changes)
    seen = {kept[0].leaves[0].numpy().tobytes() for _ in kept}
    for _ in range(200):
        staged.apply(staged.change(found.usual(), found.generator, found.state.reveal))
        seen.add(staged.leaves[0].numpy().tobytes())
    assert len(seen) == 201


def test_a_draw_that_others_hold_up_is_made_anew_all_the_same(
    task_file: Callable[[str], Path],
) -> None:
    late = "def get_inputs():\n    import time; time.sleep(0.06)\n"
    found = sources(task_file, TOGETHER.replace("def get_inputs():\n", late))
    kept = [entry.draw.leaves[0].numpy().tobytes() for entry in found.state.entries.kept]
    assert found.usual().leaves[0].numpy().tobytes() not in kept


def test_a_task_that_bears_no_mixture_gets_none(task_file: Callable[[str], Path]) -> None:
    found = sources(task_file, TOGETHER)
    assert not found.state.mixes
    for _ in range(20):
        values = found.usual().leaves[0].view(8, 64)
        assert bool((values == values[:, :1]).all())


def test_a_whole_new_input_differs_everywhere_from_what_was_kept(
    task_file: Callable[[str], Path],
) -> None:
    found = sources(task_file, tasks.SOFTMAX)
    assert not found.replaces
    values = found.whole().leaves[0]
    for entry in found.state.entries.kept:
        assert (values == entry.draw.leaves[0]).float().mean() < 0.7
