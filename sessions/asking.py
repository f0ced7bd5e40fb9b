"""One query to a language model: prompt, reservation, response store, answer."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from sessions import budget, replies, tool_rounds, tool_talk
from sessions import facts as f
from sessions.agent_tools import TOOLS
from sessions.budget import UNPAID, Room
from sessions.ids import query_id
from sessions.journal import key_of
from sessions.live import REPLY
from sessions.models import thinking
from sessions.models.port import (
    MAX_TOKENS,
    ModelFailed,
    ModelRefused,
    NoAnswerYet,
    ReplayMiss,
    Request,
)
from sessions.recorder import Entry
from sessions.samples import prompt_hash
from sessions.steering import IDEAS_MODEL, model_of, shaping, words_of
from sessions.steps import Reserve, attempts_of, below_ban, history, next_step, opening
from sessions.telling import told
from strategies import fixing
from strategies.fixing import FIX_MODEL, IMPROVE_MODEL
from strategies.prompting import build
from strategies.protocol import Agent, Context, PromptRole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sessions.model import QueryRecord, State, TrajectoryRecord
    from sessions.models.port import LanguageModel, Reply
    from sessions.models.tools import Round
    from sessions.parts import Parts
    from strategies.protocol import Prompt

    Pause = Callable[[State], f.Paused | None]

log = logging.getLogger(__name__)

FAILURES = 3
"""Failed queries in a row that pause a session."""
AGAIN_S = 0.5
"""Between two looks for an answer that comes from outside."""
_OFFERED = json.dumps([asdict(tool) for tool in TOOLS])
"""The tools, about as long as a vendor is told of them."""
_DOING = {"IBA": "ideas", "COA": "writing", "EFA": "fixing"}
_ROLE = {Agent.IBA: IDEAS_MODEL, Agent.COA: IMPROVE_MODEL, Agent.EFA: FIX_MODEL}
"""The configured role whose model an agent asks."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A query about to be reserved."""

    record: TrajectoryRecord
    reserve: Reserve
    prompt: Prompt
    model: str
    said: dict[str, str]
    """The steers that shape it, by id, with their words."""
    estimate_usd: float | None
    agent: str
    thinking: str
    round: int
    """0: no tools are offered."""
    last_round: bool


