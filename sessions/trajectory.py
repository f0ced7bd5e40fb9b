"""One proposal through COA, evaluator and EFA: carries out what `steps.next_step` says, until it is closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from sessions import facts as f
from sessions import plain_start, steps, tool_rounds, tool_talk
from sessions.answers_on_candidates import HUMAN
from sessions.asking import Asking
from sessions.budget import UNPAID, Room
from sessions.ids import candidate_id, number_of
from sessions.journal import key_of
from sessions.judging import Judging
from sessions.models.port import Finish
from sessions.models.tools import of_text
from sessions.profiling import Profiling
from sessions.recorder import Entry
from sessions.tool_use import SPENT, Using
from strategies import reply
from strategies.fixing import Unusable
from strategies.protocol import Reason, Role

if TYPE_CHECKING:
    from sessions.model import QueryRecord, State, TrajectoryRecord
    from sessions.parts import Parts

NO_IDEAS = "The answer held no ideas."


@dataclass(slots=True)
class Places:
    """Who holds which place: `COA-3` works at the third."""

    taken: set[int]

    def take(self) -> int:
        """Return the lowest free place."""
        number = next(n for n in range(1, len(self.taken) + 2) if n not in self.taken)
        self.taken.add(number)
        return number

    def free(self, number: int) -> None:
        """Give a place back."""
        self.taken.discard(number)


class Trajectories:
    """Runs trajectories."""

    def __init__(self, parts: Parts) -> None:
        """Share the engine's parts."""
        self._parts = parts
        self._asking = Asking(parts)
        self._judging = Judging(parts)
        self._profiling = Profiling(parts, self._judging)
        self._using = Using(parts, self._judging)
        self._places = Places(set())

    async def run(self, proposal: str) -> None:
        """Carry a started proposal to its end."""
        record = self._parts.state.trajectories[proposal]
        place = self._places.take()
        try:
            with self._parts.gate.task():
                while not record.closed:
                    await self._step(record, place)
        finally:
            self._places.free(place)

    async def _step(self, record: TrajectoryRecord, place: int) -> None:  # noqa: C901 - one switch over every step
        parts = self._parts
        step = steps.next_step(parts.state, record, parts.rules)
        if steps.is_call(step) and not parts.gate.is_open:
            await parts.gate.enter()
            return
        match step:
            case steps.Look():
                await self._profiling.look(step.candidate, f"COA-{place}")
            case steps.Reserve():
                await self._reserve(record, step, place)
            case steps.Ask():
                await self._asking.ask(record, step.query)
            case steps.Use():
                await self._using.use(record, step.query, step.call)
            case steps.Read():
                await self._read(record, step.query)
            case steps.Submit():
                await self._submit(record)
            case steps.Evaluate():
                await self._judging.evaluate(step.candidate, self._agent(record, place))
            case steps.Commit():
                await self._judging.commit(step.candidate)
            case steps.End():
                await self._close(record, step.reason, works=step.works)
            case _:
                assert_never(step)

    async def _reserve(self, record: TrajectoryRecord, step: steps.Reserve, place: int) -> None:
        room = await self._asking.reserve(record, step, place)
        match room:
            case Room.YES:
                return
            case Room.WAIT:
                await self._wait()
            case Room.QUERIES | Room.COST | Room.HOURS:
                if room is not Room.QUERIES:
                    self._parts.out_of = self._parts.out_of or room.value
                if step.round > 1:
                    await self._using.end(record.queries[-1], SPENT[room])
                else:
                    await self._close(record, Reason.BUDGET)
            case _:
                assert_never(room)

    async def _wait(self) -> None:
        """Wait for a reservation to come back, or for the search to go on."""
        parts = self._parts
        if parts.gate.is_open and parts.state.spending.cost_reserved_usd > 0:
            with parts.gate.waiting():
                await parts.recorder.changed()

    async def _read(self, record: TrajectoryRecord, name: str) -> None:
        query = self._parts.state.queries[name]
        text = await self._parts.library.text(query.reply_key) if query.reply_key else ""
        if record.proposal.role is Role.IDEAS:
            await self._read_ideas(record, name, text)
            return
        found = await self._found(query, text)
        if isinstance(found, reply.Found):
            agent = query.agent.partition("-")[0]
            await self._attempt(record, found.source, query=name, author=agent)
        else:
            fact = f.Unusable(name, record.proposal.id, query.step, found.fault)
            await self._parts.recorder.write(fact)

    async def _found(self, query: QueryRecord, text: str) -> reply.Found | Unusable:
        """Return the candidate of an answer; where it holds none, the last file seen in the rounds of its step."""
        found = reply.candidate(text, cut_off=query.finish == Finish.LENGTH)
        rounds = [*tool_rounds.earlier(self._parts.state, query), *([query] if query.calls else [])]
        if not rounds or (isinstance(found, reply.Found) and not query.calls):
            return found
        turns = [of_text(await self._parts.library.text(one.turn_key)) for one in rounds]
        source = tool_talk.last_file(turns)
        if source is not None:
            return reply.Found(source)
        return found if query.reply_key else Unusable(steps.UNANSWERED)

    async def _read_ideas(self, record: TrajectoryRecord, name: str, text: str) -> None:
        ideas = list(reply.ideas(text))
        if ideas:
            await self._close(record, Reason.WORKS, ideas=ideas)
        else:
            await self._parts.recorder.write(f.Unusable(name, record.proposal.id, 0, NO_IDEAS))

    async def _submit(self, record: TrajectoryRecord) -> None:
        source = await self._parts.library.text(str(record.proposal.meta["source_key"]))
        await self._attempt(record, source, query="", author=_author(record))

    async def _attempt(
        self, record: TrajectoryRecord, source: str, *, query: str, author: str
    ) -> None:
        step = self._parts.state.queries[query].step if query else 0

        def decide(state: State) -> Entry:
            number = number_of(query) if query else state.last_number + 1
            attempt = f.AttemptMade(
                candidate=candidate_id(number),
                parent=record.attempts[-1] if record.attempts else record.proposal.parent,
                proposal=record.proposal.id,
                step=step,
                lineage=record.lineage,
                source_key=key_of(source),
                query=query,
                author=author,
                change=(record.proposal.idea if not query else None) or reply.change(source),
            )
            return Entry((attempt,), texts=(source,))

        await self._parts.recorder.decide(decide)

    async def _close(
        self,
        record: TrajectoryRecord,
        reason: Reason,
        *,
        works: str = "",
        ideas: list[str] | None = None,
    ) -> None:
        def decide(_: State) -> Entry | None:
            if record.closed:
                return None
            return Entry((f.Closed(record.proposal.id, reason.value, works, ideas or []),))

        await self._parts.recorder.decide(decide)

    def _agent(self, record: TrajectoryRecord, place: int) -> str:
        if record.agent:
            return record.agent
        if record.proposal.role is Role.PLAIN:
            return plain_start.AUTHOR
        return _author(record) if record.proposal.role in UNPAID else f"COA-{place}"


def _author(record: TrajectoryRecord) -> str:
    return str(record.proposal.meta.get("author") or HUMAN)
