"""What the judge keeps of a task between attempts: its state, its qualifications, the resident eager worker."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mcp_server.judge import baselines, facts, variants
from mcp_server.judge.faults import Fault, lost
from mcp_server.judge.floor import Cost, cost_of, floors_of
from mcp_server.judge.qualification import Qualification, from_json, qualify
from mcp_server.judge.station import Station
from mcp_server.judge.worker_link import Worker

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcp_server.judge.baselines import Bench
    from mcp_server.judge.budget import Budget
    from mcp_server.judge.clock import Lane
    from mcp_server.judge.request import Request
    from mcp_server.judge.server import GivenWorker, Server
    from mcp_server.judge.state import TaskState
    from mcp_server.judge.task import Task
    from mcp_server.judge.timing import Alone

log = logging.getLogger(__name__)

ATTEMPTS_LIMIT = 50
"""Attempts after which a resident worker is replaced."""


@dataclass(slots=True)
class Resident:
    """A worker that runs the original, and what it said of it."""

    given: GivenWorker
    lane: Lane
    precision: str
    attempts: int = 0
    alone: Alone | None = None
    """Its time with no candidate of this judge beside it."""
    alone_at: float = 0.0


@dataclass(slots=True)
class Held:
    """A task in this judge."""

    task: Task
    state: TaskState
    qualifications: dict[str, Qualification] = field(default_factory=dict[str, Qualification])
    noisy: TaskState | None = None
    """The same with noisy construction; made when a candidate needs it."""
    noisy_budget: Budget | None = None
    resident: Resident | None = None
    attempts: int = 0
    _cost: Cost | None = None

    @property
    def cost(self) -> Cost:
        """What the task asks of the device; counted once."""
        if self._cost is None:
            self._cost = cost_of(self.state)
        return self._cost


class Keeper:
    """Makes workers that run the original, and qualifies tasks with them."""

    def __init__(self, server: Server, device: str) -> None:
        self.server = server
        self.device = device
        self._facts: facts.Facts | None = None

    def learn(self, request: Request) -> facts.Facts:
        """Return what the device can do at most: as the request tells it, else measured now, and told."""
        if self._facts is None:
            self._facts = facts.from_json(request.facts)
        if self._facts is None:
            with self.server.lease():
                self.server.stage("qualify", "measuring the device")
                self._facts = facts.measure(self.device)
            self.server.send("measured", id=request.id, facts=self._facts.to_json())
        return self._facts

    @property
    def facts(self) -> facts.Facts:
        """What `learn` found."""
        assert self._facts is not None
        return self._facts

    def spare(self, held: Held) -> GivenWorker:
        """Return a worker for the original, which may still be starting."""
        key = f"task-{held.task.sha256[:16]}"
        return self.server.worker("baseline", key, gpu=self.device != "cpu")

    def baseline(self, held: Held, precision: str, spare: GivenWorker | None = None) -> Resident:
        """Return a new worker, or that one, with the original loaded, eager.

        Raises:
            Fault: it ends or cannot run the original.
        """
        given = spare if spare is not None else self.spare(held)
        try:
            worker = Worker(given.socket, held.state.sizes, self.device, trusted=True)
            with self.server.lease(shared=True):
                station = Station(worker, held.state)
                deadline_s = call_deadline_s(held.state.forward_s)
                lane = baselines.eager_lane(station, held.task, precision, max(120.0, deadline_s))
        except Fault as error:
            printed = self.server.drop(given)
            log.warning("the baseline worker failed: %s %s", error, printed.stderr[-2000:])
            raise lost(f"The original does not run in a worker: {error}") from error
        return Resident(given, lane, precision)

    def resident(self, held: Held, precision: str) -> Resident:
        """Return the task's eager worker, which lives on."""
        old = held.resident
        if old is not None and (old.attempts >= ATTEMPTS_LIMIT or old.precision != precision):
            self.release(held)
        if held.resident is None:
            held.resident = self.baseline(held, precision)
        held.resident.attempts += 1
        return held.resident

    def release(self, held: Held) -> None:
        """End the task's eager worker."""
        if held.resident is not None:
            self.server.drop(held.resident.given)
            held.resident = None

    def qualification(self, held: Held, request: Request) -> Qualification:
        """Return what is known of the task under the request's policy, measuring what is not."""
        key = f"{request.precision}/{request.tolerance}"
        found = held.qualifications.get(key)
        if found is None and request.qualification:
            found = from_json(request.qualification)
        lacking = found is None or (request.wants("timing") and not found.baselines)
        if found is None or lacking:
            found = self._measure(held, request, found)
        more = self._wanted(request, found)
        if more:
            self._measure_more(held, request, found, more)
        if lacking or more:
            if self._facts is not None:  # where nothing is timed nobody measured the device
                found.floors = floors_of(held.cost, self._facts)
            self.server.send("qualified", id=request.id, qualification=found.to_json())
        held.qualifications[key] = found
        return found

    def _measure(self, held: Held, request: Request, known: Qualification | None) -> Qualification:
        found = known
        if found is None:
            with self.server.lease(shared=True):
                found = qualify(held.state, request.precision)
        if not request.wants("timing"):
            return found
        stage_s = request.deadline_s("qualify")
        with self._bench(held, request) as bench:
            fresh = partial(self._fresh, held, request.precision)
            baselines.measure(found, bench, held.task, request.precision, stage_s, fresh)
        return found

    @contextmanager
    def _bench(self, held: Held, request: Request) -> Generator[Bench]:
        """Hold the original in two processes: the one that lives on, and one for a while."""
        eager = self.resident(held, request.precision).lane
        other = self.baseline(held, request.precision)
        stage_s = request.deadline_s("qualify")
        try:
            station = other.lane.station
            yield baselines.bench(eager, station, self.server, self._tell, stage_s)
        finally:
            self.server.drop(other.given)

    @contextmanager
    def _fresh(self, held: Held, precision: str, count: int) -> Generator[list[Lane]]:
        """Hold the original in that many processes of its own, which start together."""
        spares = [self.spare(held) for _ in range(count)]
        try:
            yield [self.baseline(held, precision, spare).lane for spare in spares]
        finally:
            for spare in spares:
                self.server.drop(spare)

    def _wanted(self, request: Request, found: Qualification) -> list[variants.Variant]:
        """Return the further baselines that this request is worth."""
        full = request.mode == "full"
        if not found.baselines or not (full or request.wants("profile")):
            return []
        return variants.more_variants(found, self.device, slow=full)

    def _measure_more(
        self,
        held: Held,
        request: Request,
        found: Qualification,
        wanted: list[variants.Variant],
    ) -> None:
        with self._bench(held, request) as bench:
            baselines.measure_more(found, wanted, bench)

    def _tell(self, baseline: str) -> None:
        self.server.check_cancelled()
        self.server.stage("qualify", f"baseline {baseline}")


def call_deadline_s(forward_s: float) -> float:
    """Return how long a later call may take."""
    return max(10.0, 20 * forward_s)
