"""Finished made-up searches for reports: a study's sessions in a state folder, recorded through the real journal.

Each is `tests.tui.journals.script` with other speeds, another task, machine and end: speeds follow from what is asked
(`gain`), so that a report can be checked against what was put in.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.baseline import REMEASURED
from sessions.best import ranked
from sessions.facts import Fact
from sessions.fold import fold
from sessions.journal import Journal
from sessions.report_runs import run_of
from sessions.summary import summarise
from tests.tui import journals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sessions.report_runs import Run

EAGER = ("speedup_eager_ratio", "speedup_eager_lo_ratio", "speedup_eager_hi_ratio")
RATIOS = ("speedup_ratio", "speedup_lo_ratio", "speedup_hi_ratio", *EAGER)
TOGETHER = 100
PLAIN = 9001
"""The number of the first plain attempt."""


@dataclass(frozen=True, slots=True)
class Study:
    """One session to be made."""

    session: str
    configuration: str = "full"
    task: str = "level3/44_MiniGPTBlock"
    repeat: int = 1
    gain: float = 1.0
    """Multiplies every speed."""
    again: float = 0.98
    """Multiplies those of the second measurements."""
    device: str = "NVIDIA H200"
    strategy: str = "pike-b"
    model: str = "strong"
    attempts: int = 24
    correct: bool = True
    """False: not one attempt works."""
    end: str = "finished"
    """`running`, `crashed` and `paused` have no such fact."""
    plain: bool = True


def facts_of(study: Study) -> tuple[list[tuple[float, list[f.Body]]], list[str]]:
    """Return the facts of a study in transactions, and the texts they name."""
    steps = journals.script(study.attempts, hostile=False, session=study.session).steps
    told = [(at, [_changed(body, study) for body in bodies]) for at, bodies, _ in steps]
    texts = [text for _, _, several in steps for text in several]
    if study.plain:
        told[2:2] = [(told[1][0], bodies) for bodies in _plain(study)]
    last = told[-1][0]
    told += [(last + 60, [body]) for body in _end(told, study)]
    return told, texts


def _changed(body: f.Body, study: Study) -> f.Body:
    match body:
        case f.Opened():
            models = dict.fromkeys(("ideas", "improve", "fix"), study.model)
            return replace(
                body,
                session=study.session,
                task=study.task,
                task_sha256=(study.task.encode().hex() * 8)[:64],
                strategy=study.strategy,
                seed=study.repeat,
                models=models,
            )
        case f.Baseline():
            return replace(body, device_name=study.device)
        case f.VerdictReached():
            return _verdict(body, study)
        case f.Closed() if not study.correct and body.reason == "works" and body.works:
            return f.Closed(body.proposal, "gave_up")
        case _:
            return body


def _verdict(body: f.VerdictReached, study: Study) -> f.VerdictReached:
    if body.kind != "correct":
        return body
    if not study.correct:
        wrong = {"status": "wrong_result", "code": "values", "cause": "output 0 differs"}
        return f.VerdictReached(body.candidate, "wrong", None, wrong)
    return f.VerdictReached(
        body.candidate, body.kind, body.runtime_ms, scaled(body.verdict, study.gain)
    )


def scaled(verdict: dict[str, Any], factor: float) -> dict[str, Any]:
    """Return a verdict with every speed so many times higher."""
    changed = {name: verdict[name] * factor for name in RATIOS}
    eager = changed["speedup_eager_ratio"]
    return verdict | changed | {"paper_speedup_ratio": eager * 0.99, "own_share_ratio": 0.8}


def _plain(study: Study) -> Iterable[list[f.Body]]:
    """Two plain variants, without a query: the stronger is as fast as the strongest baseline."""
    for number, speed in enumerate((0.7, 1.0)):
        proposal, candidate = f"h{PLAIN + number}", f"c{PLAIN + number}"
        asked: dict[str, Any] = {"id": proposal, "role": "plain", "parent": "c0", "meta": {}}
        verdict = scaled(journals.verdict_of(speed, "bf16"), 1.0)
        yield [
            f.Proposed([asked], None),
            f.Started(proposal, "099"),
            f.AttemptMade(candidate, "c0", proposal, 0, "099", "k", "", "plain", "torch.compile"),
            f.VerdictReached(candidate, "correct", 1.0, verdict),
            f.Closed(proposal, "works", candidate),
        ]


def _end(told: Sequence[tuple[float, list[f.Body]]], study: Study) -> Iterable[f.Body]:
    if study.end == "paused":
        yield f.Paused("asked", "asked", "ann")
    if study.end == "finished":
        bodies = [body for _, several in told for body in several]
        state = fold(Fact(n, 0.0, body) for n, body in enumerate(bodies, 1))
        for attempt in ranked(state)[:REMEASURED]:
            yield f.Remeasured(attempt.id, scaled(attempt.verdict, study.again))
        yield f.Finished("all queries are spent", "queries")


def bodies_of(study: Study) -> list[f.Body]:
    """Return the facts of a study, without their times."""
    return [body for _, several in facts_of(study)[0] for body in several]


def run_of_study(study: Study, *more: f.Body) -> Run:
    """Return a study as a run of a report, without any file; `more`: facts after its last."""
    facts = (Fact(n, float(n), b) for n, b in enumerate([*bodies_of(study), *more], 1))
    found = run_of(fold(facts), study.session, (study.configuration, study.repeat), study.end, {})
    assert found is not None
    return found


async def record(journal_at: Path, study: Study) -> None:
    """Write the journal of a study, a hundred steps a transaction: benchmarks make fifty."""
    journal = await Journal.open(journal_at, wal=False)
    told, texts = facts_of(study)
    try:
        for place in range(0, len(told), TOGETHER):
            several = told[place : place + TOGETHER]
            bodies = [body for _, some in several for body in some]
            await journal.record(several[-1][0], bodies, texts=[] if place else texts)
        await journal.summarise(summarise(fold(await journal.facts())))
    finally:
        await journal.close()


def make(home: Path, studies: Iterable[Study], experiment: str = "") -> None:
    """Write sessions, and the list of the experiment they belong to."""
    made = list(studies)
    for study in made:
        folder = home / "sessions" / study.session
        folder.mkdir(parents=True)
        asyncio.run(record(folder / "journal.db", study))
    if experiment:
        rows = [
            {"configuration": s.configuration, "task": s.task, "repeat": s.repeat, "session": s.session,
             "state": s.end, "why": ""}
            for s in made
        ]  # fmt: skip
        write_runs(home, experiment, rows)


def write_runs(home: Path, experiment: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write an experiment's list of runs."""
    listing = home / "experiments" / experiment / "runs.json"
    listing.parent.mkdir(parents=True)
    listing.write_text(json.dumps(rows), encoding="utf-8")
