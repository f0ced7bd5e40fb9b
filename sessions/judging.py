"""One attempt through the evaluator: a place, the verdict (evaluating.py), its commit."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sessions import evidence, talk_pages
from sessions import facts as f
from sessions.agent_tools import calls_of
from sessions.best import best
from sessions.evaluating import Evaluating
from sessions.lineage import NewCommit, message_of, subject_of
from sessions.model import ORIGINAL
from sessions.verdicts import kind_of, runtime_ms

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine

    from sessions.evaluator import Ask
    from sessions.model import AttemptRecord, QueryRecord, State, SteerRecord
    from sessions.parts import Parts

log = logging.getLogger(__name__)


class Judging:
    """Gets verdicts for attempts, and keeps them."""

    def __init__(self, parts: Parts) -> None:
        """Share the engine's parts."""
        self._parts = parts
        self._evaluating = Evaluating(parts)

    async def evaluate(self, candidate: str, agent: str) -> None:
        """Write an attempt's verdict; `pause --now` ends this without one."""
        await self.interruptible(self._evaluate(candidate, agent))

    async def interruptible(self, work: Coroutine[None, None, None]) -> None:
        """Do work in the evaluator that `pause --now` ends early; it is done again when the search goes on."""
        task = asyncio.create_task(work)
        self._parts.evaluations.add(task)
        try:
            await asyncio.wait([task])
        finally:
            self._parts.evaluations.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    async def result_of(self, ask: Ask, agent: str, *, record: bool) -> dict[str, Any]:
        """Return the evaluator's answer, once it has one. `record`: write each turn."""
        return await self._evaluating.result_of(ask, agent, record=record)

    def ask_for(self, name: str, source: str) -> Ask:
        """Return what the evaluator is asked about a source."""
        found = best(self._parts.state)
        beat = found.verdict.get("speedup_lo_ratio") if found else None
        return self._evaluating.ask_for(name, source, beat)

    async def commit(self, candidate: str) -> None:
        """Make an attempt's commit, which holds its verdict, and write its hash."""
        attempt = self._parts.state.attempts[candidate]
        commit = await self._parts.lineages.commit(await self._new_commit(attempt))
        branch = self._parts.state.lineages[attempt.lineage].branch
        await self._parts.recorder.write(f.Committed(candidate, commit, branch))

    async def _evaluate(self, candidate: str, agent: str) -> None:
        attempt = self._parts.state.attempts[candidate]
        earlier = _same_source(self._parts.state, attempt)
        if earlier is not None:
            await self._verdict(attempt, earlier.verdict, reused=earlier.id)
            return
        source = await self._parts.library.text(attempt.source_key)
        async with self.place(candidate, agent):
            result = await self.result_of(self.ask_for(candidate, source), agent, record=True)
        calls = calls_of(candidate, agent, result)
        await self._verdict(attempt, result, calls=calls)

    @asynccontextmanager
    async def place(self, candidate: str, agent: str) -> AsyncGenerator[None]:
        """Hold a place in the evaluator."""
        parts = self._parts
        parts.live.queue(1)
        try:
            with parts.gate.waiting():
                await parts.bench.acquire()
        finally:
            parts.live.queue(-1)
        try:
            await parts.gate.enter()
            parts.live.evaluation(candidate, agent)
            yield
        finally:
            parts.live.evaluation_done(candidate)
            parts.bench.release()

    async def _verdict(
        self,
        attempt: AttemptRecord,
        result: dict[str, Any],
        *,
        calls: list[f.ToolCalled] | None = None,
        reused: str = "",
    ) -> None:
        await asyncio.to_thread(evidence.keep, self._parts.folder, result)
        baseline = self._parts.state.baseline
        eager = baseline.eager_ms if baseline else None
        verdict = f.VerdictReached(
            candidate=attempt.id,
            kind=kind_of(result).value,
            runtime_ms=runtime_ms(result, eager),
            verdict=result,
            reused=reused,
        )
        await self._parts.recorder.write(*(calls or []), verdict)

    async def _new_commit(self, attempt: AttemptRecord) -> NewCommit:
        state = self._parts.state
        line = state.lineages[attempt.lineage]
        place = line.attempts.index(attempt.id)
        proposal = state.trajectories[attempt.proposal].proposal
        parents = [attempt.parent, *(i for i in proposal.inspirations if attempt.step == 0)]
        return NewCommit(
            branch=line.branch,
            parents=tuple(self._commit_of(name) for name in dict.fromkeys(parents)),
            before=state.attempts[line.attempts[place - 1]].commit if place else "",
            files=await self._files(attempt),
            message=message_of(_subject(attempt), _trailers(state, attempt)),
            author=attempt.author,
            at=attempt.verdict_at or attempt.at,
        )

    def _commit_of(self, name: str) -> str:
        return self._parts.root if name == ORIGINAL else self._parts.state.attempts[name].commit

    async def _files(self, attempt: AttemptRecord) -> dict[str, str]:
        library = self._parts.library
        files = {
            "candidate.py": await library.text(attempt.source_key),
            "verdict.json": verdict_json(attempt),
        }
        query = self._parts.state.queries.get(attempt.query)
        if query is not None:
            files |= await self._said(query)
        return files

    async def _said(self, query: QueryRecord) -> dict[str, str]:
        """Return what was said behind an attempt; `rounds.md` only where tools were called."""
        state, library = self._parts.state, self._parts.library
        texts = {key: await library.text(key) for key in talk_pages.keys_of(state, query)}
        return talk_pages.files(state, query, lambda key: texts[key])


