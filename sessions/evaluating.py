"""One candidate to the evaluator and back: handed over, waited for, and again where the evaluator was at fault.

```
start ─▶ wait ─▶ a verdict
  │        └ infra_error: at most three turns ─▶ does the original get a verdict? ─ yes ─▶ infra_error it is
  │ none there, none of the session's GPU model,                      no, the evaluator is broken
  │ memory held by others, paused:                                    ─▶ rest, charge nothing, take another turn
  │ wait, charge nothing
```
A candidate that ends the evaluator again and again is told from an evaluator that is broken by the original, which
harms nobody.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.baseline import AS_CANDIDATE
from sessions.errors import DeviceAbsent, EvaluatorAbsent, EvaluatorError, EvaluatorRefused
from sessions.evaluator import QUEUED, Ask, lost, same_model
from sessions.live import NO_EVALUATOR
from sessions.model import ORIGINAL
from sessions.verdicts import headline, is_crowded, repeatable

if TYPE_CHECKING:
    from sessions.evaluator import OnStage
    from sessions.parts import Parts

log = logging.getLogger(__name__)

TURNS = 3
"""Evaluations of one attempt that the evaluator itself may fail, while it judges the original."""
CROWDED_TURNS = 5
"""Evaluations that may find the memory held by others before the original is asked whether it is the candidate."""
ABSENT_S = 5.0
"""Between two looks for an evaluator."""
LONGEST_REST_S = 60.0
"""Between two turns of one that is broken; the rest doubles up to here."""
SOON_S = 1.0
"""How long a candidate is handed over before it is said to stand in line."""


class Evaluating:
    """Asks the evaluator."""

    def __init__(self, parts: Parts) -> None:
        """Share the engine's parts."""
        self._parts = parts
        self._checking = asyncio.Lock()

    async def result_of(self, ask: Ask, agent: str, *, record: bool) -> dict[str, Any]:
        """Return the evaluator's answer. `record`: write each turn."""
        attempt = self._parts.state.attempts.get(ask.attempt)
        turn = max(1, attempt.turns if attempt and record else 1)
        rest_s, crowded = ABSENT_S, 0
        while True:
            try:
                result = await self._turn(ask, agent, turn, record=record)
            except EvaluatorAbsent as error:
                await self._rest(ask, ABSENT_S, _absence(error))
                continue
            if is_crowded(result):
                crowded += 1
                if crowded > CROWDED_TURNS and await self._is_well(ask, crowded=True):
                    return self._parts.redactor.data(result)
                await self._rest(ask, rest_s, f"waits for memory: {headline(result)}")
                rest_s = min(LONGEST_REST_S, 2 * rest_s)
                continue
            if not repeatable(result) or (turn >= TURNS and await self._is_well(ask)):
                return self._parts.redactor.data(result)
            if turn >= TURNS:
                await self._rest(ask, rest_s, f"the evaluator fails: {headline(result)}")
                rest_s = min(LONGEST_REST_S, 2 * rest_s)
            turn += 1

    def ask_for(self, name: str, source: str, beat: float | None = None) -> Ask:
        """Return what the evaluator is asked about a source; `beat`: what is worth confirming."""
        opened, measured = self._parts.opened, self._parts.state.baseline
        return Ask(
            task=opened.task,
            source=source,
            device=opened.device,
            precision=opened.precision,
            tolerance=opened.tolerance,
            attempt=name,
            task_sha256=opened.task_sha256,
            beat=beat,
            device_name=measured.device_name if measured else "",
            session=opened.session,
        )

    async def _is_well(self, ask: Ask, *, crowded: bool = False) -> bool:
        """Whether the evaluator judges the original, so that what it cannot judge is itself the reason.

        Of the original nobody knows: whoever asked about it decides; but for memory it waits.
        """
        if ask.attempt == ORIGINAL:
            return not crowded
        source = await self._parts.library.text(self._parts.opened.source_key) + AS_CANDIDATE
        try:
            async with self._checking:
                found = await self._turn(self.ask_for(ORIGINAL, source), "", 0, record=False)
        except EvaluatorAbsent:
            return False
        return not repeatable(found)

    async def _turn(self, ask: Ask, agent: str, turn: int, *, record: bool) -> dict[str, Any]:
        """Return what one evaluation came to.

        Raises:
            EvaluatorAbsent: whoever had the job cannot be reached any more, and nobody else.
        """
        evaluator, name = self._parts.evaluator, ask.attempt
        job = ""
        try:
            job = await self._start(ask)
            if record:
                sent = f.EvaluationSent(
                    name, agent, "evaluate_kernel", evaluator.endpoint, job, turn
                )
                await self._parts.recorder.write(sent)
            return _unmixed(ask, await evaluator.wait(job, self._stages(name)))
        except asyncio.CancelledError:
            if job:
                await evaluator.cancel(job)
            raise
        except EvaluatorRefused as error:
            return {
                "status": "infra_error",
                "code": "sandbox_failed",
                "cause": str(error),
                "ok": False,
            }
        except EvaluatorAbsent:
            raise
        except EvaluatorError as error:
            return lost(str(error))

    async def _start(self, ask: Ask) -> str:
        """Hand the candidate over, waiting for an evaluator if there is none."""
        while True:
            try:
                job = await self._handed_over(ask)
            except EvaluatorAbsent as error:
                log.warning("no evaluator: %s", error)
                await self._rest(ask, ABSENT_S, _absence(error))
                continue
            if job is not None:
                return job
            await self._parts.gate.enter()

    async def _handed_over(self, ask: Ask) -> str | None:
        """Return the job; None if the search is paused first: it leaves the line of those who want a place."""
        parts = self._parts
        handing = asyncio.create_task(parts.evaluator.start(ask))
        shut = asyncio.create_task(parts.gate.shut())
        try:
            done, _ = await asyncio.wait(
                {handing, shut}, timeout=SOON_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                parts.live.stage(ask.attempt, QUEUED)
                await asyncio.wait({handing, shut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (handing, shut):
                task.cancel()
            await asyncio.wait({handing, shut})
        return None if handing.cancelled() else handing.result()

    async def _rest(self, ask: Ask, seconds: float, why: str) -> None:
        """Say why nothing goes on here, wait a while, and until the search is not paused."""
        parts = self._parts
        parts.live.wait_for(ask.attempt, why)
        try:
            with parts.gate.waiting():
                await parts.clock.sleep(seconds)
            await parts.gate.enter()
        finally:
            parts.live.wait_for(ask.attempt, "")

    def _stages(self, name: str) -> OnStage:
        return lambda stage, detail: self._parts.live.stage(name, stage, detail)


def _unmixed(ask: Ask, found: dict[str, Any]) -> dict[str, Any]:
    """Return a verdict, unless another model of GPU gave it than the session's numbers are of."""
    name = str(found.get("device_name") or "")
    if not name or not ask.device_name or same_model(name, ask.device_name):
        return found
    return lost(f"it was measured on {name}, and this session is measured on {ask.device_name}")


def _absence(error: EvaluatorAbsent) -> str:
    """Return what a person reads; why a whole host will not do is said, why a program did not start is in the log."""
    return f"{NO_EVALUATOR}: {error}" if isinstance(error, DeviceAbsent) else NO_EVALUATOR
