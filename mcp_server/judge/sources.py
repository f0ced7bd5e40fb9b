# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Where the values of a reveal come from, so that no call is given again what an earlier one was given whole.

The kept draws are few. Where a reveal replaces all of an input, a candidate with a table of their answers would never
compute again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from mcp_server.judge.oracle import secret
from mcp_server.judge.state import DRAW_S
from mcp_server.worker.program import patch_count

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.inputs import Draw
    from mcp_server.judge.state import TaskState

FEW = 4096
"""Elements of all inputs together, up to which a mixture of kept draws may come again."""
PLACES = 2**20
"""Where a mixture's chances may begin."""


class Sources:
    """The draws that reveals of one worker take their values from."""

    def __init__(self, state: TaskState, generator: torch.Generator) -> None:
        self.state = state
        self.generator = generator
        sizes = [leaf.numel() for leaf in state.entries.kept[0].draw.leaves]
        self.few = sum(sizes) <= FEW
        whole = all(patch_count(size, state.most_changes) == size for size in sizes)
        self.replaces = whole or state.reveal == "whole"
        """Whether a reveal leaves nothing of what was there."""

    def usual(self) -> Draw:
        """Return the values of an ordinary reveal."""
        return self.whole() if self.replaces else self._kept()

    def whole(self) -> Draw:
        """Return values for every element that no call has seen together."""
        if not self.state.mixes:
            return self._fresh() if self.state.draw_s <= DRAW_S else self._kept()
        return self._mixture(self._kept(), self._fresh() if self.few else self._kept())

    def _kept(self) -> Draw:
        entries = self.state.entries.kept
        return entries[secret(self.generator) % len(entries)].draw

    def _fresh(self) -> Draw:
        return self.state.task.draw(secret(self.generator))

    def _mixture(self, one: Draw, two: Draw) -> Draw:
        """Return a draw that has each element from either of two by chance, and one at least from the second."""
        rows = zip(one.leaves, two.leaves, strict=True)
        return replace(one, leaves=[self._mixed(a, b) for a, b in rows])

    def _mixed(self, one: Tensor, two: Tensor) -> Tensor:
        from_one = self._chances_of(one.numel())
        if one.numel() > 0:
            from_one[secret(self.generator) % one.numel()] = False
        return torch.where(from_one.view(one.shape), one, two)

    def _chances_of(self, count: int) -> Tensor:
        """Return that many chances, from a secret place on: drawing them anew each time costs more than most calls."""
        known = self.state.chances
        if known.numel() < count + PLACES:
            known = torch.rand(count + PLACES, generator=self.generator) < 0.5
            self.state.chances = known
        start = secret(self.generator) % PLACES
        return known[start : start + count].clone()
