# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Correctness of a candidate: calls with secret changes, compared with the oracle, and the probes P1 to P7.

| probe | how |
| --- | --- |
| P1 | the same buffers again after a sparse change |
| P2 | A, B, A; kept answers read again at the end |
| P3 | an answer read again after 100 ms |
| P4 | inputs afterwards |
| P5 | the same content twice, within budget |
| P6 | memory patterned beforehand |
| P7 | storage shared with inputs, parameters or an earlier answer |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import sleep
from typing import TYPE_CHECKING

import torch

from mcp_server.judge.compare import Difference, differences, fault_of, worst_of
from mcp_server.judge.faults import Fault, rejected, wrong
from mcp_server.judge.inputs import stored_bytes
from mcp_server.judge.oracle import secret
from mcp_server.judge.station import Station, late_as, same_bytes
from mcp_server.judge.structure import decode
from mcp_server.worker.program import aligned, raw

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.budget import Bound, FormatRun
    from mcp_server.judge.inputs import Patch, Staged
    from mcp_server.judge.reference import Answer
    from mcp_server.judge.worker_link import Called, Fetched

KEPT_BYTES = 512 * 1024**2
"""What answers kept for later reading may take in the worker."""
SETTLE_S = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """One call of the examination and its answer."""

    called: Called
    fetched: Fetched
    got: list[Tensor]
    want: Answer
    found: list[Difference]
    content: str
    """Equal for calls that saw equal inputs."""
    kept: bool

    @property
    def broken(self) -> Difference | None:
        """The worst output that breaks a rule, if one does."""
        worst = worst_of(self.found)
        return worst if worst is not None and worst.code is not None else None


@dataclass(slots=True)
class Report:
    """What an examination found."""

    first_call_s: float = 0.0
    seen: list[Difference] = field(default_factory=list[Difference])
    """The worst output of each call."""
    max_abs: list[float] = field(default_factory=list[float])
    """Largest difference of each output, over all calls."""
    calls: int = 0


