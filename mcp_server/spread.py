"""Several hosts as one executor: who gets the next work, and what becomes of work whose host is gone.

| what happens | what is done |
| --- | --- |
| a host is lost, or passes the limit | it rests, each time longer; its work goes to another host |
| a verdict tells a host's own fault (`HOSTS_FAULT`) | the same if there is another; it rests from the third in a row |
| work failed on `tries` hosts | `infra_error` `worker_lost`: never the candidate's fault |
| no host comes | `infra_error` `no_host`: an engine waits, and asks again |

Work stands in line in the order it came; the first in line that some free place suits goes first. Hosts join and leave
at any time (`join`, `leave`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from mcp_server import intake, verdicts
from mcp_server.contract import NO_HOST, Status
from mcp_server.errors import ExecutorUnavailable, HostLost, NoSuchDevice
from mcp_server.executor import Told
from mcp_server.members import Members, Patience

if TYPE_CHECKING:
    from mcp_server.errors import EvaluatorError
    from mcp_server.executor import Executor, HostFacts, Outcome, Place, Report, Work
    from mcp_server.members import Seat
    from mcp_server.tasks import Task

log = logging.getLogger(__name__)

HOSTS_FAULT = frozenset({"worker_lost", "sandbox_failed", "disk_full", "gpu_unhealthy"})
"""Codes of `infra_error` that another host may not have."""


@dataclass(slots=True, eq=False)
class _Waiting:
    work: Work
    shunned: set[str]
    """Hosts on which it failed."""
    seat: Seat | None = None
    given: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class Spread:
    """Evaluates on whichever host has room."""

    members: Members = field(default_factory=lambda: Members(Patience()))
    _line: list[_Waiting] = field(default_factory=list["_Waiting"])

    def join(self, name: str, executor: Executor, places: tuple[Place, ...]) -> None:
        """Use a host from now on; one of this name before it is forgotten, but for its failures."""
        self.members.join(name, executor, places)
        self._assign()

    def leave(self, name: str) -> None:
        """Give a host no more work; what it has goes on, or is lost with it."""
        self.members.leave(name)

    async def places(self) -> list[Place]:
        """Return the room on each host that does not rest."""
        return [
            replace(place, free=max(0, place.of - member.taken[place.device]))
            for member in self.members.all()
            if not self.members.rests(member)
            for place in member.places
        ]

    async def hosts(self) -> list[HostFacts]:
        """Return what each host says of itself."""
        found: list[HostFacts] = []
        for member in self.members.all():
            found += await member.executor.hosts()
        return found

    async def check_device(self, device: str) -> None:
        """Refuse a device that no host has.

        Raises:
            ExecutorUnavailable: there are no hosts.
            NoSuchDevice: none of them has it.
        """
        if not self.members.all():
            raise ExecutorUnavailable("No host is there to evaluate: see `pike doctor`.")
        if not any(self.members.seats(device)):
            raise NoSuchDevice(self.members.has_no(device))

    async def told(self, task: Task) -> Told:
        """Return what a host with the usual device knows, and which devices of which models all hosts have."""
        seat = next(self.members.seats("auto"), None)
        if seat is None:
            return Told()
        places = [place for member in self.members.all() for place in member.places]
        pairs = dict.fromkeys((place.device, place.device_name) for place in places)
        devices, titles = zip(*pairs, strict=True)
        return replace(await seat.member.executor.told(task), devices=devices, device_titles=titles)

    async def close(self) -> None:
        """End every host's processes."""
        for member in self.members.all():
            await member.executor.close()

    # --- work ---------------------------------------------------------------------------------------

    async def run(self, work: Work, report: Report) -> Outcome:
        """Evaluate on a host with room, and on another if that one fails.

        Raises:
            EvaluatorError: the caller's mistake.
        """
        shunned: set[str] = set()
        tries = self.members.patience.tries
        for tried in range(1, tries + 1):
            try:
                seat = await self._take(_Waiting(work, shunned))
            except HostLost as error:
                return lost(work, str(error))
            outcome = await self._try(seat, work, report)
            shunned.add(seat.member.name)
            if outcome is not None and self._is_last_word(outcome, work, shunned, tried):
                return outcome
            if tried < tries:
                report("intake", "again, as its host was lost or failed")
        return lost(work, f"{tries} hosts in turn were lost with it.", "worker_lost")

    def _is_last_word(self, outcome: Outcome, work: Work, shunned: set[str], tried: int) -> bool:
        """Return whether no other host would say anything else, or none is to be asked."""
        if not _is_hosts_fault(outcome) or tried == self.members.patience.tries:
            return True
        rested = [s for s in self.members.fitting(work) if not self.members.rests(s.member)]
        return all(seat.member.name in shunned for seat in rested)

    async def _try(self, seat: Seat, work: Work, report: Report) -> Outcome | None:
        """Evaluate there; None if the host was lost."""
        member = seat.member
        try:
            outcome = await self._limited(seat, work, report)
        except HostLost as error:
            log.warning("%s", error)
            self.members.failed(member, at_once=True)
            return None
        finally:
            self._free(seat)
        if _is_hosts_fault(outcome):
            self.members.failed(member, at_once=False)
        else:
            member.failures = 0
        return outcome

    async def _limited(self, seat: Seat, work: Work, report: Report) -> Outcome:
        limit_s = self.members.patience.work
        with anyio.move_on_after(limit_s):
            there = replace(work, device=seat.place.device)
            return await seat.member.executor.run(there, report)
        raise HostLost(f"{seat.member.name} did not evaluate within {limit_s:g} s.")

    # --- the line -----------------------------------------------------------------------------------

    async def _take(self, waiting: _Waiting) -> Seat:
        """Wait for a place that will do, in line.

        Raises:
            HostLost: none came in time.
            NoSuchDevice: no host has the device, or the session's model of it.
        """
        self._line.append(waiting)
        self._assign()
        hopeless_since = self.members.clock()
        try:
            while waiting.seat is None:
                with anyio.move_on_after(self._look_again_s()):
                    await waiting.given.wait()
                self._assign()
                if any(map(self._works, self.members.fitting(waiting.work))):
                    hopeless_since = self.members.clock()
                elif self.members.clock() - hopeless_since >= self.members.patience.no_host:
                    raise self._nobody(waiting.work)
        except BaseException:
            if waiting.seat is not None:  # given in the moment of being cancelled
                self._free(waiting.seat)
            raise
        finally:
            if waiting in self._line:
                self._line.remove(waiting)
        return waiting.seat

    def _look_again_s(self) -> float:
        """Return when a host may have rested enough, or none came in time."""
        rested_s = self.members.next_rested_s()
        soonest_s = min(5.0, self.members.patience.no_host / 4)
        return max(0.01, soonest_s if rested_s is None else min(soonest_s, rested_s))

    def _assign(self) -> None:
        """Give free places to those in line, in order."""
        for waiting in list(self._line):
            seat = self._best(waiting)
            if seat is not None:
                seat.member.taken[seat.place.device] += 1
                self._line.remove(waiting)
                waiting.seat = seat
                waiting.given.set()

    def _free(self, seat: Seat) -> None:
        seat.member.taken[seat.place.device] -= 1
        self._assign()

    def _best(self, waiting: _Waiting) -> Seat | None:
        """Return the emptiest place that will do; on a host where the work failed only if there is no other."""
        fitting = [s for s in self.members.fitting(waiting.work) if self._works(s)]
        elsewhere = [s for s in fitting if s.member.name not in waiting.shunned]
        return min((s for s in elsewhere or fitting if s.has_room), key=_load, default=None)

    def _works(self, seat: Seat) -> bool:
        return not self.members.rests(seat.member)

    def _nobody(self, work: Work) -> EvaluatorError:
        if self.members.all() and not self.members.fitting(work):
            return NoSuchDevice(self.members.has_no(work.device, work.device_name))
        return HostLost(
            f"No host was there to evaluate within {self.members.patience.no_host:g} s."
        )


def _load(seat: Seat) -> float:
    return seat.load


def _is_hosts_fault(outcome: Outcome) -> bool:
    verdict = outcome.verdict
    return verdict.status is Status.INFRA_ERROR and verdict.code in HOSTS_FAULT


def lost(work: Work, cause: str, code: str = NO_HOST) -> Outcome:
    """Return the verdict on work that no host could evaluate, as none was there: never the candidate's fault."""
    return verdicts.lost(work, intake.read(work.source), None, code, cause)
