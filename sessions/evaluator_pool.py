"""Several evaluators as one: a free place anywhere, elsewhere first after a failure, rest after three in a row.

```
ask ─▶ a place ─▶ start ─▶ "NAME JOB" ─▶ wait there          failed 3 × in a row: 60 s of rest
         │ none free: wait for one      all rest, or none will do: EvaluatorAbsent ("no evaluator here")
```
An attempt stays where it was started: ids are an endpoint's own.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions.clock import SystemClock
from sessions.errors import (
    DeviceAbsent,
    EvaluatorAbsent,
    EvaluatorError,
    EvaluatorLost,
    EvaluatorRefused,
    JobUnknown,
)
from sessions.verdicts import repeatable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.clock import Clock
    from sessions.evaluator import Ask, Evaluator, OnStage

log = logging.getLogger(__name__)

_ANSWERS = (DeviceAbsent, EvaluatorRefused)
"""What an evaluator that works may answer: it does not rest for that."""
FAILURES = 3
"""In a row, after which an endpoint rests."""
REST_S = 60.0


@dataclass(slots=True)
class Endpoint:
    """One evaluator among several."""

    name: str
    evaluator: Evaluator
    device: str = ""
    """What the session's device is called there; empty: the same."""
    busy: int = 0
    failures: int = 0
    """In a row."""
    rests_until: float = 0.0

    @property
    def places(self) -> int:
        """How many candidates it takes at once."""
        return self.evaluator.places

    def failed(self, now: float) -> None:
        """Count a failure; the third in a row sends it to rest."""
        self.failures += 1
        if self.failures >= FAILURES:
            self.failures, self.rests_until = 0, now + REST_S
            log.warning("the evaluator %s failed %d times in a row and rests", self.name, FAILURES)


class EvaluatorPool:
    """Several endpoints behind the protocol of one."""

    def __init__(self, endpoints: Sequence[Endpoint], clock: Clock | None = None) -> None:
        """Use the endpoints, the first ones first."""
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self._clock: Clock = clock or SystemClock()
        self._at: dict[str, str] = {}
        """Job to the attempt it is for."""
        self._failed_at: dict[str, str] = {}
        """Attempt to the endpoint that failed it last."""
        self._freed = asyncio.Event()

    @property
    def endpoint(self) -> str:
        """All names: which one has a job stands in the job's id."""
        return "+".join(e.evaluator.endpoint for e in self._endpoints.values())

    @property
    def places(self) -> int:
        """How many candidates all take at once."""
        return sum(endpoint.places for endpoint in self._endpoints.values())

    async def start(self, ask: Ask) -> str:
        """Hand a candidate over to whoever has a place; return `NAME JOB`.

        Raises:
            EvaluatorAbsent, EvaluatorLost, EvaluatorRefused: as the protocol says; one endpoint's word is not final
                while another may do.
        """
        tried: dict[str, EvaluatorError] = {}
        while True:
            endpoint = await self._free(ask.attempt, tried)
            if endpoint is None:
                raise _why(tried)
            try:
                return await self._start(endpoint, ask)
            except (EvaluatorAbsent, EvaluatorRefused) as error:
                tried[endpoint.name] = error

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        """Return the verdict on a job, from where it was started.

        Raises:
            EvaluatorAbsent, EvaluatorLost, JobUnknown: as the protocol says.
        """
        endpoint, inner = self._of(job)
        try:
            found = await endpoint.evaluator.wait(inner, on_stage)
        except (EvaluatorAbsent, EvaluatorLost):
            self._failure(endpoint, self._at.get(job, ""))
            raise
        finally:
            self._release(endpoint, job)
        if repeatable(found):
            self._failure(endpoint, str(found.get("attempt_id") or ""))
        else:
            endpoint.failures = 0
        return found

    async def cancel(self, job: str) -> None:
        """End a job; nothing happens if it is over."""
        endpoint, inner = self._of(job)
        await endpoint.evaluator.cancel(inner)

    async def task(self, task: str) -> dict[str, Any]:
        """Return what the first endpoint that answers knows of a task.

        Raises:
            EvaluatorAbsent, EvaluatorLost, EvaluatorRefused: none knows it.
        """
        tried: dict[str, EvaluatorError] = {}
        for endpoint in self._awake():
            try:
                return await endpoint.evaluator.task(task)
            except EvaluatorError as error:
                tried[endpoint.name] = error
        raise _why(tried)

    async def close(self) -> None:
        """Let go of all."""
        closing = [endpoint.evaluator.close() for endpoint in self._endpoints.values()]
        await asyncio.gather(*closing, return_exceptions=True)

    async def _start(self, endpoint: Endpoint, ask: Ask) -> str:
        endpoint.busy += 1
        try:
            there = replace(ask, device=endpoint.device or ask.device)
            job = f"{endpoint.name} {await endpoint.evaluator.start(there)}"
        except BaseException as error:
            self._release(endpoint, "")
            if isinstance(error, EvaluatorError) and not isinstance(error, _ANSWERS):
                self._failure(endpoint, ask.attempt)
            raise
        self._at[job] = ask.attempt
        return job

    async def _free(self, attempt: str, tried: dict[str, EvaluatorError]) -> Endpoint | None:
        """Return an endpoint with a place that was not tried; wait for one; None if there is none to hope for."""
        while True:
            freed = self._freed
            hopeful = [e for e in self._awake() if e.name not in tried]
            if not hopeful:
                return None
            found = [e for e in hopeful if e.busy < e.places]
            elsewhere = self._failed_at.get(attempt)
            if found:
                return min(found, key=lambda e: (e.name == elsewhere, e.busy / e.places))
            await freed.wait()

    def _awake(self) -> list[Endpoint]:
        now = self._clock.now()
        return [e for e in self._endpoints.values() if e.rests_until <= now]

    def _of(self, job: str) -> tuple[Endpoint, str]:
        name, _, inner = job.partition(" ")
        if name not in self._endpoints:
            raise JobUnknown(f"no evaluator is called {name!r} (any more)")
        return self._endpoints[name], inner

    def _release(self, endpoint: Endpoint, job: str) -> None:
        self._at.pop(job, None)
        endpoint.busy -= 1
        freed, self._freed = self._freed, asyncio.Event()
        freed.set()

    def _failure(self, endpoint: Endpoint, attempt: str) -> None:
        endpoint.failed(self._clock.now())
        if attempt:
            self._failed_at[attempt] = endpoint.name


def _why(tried: dict[str, EvaluatorError]) -> EvaluatorError:
    """Return what to say where none would do: what a host lacks before what merely did not answer."""
    if not tried:
        return EvaluatorAbsent("all evaluators rest after failures")
    told = "; ".join(f"{name}: {error}" for name, error in tried.items())
    if all(isinstance(error, EvaluatorRefused) for error in tried.values()):
        return EvaluatorRefused(told)
    lacking = any(isinstance(error, DeviceAbsent) for error in tried.values())
    return DeviceAbsent(told) if lacking else EvaluatorAbsent(told)
