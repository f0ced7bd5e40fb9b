# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
"""Several inputs revealed at once, replaced in part or whole: what the worker reads is what the judge wrote."""

from __future__ import annotations

import pytest
import torch

from mcp_server.judge.inputs import Patch, Staged, to_draw
from mcp_server.judge.worker_link import Worker
from mcp_server.worker.program import InputSet


@pytest.mark.parametrize("how", ["patch", "whole"])
def test_inputs_that_are_revealed_together_arrive_one_by_one(how: str) -> None:
    generator = torch.Generator().manual_seed(3)
    draws = [to_draw([torch.randn(37, 5), torch.arange(7)], n, varied=False) for n in range(3)]
    judges = [Staged(n, draws[n]) for n in range(2)]
    spec = {"tree": draws[0].tree, "leaves": draws[0].metas}
    workers = [InputSet(spec, "cpu") for _ in judges]
    link = Worker.__new__(Worker)
    link.arena = torch.zeros(2**16, dtype=torch.uint8)
    for staged, held in zip(judges, workers, strict=True):
        link.put(staged.leaves, 0)
        held.fill(link.arena, 0)
    at, places = 0, list[int]()
    for staged in judges:
        patch: Patch = staged.change(draws[2], generator, how)
        staged.apply(patch)
        places.append(at)
        at = link._put_patch(patch, at)
    for held, place in zip(workers, places, strict=True):
        (held.fill if how == "whole" else held.patch)(link.arena, place)
    for staged, held in zip(judges, workers, strict=True):
        for mine, theirs in zip(staged.leaves, held.leaves, strict=True):
            assert torch.equal(mine, theirs.flatten())
    assert at > places[-1]
