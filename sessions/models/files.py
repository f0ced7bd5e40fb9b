"""The model `files`: prompts as files in the session's folder, replies as files beside them. No network.

```
artifacts/prompts/q12.md   written whole, under its name at once; goes away when its query is over
artifacts/replies/q12.md   somebody's answer; stays
```
A reply is taken when it is complete: not empty, UTF-8, every code fence closed, and unchanged for `STABLE_S`. So one
that is copied slowly is not taken half; one moved into place (written under another name, then renamed) never can be.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.clock import SystemClock
from sessions.models.port import Finish, NoAnswerYet, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sessions.clock import Clock
    from sessions.models.port import OnNote, OnText, Request
    from strategies.protocol import Prompt

PROMPTS, REPLIES = "prompts", "replies"
STABLE_S = 2.0
"""How long a reply must not change before it is taken."""
LIMIT_BYTES = 1_000_000
"""Of a reply; a candidate has at most 100,000 characters."""
_ASKS = {
    "ideas": "a list of ideas, one a line",
    "again": "what the prompt below asks for",
}


@dataclass(frozen=True, slots=True)
class _Seen:
    size: int
    modified_ns: int
    since: float


class FilesModel:
    """Answered by files."""

    name = "files"
    label = "files (replies laid beside prompts)"
    network = False
    calls_tools = False

    def __init__(self, artifacts: Path | None = None, clock: Clock | None = None) -> None:
        """Use a session's folder of artifacts; without one, nothing can be asked."""
        self._artifacts = artifacts
        self._clock: Clock = clock or SystemClock()
        self._seen: dict[str, _Seen] = {}

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return None: what answers cost, only who writes them knows."""
        del prompt, max_tokens
        return None

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Write the prompt if it is not there, and return the reply if it is complete.

        Raises:
            NoAnswerYet: there is none, or it is not complete; the message says what is missing.
            OSError: the folder cannot be used.
        """
        del on_note
        text = await asyncio.to_thread(self._look, request)
        on_text(text)
        await asyncio.to_thread(self._withdraw, request.query)
        return Reply(text, Finish.STOP, model="files")

    async def close(self) -> None:
        """Release nothing."""

    def _look(self, request: Request) -> str:
        assert self._artifacts is not None, "the engine opens this model with its session's folder"
        prompt = self._artifacts / PROMPTS / f"{request.query}.md"
        reply = self._artifacts / REPLIES / f"{request.query}.md"
        reply.parent.mkdir(parents=True, exist_ok=True)
        if not prompt.is_file():
            write_whole(prompt, page(request))
        return self._complete(request.query, reply)

    def _complete(self, query: str, reply: Path) -> str:
        data, why = read(reply)
        if data is None and not why:
            self._seen.pop(query, None)
            raise NoAnswerYet("waits for its reply")
        if data is None or why:
            raise NoAnswerYet(f"{REPLIES}/{query}.md {why}")
        found = reply.stat()
        now, before = self._clock.now(), self._seen.get(query)
        if before is None or (before.size, before.modified_ns) != (
            found.st_size,
            found.st_mtime_ns,
        ):
            self._seen[query] = _Seen(found.st_size, found.st_mtime_ns, now)
            raise NoAnswerYet("its reply is arriving", soon=True)
        if 0 <= now - before.since < STABLE_S:
            raise NoAnswerYet("its reply is arriving", soon=True)
        return data.decode("utf-8-sig").replace("\r\n", "\n")

    def _withdraw(self, query: str) -> None:
        if self._artifacts is not None:
            (self._artifacts / PROMPTS / f"{query}.md").unlink(missing_ok=True)


def read(reply: Path) -> tuple[bytes | None, str]:
    """Return what a reply's file holds (None: there is none that can be read), and what keeps it from being taken."""
    try:
        if not reply.exists():
            return None, ""
        if not reply.is_file():
            return None, "is no file: put the reply there as one"
        with reply.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return (
            None,
            f"cannot be read ({error.strerror or error}): let whoever runs the search read it",
        )
    return data, incomplete(data)


def incomplete(data: bytes) -> str:
    """Return what keeps a reply from being taken; empty: it is whole."""
    if len(data) > LIMIT_BYTES:
        return f"has more than {LIMIT_BYTES:,} bytes: shorten it"
    if not data.strip():
        return "is empty: write the answer, or take it away"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "is not UTF-8 text, or not whole yet"
    fences = sum(1 for line in text.splitlines() if line.lstrip().startswith("```"))
    return "has a code fence that is not closed: it is not whole yet" if fences % 2 else ""


def page(request: Request) -> str:
    """Return a prompt's file: what is asked, where the answer goes, and the prompt as a model would get it."""
    role, query = request.prompt.role.value, request.query
    wanted = _ASKS.get(role, "one complete Python file with ModelNew, in one fenced block")
    return (
        f"<!-- pike {query}: {request.prompt.agent.value}, {role}\n"
        f"     Answer with {wanted}.\n"
        f"     Put the answer into ../{REPLIES}/{query}.md. Best: write it under another name there, then rename it.\n"
        f"     Then: pike step NAME (or the engine that runs takes it by itself).\n"
        f"     The prompt is all that follows. -->\n\n{request.prompt.text}\n"
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file that nobody ever sees half.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8", errors="replace")
    aside.replace(path)


def tidy(artifacts: Path, open_queries: Iterable[str]) -> None:
    """Take away the prompts of queries that are over, and what a killed engine left half written."""
    wanted = {f"{query}.md" for query in open_queries}
    folder = artifacts / PROMPTS
    for found in folder.iterdir() if folder.is_dir() else ():
        if found.name not in wanted:
            found.unlink(missing_ok=True)
