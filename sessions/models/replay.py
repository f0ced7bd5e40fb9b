"""The replay model: answers from a past session's journal; it never pays.

An answer is found by the prompt's text and its sample number, whichever model gave it then; in a round after tool calls
also by what the model had said before. What the tools say may differ from then: they are called again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.facts import QueryDone, QuerySent
from sessions.journal import Reader, key_of
from sessions.models.port import Finish, ReplayMiss, Reply, Request, Usage
from sessions.models.tools import of_text

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.models.port import OnNote, OnText
    from strategies.protocol import Prompt

SECOND = 2
"""The first round that goes on with a conversation."""
_Asked = tuple[str, int, tuple[str, ...]]
"""The first prompt's key, its sample number, the turns since."""


@dataclass(frozen=True, slots=True)
class _Past:
    reply: Reply
    reply_key: str
    turn_key: str


class ReplayModel:
    """Answers as a past session's models did."""

    network = False
    calls_tools = True

    def __init__(self, session: str, journal: Path) -> None:
        """Open nothing yet; the journal is read at the first question."""
        self.name = f"replay:{session}"
        self.label = f"replay of {session}"
        self._session = session
        self._journal = journal
        self._past: dict[_Asked, _Past] | None = None

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return 0: nothing is paid."""
        del prompt, max_tokens
        return 0.0

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Answer as the past session was answered.

        Raises:
            ReplayMiss: it was never asked this.
            JournalError: its journal cannot be read.
        """
        del on_note
        reply = await asyncio.to_thread(self._find, request)
        on_text(reply.text)
        return reply

    async def close(self) -> None:
        """Release nothing."""

    def _find(self, request: Request) -> Reply:
        with Reader(self._journal) as reader:
            if self._past is None:
                self._past = _replies(reader)
            said = tuple(one.turn_key for one in request.rounds)
            past = self._past.get((key_of(request.prompt.text), request.sample, said))
            if past is None:
                where = f"proposal {request.proposal}, step {request.step}"
                message = f"session {self._session} holds no answer to this prompt ({where})"
                raise ReplayMiss(f"{message}; it was another task, device, setting or version")
            kept = past.reply
            text = reader.text(past.reply_key)
            turn = of_text(reader.text(past.turn_key)) if past.turn_key else None
            return Reply(text, kept.finish, kept.usage, kept.cost_usd, kept.model, turn)


def _replies(reader: Reader) -> dict[_Asked, _Past]:
    """Return every answer of a session, by first prompt, sample number and what was said before."""
    sent: dict[str, QuerySent] = {}
    begun: dict[tuple[str, int], _Asked] = {}
    found: dict[_Asked, _Past] = {}
    for fact in reader.facts():
        match fact.body:
            case QuerySent() as body:
                sent[body.query] = body
                if body.round < SECOND:
                    begun[body.proposal, body.step] = (body.prompt_key, body.sample, ())
            case QueryDone() as body if body.query in sent:
                asked = sent[body.query]
                prompt, sample, said = begun[asked.proposal, asked.step]
                found[prompt, sample, said] = _past(asked, body)
                if body.turn_key:
                    begun[asked.proposal, asked.step] = (prompt, sample, (*said, body.turn_key))
            case _:
                pass
    return found


def _past(asked: QuerySent, done: QueryDone) -> _Past:
    usage = None
    if done.input_tokens is not None and done.output_tokens is not None:
        usage = Usage(
            done.input_tokens,
            done.cached_tokens or 0,
            done.cache_write_tokens or 0,
            done.output_tokens,
            done.thinking_tokens,
        )
    reply = Reply("", Finish(done.finish), usage, 0.0, asked.model)
    return _Past(reply, done.reply_key, done.turn_key)