class Asking:
    """Asks language models for trajectories."""

    def __init__(self, parts: Parts) -> None:
        """Share the engine's parts."""
        self._parts = parts
        self._prompts: dict[str, Prompt] = {}

    async def reserve(self, record: TrajectoryRecord, reserve: Reserve, place: int) -> Room:
        """Write `query_sent` if the budget has room; say what stands in the way otherwise.

        `Room.WAIT` also where a pause or a ban came first: look again.
        """
        draft = await self._draft(record, reserve, place)
        said = Room.YES

        def decide(state: State) -> Entry | None:
            nonlocal said
            said = self._room(state, draft)
            return self._sent(state, draft) if said is Room.YES else None

        await self._parts.recorder.decide(decide)
        return said

    async def ask(self, record: TrajectoryRecord, name: str) -> None:
        """Get a reserved query's answer, from the store or the model, and write how it ended."""
        query = self._parts.state.queries[name]
        model = self._parts.models[query.model]
        prompt = self._prompts.pop(name, None) or await self._rebuilt(record, query)
        stored = await self._parts.recorder.journal.stored_reply(
            query.model, prompt_hash(query.prompt_key, {}), query.sample
        )
        if stored is not None:
            await self._parts.recorder.write(replies.replayed(name, stored))
            return
        target = _target(record)
        self._parts.live.agent(query.agent, _DOING[prompt.agent.value], target)
        try:
            await self._answer(record, query, model, prompt)
        finally:
            self._parts.live.agent_done(query.agent)

    async def _answer(
        self, record: TrajectoryRecord, query: QueryRecord, model: LanguageModel, prompt: Prompt
    ) -> None:
        parts, began = self._parts, self._parts.clock.now()
        request = await self._request(record, query, prompt)
        try:
            reply = await self._patient(thinking.bound(model, query.thinking), request, query)
        except (ModelRefused, ReplayMiss) as error:
            await self._refused(query, parts.redactor.text(str(error)), error.code)
        except ModelFailed as error:
            await self._failed(query, parts.redactor.text(str(error)), error.code)
        except Exception as error:
            log.exception("query %s", query.id)
            await self._failed(
                query, parts.redactor.text(f"{type(error).__name__}: {error}"), "other"
            )
        else:
            if reply is not None:
                await self._done(query, reply, parts.clock.now() - began)

    async def _request(
        self, record: TrajectoryRecord, query: QueryRecord, prompt: Prompt
    ) -> Request:
        """Return what a model is asked; in a further round, the first prompt and all that was said since."""
        state, position = self._parts.state, record.proposal.meta.get("position")
        rounds, sample, words = tool_rounds.earlier(state, query), query.sample, ""
        if rounds:
            first = await self._parts.library.text(rounds[0].prompt_key)
            prompt, sample = replace(prompt, text=first), rounds[0].sample
            words = tool_talk.said_besides(state, query, rounds)
        return Request(
            prompt=replace(prompt, context=replace(prompt.context, sample=sample)),
            proposal=record.proposal.id,
            step=query.step,
            query=query.id,
            position=position if isinstance(position, int) else None,
            sample=sample,
            tools=TOOLS if query.round else (),
            rounds=await self._talk(rounds, words),
            last_round=query.last_round,
        )

    async def _patient(
        self, model: LanguageModel, request: Request, query: QueryRecord
    ) -> Reply | None:
        """Ask until an answer from outside is there; None if the query ended meanwhile."""
        live, agent = self._parts.live, query.agent
        try:
            while not query.end:
                try:
                    return await model.answer(
                        request,
                        lambda text: live.stream(agent, self._parts.redactor.text(text)),
                        lambda note: live.note(agent, note),
                    )
                except NoAnswerYet as error:
                    await self._wait_outside(query, error)
        finally:
            live.wait_for(query.id, "")
        return None

    async def _wait_outside(self, query: QueryRecord, missing: NoAnswerYet) -> None:
        """Let some time pass; a query that a ban makes pointless is not waited for."""
        parts = self._parts
        if below_ban(parts.state, parts.state.trajectories[query.proposal]):
            failed = f.QueryFailed(query.id, "no longer wanted: banned", "cancelled", counts=False)
            await parts.recorder.decide(lambda _: None if query.end else Entry((failed,)))
            return
        parts.live.note(query.agent, str(missing))
        parts.live.wait_for(query.id, "" if missing.soon else REPLY)
        with parts.gate.waiting():
            await parts.clock.sleep(AGAIN_S)

    async def _done(self, query: QueryRecord, reply: Reply, seconds: float) -> None:
        entry = replies.kept(query, replies.clean(reply, self._parts.redactor), seconds)
        await self._parts.recorder.decide(lambda _: None if query.end else entry)

    async def _refused(self, query: QueryRecord, cause: str, code: str) -> None:
        """Not a query: the session pauses, and says why."""
        failed = f.QueryFailed(query.id, cause, code, counts=False)
        await self._end(failed, lambda _: f.Paused(cause, code))

    async def _failed(self, query: QueryRecord, cause: str, code: str) -> None:
        failed = f.QueryFailed(query.id, cause, code, counts=True)

        def paused(state: State) -> f.Paused | None:
            if state.failures_in_a_row + 1 < FAILURES:
                return None
            text = f"{FAILURES} queries failed in a row, the last: {cause}"
            return f.Paused(text, "queries_failed")

        await self._end(failed, paused)

    async def _end(self, failed: f.QueryFailed, pause: Pause) -> None:
        def decide(state: State) -> Entry:
            paused = pause(state) if self._parts.gate.is_open else None
            if paused is not None:
                self._parts.gate.close()
            return Entry((failed, paused) if paused else (failed,))

        await self._parts.recorder.decide(decide)

    def _room(self, state: State, draft: Draft) -> Room:
        """Return whether the draft may become a query now; the state may have moved on since it was written."""
        record = draft.record
        stale = next_step(state, record, self._parts.rules) != draft.reserve
        stale = stale or _said(state, record, draft.reserve) != draft.said
        stale = stale or _model(state, record, draft.reserve) != draft.model
        stale = stale or self._round(record, draft.reserve) != (draft.round, draft.last_round)
        if stale or record.closed or below_ban(state, record) or not self._parts.gate.is_open:
            return Room.WAIT
        return budget.room(
            state,
            self._parts.clock.now(),
            reserved=not record.queries and record.proposal.role not in UNPAID,
            estimate_usd=draft.estimate_usd,
        )

    def _sent(self, state: State, draft: Draft) -> Entry:
        name = query_id(state.last_number + 1)
        text = draft.prompt.text
        record, step, key = draft.record, draft.reserve.step, key_of(text)
        sample = self._parts.samples.number(draft.model, key, record.proposal.id, step)
        self._parts.samples.keep(draft.model, key, record.proposal.id, step, sample)
        self._prompts[name] = draft.prompt
        sent = f.QuerySent(
            query=name,
            proposal=record.proposal.id,
            step=step,
            role=draft.prompt.role.value,
            agent=draft.agent,
            model=draft.model,
            prompt_key=key,
            sample=sample,
            reserved_usd=draft.estimate_usd,
            steers=list(draft.said),
            thinking=draft.thinking,
            round=draft.round,
            last_round=draft.last_round,
        )
        return Entry((sent,), texts=(text,))

    async def _draft(self, record: TrajectoryRecord, reserve: Reserve, place: int) -> Draft:
        state = self._parts.state
        said, model = _said(state, record, reserve), _model(state, record, reserve)
        number, last = self._round(record, reserve)
        prompt = await self._drafted(record, reserve, said, number, last=last)
        whole = await self._whole(record, reserve, prompt, number)
        level = self._parts.opened.thinking.get(_ROLE[prompt.agent], "")
        return Draft(
            record=record,
            reserve=reserve,
            prompt=prompt,
            model=model,
            said=said,
            estimate_usd=_estimate_usd(self._parts.models[model], level, whole),
            agent=f"{prompt.agent.value}-{place}",
            thinking=level,
            round=number,
            last_round=last,
        )

    def _round(self, record: TrajectoryRecord, reserve: Reserve) -> tuple[int, bool]:
        """Return a query's number among the rounds of its step, 0 where no tools are offered, and if it must answer."""
        state = self._parts.state
        last = tool_rounds.must_answer(state, record, reserve.round)
        if reserve.round > 1:
            return reserve.round, last
        model = self._parts.models[_model(state, record, reserve)]
        offered = not last and model.calls_tools and reserve.role is not PromptRole.IDEAS
        return int(offered and tool_rounds.limit(state) > 0), False

    async def _drafted(
        self,
        record: TrajectoryRecord,
        reserve: Reserve,
        said: dict[str, str],
        number: int,
        *,
        last: bool,
    ) -> Prompt:
        if reserve.round == 1:
            return await self._prompt(record, reserve, said.values(), tools=bool(number))
        state = self._parts.state
        rounds = tool_rounds.before(state, record, reserve.step)
        words = tool_rounds.words(state, list(said), state.seq + 1, rounds)
        told = tool_talk.besides(words, last=last)
        text = tool_talk.text_of(number, await self._talk(rounds, told))
        return replace(await self._rebuilt(record, rounds[0]), text=text)

    async def _talk(self, rounds: Sequence[QueryRecord], words: str) -> tuple[Round, ...]:
        parts = self._parts
        talk = await tool_talk.rounds(parts.state, parts.library, rounds, words)
        return tuple(replace(one, words=parts.redactor.text(one.words)) for one in talk)

    async def _whole(
        self, record: TrajectoryRecord, reserve: Reserve, prompt: Prompt, number: int
    ) -> Prompt:
        """Return a prompt with all that goes to the model with it, for what it costs."""
        if not number:
            return prompt
        library, keys = self._parts.library, list[str]()
        if reserve.round > 1:
            rounds = tool_rounds.before(self._parts.state, record, reserve.step)
            keys = [rounds[0].prompt_key, *(one.turn_key for one in rounds)]
            keys += [call.result_key for one in rounds for call in one.calls]
        texts = [await library.text(key) for key in keys]
        return replace(prompt, text="\n".join([*texts, prompt.text, _OFFERED]))

    async def _rebuilt(self, record: TrajectoryRecord, query: QueryRecord) -> Prompt:
        """Return the prompt of a query that an earlier engine sent, or the first one of a further round's step."""
        state = self._parts.state
        rounds = tool_rounds.earlier(state, query)
        query = rounds[0] if rounds else query
        said = [words_of(state.steers[s], query.seq) for s in query.steers]
        steps, role = history(state, record), PromptRole(query.role)
        last = steps[-1] if steps else None
        fault = last.fault if isinstance(last, fixing.Unusable) else ""
        again_of = None
        if role is PromptRole.AGAIN:
            again_of = fixing.asked(steps, opening(record.proposal.role))
        reserve = Reserve(query.step, role, query.model, fault, again_of)
        return await self._prompt(record, reserve, said, tools=query.round > 0)

    async def _prompt(
        self, record: TrajectoryRecord, reserve: Reserve, said: Iterable[str], *, tools: bool
    ) -> Prompt:
        context = await self._context(record, reserve, [words for words in said if words])
        if tools:
            context = replace(context, tool_rounds=tool_rounds.limit(self._parts.state))
        prompt = build(reserve.role, context, self._parts.templates)
        stable, _ = prompt.parts
        text, shown = map(self._parts.redactor.text, (prompt.text, stable))
        return replace(prompt, text=text, stable=len(shown) if text.startswith(shown) else 0)

    async def _context(
        self, record: TrajectoryRecord, reserve: Reserve, guides: Sequence[str]
    ) -> Context:
        parts, proposal = self._parts, record.proposal
        baseline, opened = parts.state.baseline, parts.opened
        library = parts.library
        shown = attempts_of(parts.state, record)[-(parts.settings.fix_memory + 1) :]
        device = baseline.device if baseline else opened.device
        tells = told(parts.state, record, reserve.again_of or reserve.role)
        return Context(
            task_id=opened.task,
            original=await library.original(),
            device="cuda" if device.startswith("cuda") else "cpu",
            device_name=baseline.device_name if baseline else "",
            languages=parts.languages,
            precision=opened.precision,
            tolerance=opened.tolerance,
            parent=await library.candidate(proposal.parent),
            inspirations=tuple([await library.candidate(name) for name in proposal.inspirations]),
            idea=proposal.idea,
            attempts=tuple([await library.attempt(attempt) for attempt in shown]),
            guides=tuple(guides),
            instructions=opened.instructions,
            known=tells.known,
            notes=tells.notes,
            reply_fault=reserve.fault,
            again_of=reserve.again_of,
        )


def _estimate_usd(model: LanguageModel, level: str, prompt: Prompt) -> float | None:
    """Return what a query may cost; one whose thinking will be refused costs what it would without."""
    try:
        model = thinking.bound(model, level)
    except ModelRefused as error:
        log.warning("%s", error)
    return model.estimate_usd(prompt, MAX_TOKENS)


def _said(state: State, record: TrajectoryRecord, reserve: Reserve) -> dict[str, str]:
    said = {s.id: words_of(s) for s in shaping(state, record, reserve.model)}
    if reserve.round == 1:
        return said
    return tool_rounds.said(state, tool_rounds.before(state, record, reserve.step), said)


def _model(state: State, record: TrajectoryRecord, reserve: Reserve) -> str:
    """Return the model that is asked; all rounds of a step are asked of one."""
    return reserve.model if reserve.round > 1 else model_of(state, record, reserve.model)


def _target(record: TrajectoryRecord) -> str:
    return record.attempts[-1] if record.attempts else record.proposal.id