def verdict_json(attempt: AttemptRecord) -> str:
    """Return the file `verdict.json` of an attempt's commit."""
    held = {
        "attempt": attempt.id,
        "kind": attempt.kind,
        "runtime_ms": attempt.runtime_ms,
        "reused": attempt.reused,
        "verdict": attempt.verdict,
    }
    return json.dumps(held, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _subject(attempt: AttemptRecord) -> str:
    return subject_of(f"{attempt.id}: {attempt.change or attempt.kind}")


def _trailers(state: State, attempt: AttemptRecord) -> list[tuple[str, str]]:
    opened, query = state.opened, state.queries.get(attempt.query)
    meta = state.trajectories[attempt.proposal].proposal.meta
    phase = meta.get("phase")
    assert opened is not None
    return [
        ("Pike-Session", opened.session),
        ("Pike-Attempt", attempt.id),
        ("Pike-Lineage", attempt.lineage),
        ("Pike-Strategy", opened.strategy),
        ("Pike-Phase", "" if phase is None else str(phase)),
        ("Pike-Agent", query.agent if query else attempt.author),
        ("Pike-Model", query.model if query else ""),
        ("Pike-Client", query.client if query else str(meta.get("client") or "")),
        ("Pike-Claimed-Model", query.claimed if query else str(meta.get("claimed") or "")),
        ("Pike-Caller", "" if query else str(meta.get("caller") or "")),
        ("Pike-Verdict", _words(attempt)),
        ("Pike-Speedup", _speedup(attempt)),
        *_steers(state, attempt),
    ]


def _words(attempt: AttemptRecord) -> str:
    code = attempt.verdict.get("code")
    status = str(attempt.verdict.get("status") or attempt.kind)
    return f"{status}/{code}" if code else status


def _speedup(attempt: AttemptRecord) -> str:
    if attempt.speedup is None:
        return ""
    low, high = (attempt.verdict.get(f"speedup_{end}_ratio") for end in ("lo", "hi"))
    interval = f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    over = attempt.verdict.get("baseline")
    return f"{attempt.speedup:.3f}x{interval}" + (f" over {over}" if over else "")


def _steers(state: State, attempt: AttemptRecord) -> list[tuple[str, str]]:
    """Return what people had to do with it: the guides in its prompt, and every other steer behind it."""
    query, opener = state.queries.get(attempt.query), state.trajectories[attempt.proposal].steer
    agents = bool(state.trajectories[attempt.proposal].proposal.meta.get("job"))
    names = query.steers if query else [opener] if opener and not agents else []
    return [_steer(state.steers[name], query.seq if query else state.seq) for name in names]


def _steer(steer: SteerRecord, seq: int) -> tuple[str, str]:
    """Return a steer as a trailer, in the words it had when fact `seq` was written: they may be edited later."""
    if steer.act == "guide":
        return "Pike-Guide", f"{steer.id} {steer.text_at(seq)}"
    names = ("candidate", "target", "name", "model")
    about = " ".join(str(steer.args[name]) for name in names if steer.args.get(name))
    return "Pike-Steer", f"{steer.id} {steer.act} {about} by {steer.author} {steer.text_at(seq)}"


def _same_source(state: State, attempt: AttemptRecord) -> AttemptRecord | None:
    """Return an earlier attempt with this source, whose verdict holds for it too."""
    for name in state.by_source.get(attempt.source_key, ()):
        found = state.attempts[name]
        if name != attempt.id and found.kind and found.kind != "unavailable" and not found.reused:
            return found
    return None