class Examination:
    """Calls one loaded model until its answers are believed."""

    def __init__(
        self, station: Station, slot: str, bounds: list[Bound], runs: dict[str, FormatRun]
    ) -> None:
        self.station = station
        self.state = station.state
        self.slot = slot
        self.bounds = bounds
        self.runs = runs
        self.seen: list[Seen] = []
        self.report = Report()
        size = sum(x.numel() * x.element_size() for x in self.state.like.leaves)
        self.most_kept = max(2, min(16, KEPT_BYTES // max(1, size)))

    def run(self, calls: int, deadlines: tuple[float, float]) -> Report:
        """Examine with about that many calls; deadlines of the first and of later calls, in seconds.

        Raises:
            Fault: an answer is wrong, or a probe fails.
        """
        a, b, *others = self._shuffled()
        self.deadlines = deadlines
        _, forth = self.station.reveal(a)
        self._ask(a, forth, "a1")
        back = forth.inverse()
        self._extras(others, calls - 4, half=True)
        self._change(a, back, "a0")
        self._fresh(b)
        self.station.pattern_memory(others[0])
        self._change(a, back.inverse(), "a1")
        self._extras([b, *others], calls - 4, half=False)
        self._read_again()
        self._inputs_untouched([a, b, *others])
        return self.report

    def _shuffled(self) -> list[Staged]:
        order = torch.randperm(len(self.station.sets), generator=self.station.generator).tolist()
        return [self.station.sets[place] for place in order[:4]]

    def _extras(self, sets: list[Staged], calls: int, *, half: bool) -> None:
        """Make some calls on other sets: a secret share of them now, the rest later."""
        if half:
            self.early = secret(self.station.generator) % (max(0, calls) + 1)
        for _ in range(self.early if half else calls - self.early):
            self._fresh(sets[secret(self.station.generator) % len(sets)])

    def _fresh(self, staged: Staged) -> None:
        _, patch = self.station.reveal(staged)
        self._ask(staged, patch, f"call {len(self.seen)}")

    def _change(self, staged: Staged, patch: Patch, content: str) -> None:
        staged.apply(patch)
        self._ask(staged, patch, content)

    def _ask(self, staged: Staged, patch: Patch, content: str) -> None:
        deadline_s = self.deadlines[1] if self.seen else self.deadlines[0]
        with late_as("call" if self.seen else "first_call"):
            called = self.station.call(self.slot, staged, patch, deadline_s)
        if not self.seen:
            self.report.first_call_s = called.took_s
        keep = len(self.seen) < self.most_kept
        fetched = self.station.worker.fetch(called.number, want=True, keep=True)
        assert fetched is not None
        got = decode(fetched, self.state.like, self.state.task.device)
        self._refuse_aliased(fetched)
        want = self.state.oracle.answer(staged.draw, staged.leaves)
        found = differences(got, want, self.bounds)
        one = Seen(called, fetched, got, want, found, content, keep)
        self._note(one)
        if one.broken is not None:
            raise self._explain(one, one.broken)
        if not keep:
            self.station.worker.fetch(called.number, want=False)
        self.seen.append(one)

    def _note(self, one: Seen) -> None:
        report = self.report
        report.calls += 1
        largest = [d.max_abs for d in one.found]
        if report.max_abs:
            largest = [max(x, y) for x, y in zip(largest, report.max_abs, strict=True)]
        report.max_abs = largest
        worst = worst_of(one.found)
        if worst is not None:
            report.seen.append(worst)

    def _refuse_aliased(self, fetched: Fetched) -> None:
        """P7: the answer is memory of its own, unless the original's is not."""
        for leaf, allowed in zip(fetched.leaves, self.state.like.shares, strict=True):
            shares = leaf.get("shares")
            if shares is not None and shares != allowed:
                what = str(shares).split(" ")[0]
                what = {"output": "an earlier answer", "input": "an input"}.get(what, "a parameter")
                raise rejected("aliased_output", f"The answer shares its memory with {what}.")

    def _explain(self, one: Seen, broken: Difference) -> Fault:
        """Return why an answer is wrong, as far as behaviour tells."""
        sleep(SETTLE_S)
        again = self.station.worker.fetch(one.called.number, want=True, keep=True)
        if again is not None and not same_bytes(again.data, one.fetched.data):
            return rejected("output_changed", "The answer changed after it had been given.")
        self._inputs_untouched(self.station.sets)
        for earlier in self.seen:
            if earlier.content == one.content:
                return wrong("unrepeatable", "The same input got a right answer, then a wrong one.")
            if self._is_stale(one, earlier):
                return rejected("stale_answer", "The answer did not follow a change of its input.")
        fault = fault_of(broken)
        if broken.code == "values" and self._is_imprecise(broken):
            fault.code = "precision"
            fault.cause = "The values are less precise than the policy allows."
        return fault

    def _is_stale(self, one: Seen, earlier: Seen) -> bool:
        if same_bytes(one.fetched.data, earlier.fetched.data):
            return True
        return all(d.code is None for d in differences(one.got, earlier.want, self.bounds))

    def _is_imprecise(self, broken: Difference) -> bool:
        """Whether the error is one that the original itself makes in a coarser format."""
        coarsest = max((run.worst for run in self.runs.values()), default=0.0)
        return broken.budget_ratio < broken.error_ratio <= 2 * coarsest

    def _read_again(self) -> None:
        """P2, P3: answers given before are still what they were."""
        sleep(SETTLE_S)
        for place, one in enumerate(self.seen):
            if not one.kept:
                continue
            again = self.station.worker.fetch(one.called.number, want=True)
            if again is None or same_bytes(again.data, one.fetched.data):
                continue
            last = place == len(self.seen) - 1
            if last:
                raise rejected("output_changed", "The answer changed after it had been given.")
            raise rejected("aliased_output", "A later call overwrote an earlier answer.")

    def _inputs_untouched(self, sets: list[Staged]) -> None:
        """P4: inputs are as the original leaves them."""
        if any(self.state.mutates):
            return
        for staged in sets:
            size = stored_bytes(staged.leaves)
            now = self.station.worker.inputs(staged.number, size)
            at = 0
            for leaf in staged.leaves:
                bytes_of_leaf = raw(leaf)
                if not same_bytes(now[at : at + bytes_of_leaf.numel()], bytes_of_leaf):
                    raise rejected("input_changed", "The candidate changed its input.")
                at += aligned(bytes_of_leaf.numel())
