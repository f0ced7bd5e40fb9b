"""The original, measured before the search; the fastest few, measured again after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.best import ranked
from sessions.lineage import MAIN, NewCommit, message_of
from sessions.model import ORIGINAL
from sessions.verdicts import headline, kind_of
from strategies.protocol import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.judging import Judging
    from sessions.model import AttemptRecord, State
    from sessions.parts import Parts

AS_CANDIDATE = "\n\n\nclass ModelNew(Model):\n    pass\n"
"""Makes the original a candidate of its own: equal to itself, as fast as itself."""
AGENT = "engine"
REMEASURED = 4
NEAR = 0.8
"""Of the best speedup: what lies below is not mistaken for the best, and others want the device."""
TURNS = 3
"""Measurements of the original, where the machine was too busy for one."""
UNFIT = "task_unfit"


async def commit_original(parts: Parts) -> None:
    """Make the root commit: the original, on `main`; repeating it gives the same commit."""
    opened = parts.opened
    source = await parts.library.text(opened.source_key)
    trailers = [
        ("Pike-Session", opened.session),
        ("Pike-Attempt", ORIGINAL),
        ("Pike-Strategy", opened.strategy),
    ]
    new = NewCommit(
        branch=MAIN,
        parents=(),
        before="",
        files={"candidate.py": source},
        message=message_of(f"{ORIGINAL}: the original, {opened.task}", trailers),
        author="pike",
        at=parts.state.opened_at,
    )
    parts.root = await parts.lineages.commit(new)


async def measure_original(parts: Parts, judging: Judging) -> f.Baseline | f.Finished | f.Paused:
    """Return the fact that the original's verdict comes to; nothing is written."""
    source = await parts.library.text(parts.opened.source_key) + AS_CANDIDATE
    parts.live.evaluation(ORIGINAL, AGENT)
    try:
        result = await _verdict_on_itself(judging, source)
    finally:
        parts.live.evaluation_done(ORIGINAL)
    eager = result.get("eager_ms")
    if kind_of(result) is Kind.CORRECT and eager:
        return _baseline(result, float(eager))
    if result.get("status") == UNFIT:
        return f.Finished(f"the task does not fit: {headline(result)}", UNFIT)
    return f.Paused(f"the original could not be measured: {headline(result)}", "evaluator")


async def _verdict_on_itself(judging: Judging, source: str) -> dict[str, Any]:
    """The original cannot break a rule against itself: any such answer is a busy machine's, and is asked for again."""
    result: dict[str, Any] = {}
    for _ in range(TURNS):
        result = await judging.result_of(judging.ask_for(ORIGINAL, source), AGENT, record=False)
        if kind_of(result) in (Kind.CORRECT, Kind.UNAVAILABLE):
            break
    return result


async def remeasure(parts: Parts, judging: Judging) -> None:
    """Measure the fastest few again, one after the other, as far as they are near the best; a source counts once.

    Those measured again before are left; where one was refuted, the next fastest takes its place.
    """
    while (attempt := _next_again(parts.state)) is not None:
        await parts.gate.enter()
        source = await parts.library.text(attempt.source_key)
        parts.live.evaluation(attempt.id, AGENT)
        try:
            ask = judging.ask_for(attempt.id, source)
            result = await judging.result_of(ask, AGENT, record=False)
        finally:
            parts.live.evaluation_done(attempt.id)
        await parts.recorder.write(f.Remeasured(attempt.id, result))


def _next_again(state: State) -> AttemptRecord | None:
    fastest = _distinct(ranked(state))[:REMEASURED]
    near = [a for a in fastest if (a.speedup or 0.0) >= NEAR * (fastest[0].speedup or 0.0)]
    return next((attempt for attempt in near if not attempt.remeasured), None)


def _distinct(attempts: Iterable[AttemptRecord]) -> list[AttemptRecord]:
    """Return the first attempt of each source."""
    found: dict[str, AttemptRecord] = {}
    for attempt in attempts:
        found.setdefault(attempt.source_key, attempt)
    return list(found.values())


def _baseline(result: dict[str, Any], eager_ms: float) -> f.Baseline:
    return f.Baseline(
        verdict=result,
        device=str(result.get("device") or ""),
        device_name=str(result.get("device_name") or ""),
        scope=str(result.get("scope") or "latency"),
        eager_ms=eager_ms,
        names=list(result.get("baseline_names") or ()),
        classes=list(result.get("baseline_classes") or ()),
        times_ms=list(result.get("baseline_times_ms") or ()),
    )
