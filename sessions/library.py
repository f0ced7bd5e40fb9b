"""Candidates with their sources, out of the journal, the latest kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from sessions.model import ORIGINAL
from sessions.verdicts import verdict_of
from strategies.protocol import Attempt, Candidate, Outcome, Reason

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, State, TrajectoryRecord
    from sessions.recorder import Recorder

KEPT = 256
"""Texts in memory."""


class Library:
    """Reads texts and candidates."""

    def __init__(self, recorder: Recorder) -> None:
        """Read from the recorder's journal and state."""
        self._recorder = recorder
        self._texts: OrderedDict[str, str] = OrderedDict()

    async def text(self, key: str) -> str:
        """Return a kept text.

        Raises:
            KeyError: the journal lacks it.
        """
        if key not in self._texts:
            self._texts[key] = await self._recorder.journal.text(key)
            if len(self._texts) > KEPT:
                self._texts.popitem(last=False)
        self._texts.move_to_end(key)
        return self._texts[key]

    async def original(self) -> Candidate:
        """Return c0."""
        state = self._state
        assert state.opened is not None
        source = await self.text(state.opened.source_key)
        eager = state.baseline.eager_ms if state.baseline else None
        return Candidate(ORIGINAL, "", source, eager)

    async def candidate(self, name: str) -> Candidate:
        """Return any candidate, c0 among them.

        Raises:
            KeyError: no such candidate.
        """
        if name == ORIGINAL:
            return await self.original()
        found = self._state.attempts[name]
        source = await self.text(found.source_key)
        return Candidate(found.id, found.parent, source, found.runtime_ms)

    async def attempt(self, found: AttemptRecord) -> Attempt:
        """Return an attempt with its verdict, as a prompt shows it."""
        state = self._state
        eager = state.baseline.eager_ms if state.baseline else None
        verdict = verdict_of(found.verdict, eager)
        return Attempt(await self.candidate(found.id), found.step, verdict)

    async def outcome(self, record: TrajectoryRecord) -> Outcome:
        """Return what a closed trajectory tells the strategy."""
        attempts = [await self.attempt(self._state.attempts[a]) for a in record.attempts]
        works = await self.candidate(record.works) if record.works else None
        reason = Reason(record.closed)
        return Outcome(record.proposal, tuple(attempts), works, record.ideas, reason)

    @property
    def _state(self) -> State:
        return self._recorder.state
