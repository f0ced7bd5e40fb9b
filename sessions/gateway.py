"""What an external agent may do to sessions: see, open and drive them, and be the model of a search.

Whatever it asks becomes a command in the journal of the session, which that session's engine carries out; a dead engine
is revived. So nothing depends on this process: it may be killed at any moment, and any other one goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mcp_server.contract import HandedIn, SessionCaller, SessionsRefused, SessionWish
from sessions import answers, commands, outside
from sessions import folder as folders
from sessions import gateway_rules as rules
from sessions.answering import Outside
from sessions.errors import SessionError
from sessions.fold import fold
from sessions.journal import Command, JournalError, Reader
from sessions.leases import Leases, Taken
from sessions.lock import Presence, presence
from sessions.model import State
from sessions.states import SessionState
from sessions.summary import rows, seen, shown_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.folder import SessionFolder

T = TypeVar("T")

__all__ = ["Engines", "Gateway", "HandedIn", "SessionCaller", "SessionWish", "SessionsRefused"]

OPEN_AT_ONCE = 4
"""Sessions that a caller may have open."""
KEPT = 32
"""Sessions whose folded state is kept."""
SEATS = 10


class Engines(Protocol):
    """What the workbench does for external agents: both may take seconds, and block."""

    def open(self, wish: SessionWish, opened_by: str) -> SessionFolder:
        """Write a session and start its engine.

        Raises:
            Exception: it cannot start; the message is for whoever asked.
        """
        ...

    def revive(self, folder: SessionFolder) -> None:
        """Start an engine for a session that has none.

        Raises:
            Exception: it cannot start; the message is for whoever asked.
        """
        ...


@dataclass(slots=True)
class _Known:
    state: State = field(default_factory=State)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reviving: asyncio.Lock = field(default_factory=asyncio.Lock)


class Gateway:
    """`mcp_server.contract.SessionGateway` over the sessions of one state folder."""

    def __init__(
        self, under: Path, engines: Engines, clock: Callable[[], float] = time.time
    ) -> None:
        """Use the sessions in the folder `under`."""
        self._under, self._engines, self._clock = under, engines, clock
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def sessions(self, caller: SessionCaller) -> list[dict[str, Any]]:
        """Return a row for each session that the caller may see.

        Raises:
            SessionsRefused: the folder of sessions cannot be read.
        """
        found = await self._thread(partial(rows, self._under))
        return [r for r in found if caller.everything or r.get("opened_by") == caller.name]

    async def session(self, caller: SessionCaller, session_id: str) -> dict[str, Any]:
        """Return a session with its attempts' lines, newest first, as `attempts`."""
        folder = await self._visible(caller, session_id)

        def look(state: State, reader: Reader) -> dict[str, Any]:
            looked = seen(presence(folder), *reader.live(), state.last_at, time.time())
            word = shown_state(state, looked).value
            return {**outside.page(state, word), "attempts": outside.lines(state)}

        return await self._look(folder, look)

    async def attempt(
        self, caller: SessionCaller, session_id: str, attempt_id: str
    ) -> dict[str, Any]:
        """Return an attempt with its verdict and its source."""
        folder = await self._visible(caller, session_id)

        def look(state: State, reader: Reader) -> dict[str, Any]:
            found = state.attempts.get(attempt_id)
            if found is None:
                newest = ", ".join(list(state.attempts)[-3:]) or "none yet"
                raise SessionsRefused(
                    f"{session_id} has no attempt {attempt_id!r}; its newest: {newest}."
                )
            done = {"session_id": state.name, "state": "done" if found.kind else "running"}
            return {**done, **outside.about(state, found), "source": reader.text(found.source_key)}

        return await self._look(folder, look)

    async def open(self, caller: SessionCaller, wish: SessionWish) -> dict[str, Any]:
        """Open an external session and start its engine."""
        found = [
            folder for folder in folders.all_in(self._under) if await self._counts(folder, caller)
        ]
        if len(found) >= OPEN_AT_ONCE:
            names = ", ".join(folder.name for folder in found)
            raise SessionsRefused(
                f"You have {len(found)} sessions open ({names}), which is the most: go on with one of them."
            )
        folder = await self._thread(partial(self._engines.open, wish, caller.name))
        return {"session_id": folder.name, "watch": f"pike attach {folder.name}"}

    async def submit(self, caller: SessionCaller, handed: HandedIn) -> str:
        """Hand an attempt in; return its job."""
        folder = await self._visible(caller, handed.session_id)
        job, command, seq = await self._look(folder, partial(self._decided, caller, handed))
        if command is not None:
            send = partial(
                commands.send, folder.journal, "submit", command, author=rules.author_of(caller)
            )
            await self._thread(partial(send, seen_seq=seq))
        await self._see_to(folder)
        return job

    async def submitted(self, caller: SessionCaller, job_id: str) -> dict[str, Any]:
        """Return how a submission stands."""
        folder = self._of_job(job_id)
        if folder is None or not await self._may_see(folder, caller):
            raise SessionsRefused(f"There is no job {job_id!r}: submit_attempt again returns it.")
        found = await self._look(folder, partial(rules.standing_of, job_id))
        if found["state"] != "done":
            await self._see_to(folder)
        return found

    async def prompts(
        self, caller: SessionCaller, session_id: str, number: int, lease_s: float
    ) -> list[dict[str, Any]]:
        """Lease prompts to the caller."""
        folder = await self._visible(caller, session_id)
        wanted = await self._look(folder, rules.asked)
        await self._see_to(folder)
        now = self._clock()
        leases = Leases(folder.journal)
        take = partial(leases.take, wanted, number, caller.name, now + lease_s, now)
        given = await self._thread(take)
        return await self._look(folder, partial(rules.prompts_given, given))

    async def reply(
        self, caller: SessionCaller, prompt_id: str, text: str, model: str
    ) -> dict[str, Any]:
        """Take an answer to a leased prompt, once."""
        session_id, _, query = prompt_id.rpartition(":")
        try:
            folder = await self._visible(caller, session_id)
        except SessionsRefused:
            raise rules.unknown_prompt(prompt_id) from None
        ended, seq = await self._look(folder, partial(rules.ended, query))
        said = {"query": query, "text": text, "model": model, "client": rules.author_of(caller)}
        if ended in ("", "done"):
            answer = partial(Leases(folder.journal).answer, query, caller.name, said)
            taken = await self._thread(partial(answer, self._clock(), seq))
            rules.check_taken(taken, prompt_id)
            ended = "answered" if taken is Taken.NEW else "answered before"
        await self._see_to(folder)
        left = await self._look(folder, partial(rules.left, query))
        return {"prompt_id": prompt_id, "state": ended, **left}

    def _decided(
        self, caller: SessionCaller, handed: HandedIn, state: State, reader: Reader
    ) -> tuple[str, dict[str, Any] | None, int]:
        """Return the job of a submission, the command to send (None: it was sent before) and the last fact seen.

        Raises:
            SessionsRefused: the search does not take it.
        """
        before = outside.earlier(state, caller.name, handed.source, handed.parent_id)
        if before is not None:
            return str(before.proposal.meta["job"]), None, state.seq
        rules.check_open(state)
        parent = outside.parent_of(state, caller.name, handed.parent_id)
        job = outside.job_of(state.name, parent, handed.source)
        if any(c.act == "submit" and c.args.get("job") == job for c in reader.waiting_commands()):
            return job, None, state.seq
        args = {
            "source": handed.source,
            "parent": parent,
            "author": rules.author_of(caller),
            "idea": handed.idea,
            "client": caller.client,
            "claimed": handed.model,
            "caller": caller.name,
            "job": job,
        }
        asked = Command(0, self._clock(), rules.author_of(caller), "submit", args, state.seq)
        why = answers.answer(state, asked, self._clock(), Outside(SEATS)).why
        if why:
            raise SessionsRefused(f"{state.name} does not take it: {why}.")
        return job, args, state.seq

    async def _see_to(self, folder: SessionFolder) -> None:
        """Revive the engine of a search that should run and has none."""
        async with self._known_of(folder).reviving:  # of a hundred calls at once, one starts it
            await self._revive(folder)

    async def _revive(self, folder: SessionFolder) -> None:
        running = await self._look(folder, lambda s, _: s.state is SessionState.RUNNING)
        there = presence(folder)
        if not running or there is Presence.ALIVE:
            return
        if there is Presence.FOREIGN:
            raise SessionsRefused(
                f"{folder.name} is run on another host, or its engine died there: ask the person who runs it."
            )
        await self._thread(partial(self._engines.revive, folder))

    async def _visible(self, caller: SessionCaller, session_id: str) -> SessionFolder:
        folder = folders.SessionFolder(self._under / session_id)
        named = folders.NAME.match(session_id) is not None and folder.journal.is_file()
        if not named or not await self._may_see(folder, caller):
            raise SessionsRefused(
                f"There is no session {session_id!r}: list_sessions shows them, open_session makes one."
            )
        return folder

    async def _may_see(self, folder: SessionFolder, caller: SessionCaller) -> bool:
        if caller.everything:
            return True
        return await self._look(
            folder, lambda s, _: bool(s.opened and s.opened.opened_by == caller.name)
        )

    async def _counts(self, folder: SessionFolder, caller: SessionCaller) -> bool:
        try:
            return await self._look(folder, lambda s, _: outside.agents_open(s, caller.name))
        except SessionsRefused:  # an unreadable journal is nobody's open session
            return False

    def _of_job(self, job: str) -> SessionFolder | None:
        mark = job.removeprefix(outside.JOB).partition("_")[0]
        found = folders.all_in(self._under) if job.startswith(outside.JOB) else []
        return next((f for f in found if outside.mark_of(f.name) == mark), None)

    async def _look(self, folder: SessionFolder, work: Callable[[State, Reader], T]) -> T:
        """Do the work on the state of now, in a thread."""
        known = self._known_of(folder)

        def look() -> T:
            with Reader(folder.journal) as reader:
                if reader.opened() != known.state.opened:  # another session by this name now
                    known.state = State()
                fold(reader.facts(known.state.seq), known.state)
                return work(known.state, reader)

        async with known.lock:
            return await self._thread(look)

    def _known_of(self, folder: SessionFolder) -> _Known:
        known = self._known.setdefault(folder.name, _Known())
        self._known.move_to_end(folder.name)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return known

    async def _thread(self, work: Callable[[], T]) -> T:
        """Do what blocks in a thread.

        Raises:
            SessionsRefused: the session, its journal or the machine stands in the way; in words of those.
        """
        try:
            return await asyncio.to_thread(work)
        except (SessionError, JournalError) as error:
            raise SessionsRefused(str(error)) from error
