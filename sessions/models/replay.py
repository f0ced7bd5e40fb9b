"""The replay model: answers from a past session's journal; it never pays.

An answer is found by the prompt's text and its sample number, whichever model gave it then.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.facts import QueryDone, QuerySent
from sessions.journal import Reader, key_of
from sessions.models.port import Finish, ReplayMiss, Reply, Request, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.models.port import OnNote, OnText
    from strategies.protocol import Prompt


@dataclass(frozen=True, slots=True)
class _Past:
    reply: Reply
    reply_key: str


class ReplayModel:
    """Answers as a past session's models did."""

    network = False

    def __init__(self, session: str, journal: Path) -> None:
        """Open nothing yet; the journal is read at the first question."""
        self.name = f"replay:{session}"
        self.label = f"replay of {session}"
        self._session = session
        self._journal = journal
        self._past: dict[tuple[str, int], _Past] | None = None

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
            past = self._past.get((key_of(request.prompt.text), request.sample))
            if past is None:
                where = f"proposal {request.proposal}, step {request.step}"
                message = f"session {self._session} holds no answer to this prompt ({where})"
                raise ReplayMiss(f"{message}; it was another task, device, setting or version")
            kept = past.reply
            text = reader.text(past.reply_key)
            return Reply(text, kept.finish, kept.usage, kept.cost_usd, kept.model)


def _replies(reader: Reader) -> dict[tuple[str, int], _Past]:
    """Return every answer of a session, by prompt and sample number."""
    sent: dict[str, QuerySent] = {}
    found: dict[tuple[str, int], _Past] = {}
    for fact in reader.facts():
        match fact.body:
            case QuerySent() as body:
                sent[body.query] = body
            case QueryDone() as body if body.query in sent:
                asked = sent[body.query]
                found[asked.prompt_key, asked.sample] = _past(asked, body)
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
    return _Past(Reply("", Finish(done.finish), usage, 0.0, asked.model), done.reply_key)
