# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What the right answer is: the reference in fp64 on the same weights, and how much its answers vary."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import torch

from mcp_server.judge import memory
from mcp_server.judge.inputs import Draw, arguments_of, vary
from mcp_server.judge.reference import Answer, Reference, forward

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.task import Task

ENTRIES = 12
FILL_S = 20.0
"""How long making entries may take, once there are four."""
MEMORY_BYTES = 2 * 1024**3
"""What the entries' inputs and answers may take together."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A draw and the oracle's answer to it."""

    draw: Draw
    answer: Answer


class Oracle:
    """The reference at the highest precision it can run in."""

    def __init__(self, reference: Reference, like: Answer, first: Draw) -> None:
        self.reference = reference
        self.like = like
        """An answer of the reference in its own precision: structure, shapes, dtypes."""
        self.kind = "fp64"
        self.model = reference.fresh(torch.float64)
        if not self._runs(first):
            self.kind = "fp32"
            self.model = reference.fresh()

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype that floating inputs are given in."""
        return torch.float64 if self.kind == "fp64" else None

    def _runs(self, draw: Draw) -> bool:
        try:
            made = self.answer(draw)
        except Exception as error:  # noqa: BLE001  the task's own code; fp32 is the remedy
            memory.refuse_crowded(error, self.reference.task.device)
            return False
        if len(made.leaves) != len(self.like.leaves):
            return False
        return all(_agrees(a, b) for a, b in zip(made.leaves, self.like.leaves, strict=True))

    def answer(self, draw: Draw, leaves: list[Tensor] | None = None) -> Answer:
        """Return the right answer to a draw, or to these leaves in place of its own."""
        device = self.reference.task.device
        given = arguments_of(draw, leaves or draw.leaves, device, self.dtype)
        made = forward(self.model, given, draw.seed)
        return Answer(made.tree, [_widest(x) for x in made.leaves], made.shares)


def _widest(leaf: Tensor) -> Tensor:
    if leaf.is_complex():
        return leaf.to(torch.complex128)
    return leaf.double() if leaf.is_floating_point() else leaf


def reals(leaf: Tensor) -> Tensor:
    """Return the real and imaginary parts of a complex tensor side by side; any other as it is."""
    return torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf


def _agrees(wide: Tensor, narrow: Tensor) -> bool:
    """Return whether fp64 says roughly the same: a model that pins a lower dtype does not."""
    if wide.shape != narrow.shape or wide.is_floating_point() != narrow.is_floating_point():
        return False
    if narrow.is_complex():
        return wide.is_complex() and _agrees(reals(wide), reals(narrow))
    if not narrow.is_floating_point():
        return wide.dtype == narrow.dtype
    return bool((torch.isfinite(wide) == torch.isfinite(narrow)).double().mean() > 0.99)


class Entries:
    """Oracle entries, half of them varied; the oldest leave as fresh ones come."""

    def __init__(self, task: Task, oracle: Oracle, generator: torch.Generator) -> None:
        self.task = task
        self.oracle = oracle
        self.generator = generator
        self.kept: deque[Entry] = deque()
        self.made = 0

    def fill(self, first: list[Draw]) -> None:
        """Keep these draws, and make more up to the number that fits."""
        for draw in first:
            self._add(Entry(draw, self.oracle.answer(draw)))
        size = first[0].bytes + sum(
            x.numel() * x.element_size() for x in self.kept[0].answer.leaves
        )
        limit = max(4, min(ENTRIES, MEMORY_BYTES // max(1, size)))
        began = monotonic()
        while len(self.kept) < limit and (len(self.kept) < 4 or monotonic() - began < FILL_S):
            self._add(self._fresh())

    def refresh(self) -> Entry:
        """Add one fresh entry, and drop the oldest."""
        entry = self._fresh()
        self._add(entry)
        self.kept.popleft()
        return entry

    def _fresh(self) -> Entry:
        draw = self.task.draw(secret(self.generator))
        if self.made % 2 == 1:
            changed = vary(draw, self.generator)
            answer = self.oracle.answer(changed)
            if finite(answer):
                return Entry(changed, answer)
        return Entry(draw, self.oracle.answer(draw))

    def _add(self, entry: Entry) -> None:
        self.kept.append(entry)
        self.made += 1


def finite(answer: Answer) -> bool:
    """Return whether no floating element is infinite or NaN."""
    leaves = [reals(x) for x in answer.leaves]
    return all(bool(torch.isfinite(x).all()) for x in leaves if x.is_floating_point())


def secret(generator: torch.Generator) -> int:
    """Return a seed nobody can guess, from a generator that was seeded by the system."""
    return int(torch.randint(2**62, (1,), generator=generator))


def scales(entries: list[Entry]) -> list[float]:
    """Return D of each output: RMS difference between answers to two draws, over √2.

    Pooled over all neighbouring pairs of varied entries where there are two, else of all.
    """
    varied = [entry for entry in entries if entry.draw.varied]
    chosen = varied if len(varied) > 1 else entries
    found: list[float] = []
    for place in range(len(chosen[0].answer.leaves)):
        squares = 0.0
        for one, two in zip(chosen, chosen[1:] + chosen[:1], strict=True):
            squares += _mean_square(one.answer.leaves[place], two.answer.leaves[place])
        found.append((squares / len(chosen) / 2) ** 0.5)
    return found


def _mean_square(one: Tensor, two: Tensor) -> float:
    if one.shape != two.shape or one.numel() == 0:
        return 0.0
    difference = (reals(one).double() - reals(two).double()).reshape(-1)
    if not bool(torch.isfinite(difference.sum())):
        difference = difference[torch.isfinite(difference)]
    return float(difference.square().mean()) if difference.numel() else 0.0


def rms(leaf: Tensor) -> float:
    """Return the root mean square of the finite elements."""
    values = reals(leaf).double().reshape(-1)
    if not bool(torch.isfinite(values.sum())):
        values = values[torch.isfinite(values)]
    return float(values.square().mean().sqrt()) if values.numel() else 0.0
