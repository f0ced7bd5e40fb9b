"""The tools that models call within a step: each call becomes a job of the session's evaluator, and a fact.

What is wrong with a call is told to the model as its result; a round was paid for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions import facts as f
from sessions.agent_tools import CANDIDATE, SOURCE, TASK, TOOLS
from sessions.budget import Room
from sessions.errors import EvaluatorError
from sessions.journal import key_of
from sessions.models.tools import CALLS_LIMIT, of_text
from sessions.recorder import Entry
from sessions.replies import WORD_LIMIT
from sessions.verdicts import headline
from strategies.reply import SOURCE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.judging import Judging
    from sessions.model import QueryRecord, State, TrajectoryRecord
    from sessions.models.tools import Call
    from sessions.parts import Parts

RESULT_BYTES = 8_000
"""Of what a model is told of one call, as the MCP server tells agents."""
SAID = 160
"""Characters of its first line, for lists."""
_NAMES = tuple(tool.name for tool in TOOLS)
_OWN_IDS = ("candidate_id:", "job_id:", "build_log_id:", "output_id:", "evidence_id:")
"""Lines of a result that name what only the evaluator knows."""
_KNOWN = ("machine", "floors", "baselines", "builds")
SPENT = {
    Room.QUERIES: "no query is left",
    Room.COST: "the money is used up",
    Room.HOURS: "the hours are used up",
}
"""Why a step has no further round."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a call came to."""

    text: str
    ok: bool


class Using:
    """Calls tools for models."""

    def __init__(self, parts: Parts, judging: Judging) -> None:
        """Share the engine's parts, and its places in the evaluator."""
        self._parts, self._judging = parts, judging

    async def use(self, record: TrajectoryRecord, name: str, place: int) -> None:
        """Write what a call of an answer comes to; `pause --now` ends this without.

        Where no further round could be paid, the rounds end instead.
        """
        state, query = self._parts.state, self._parts.state.queries[name]
        left = budget.room(state, self._parts.clock.now(), reserved=False, estimate_usd=0.0)
        if left in SPENT:
            await self.end(name, SPENT[left])
        else:
            await self._judging.interruptible(self._use(record, query, place))

    async def end(self, name: str, cause: str) -> None:
        """Write that a step has no further round."""
        ended = f.RoundsEnded(name, cause)
        await self._parts.recorder.decide(
            lambda state: None if state.queries[name].cut_short else Entry((ended,))
        )

    async def _use(self, record: TrajectoryRecord, query: QueryRecord, place: int) -> None:
        parts, began = self._parts, self._parts.clock.now()
        call = of_text(await parts.library.text(query.turn_key)).calls[place]
        told = await self._told(record, query, call, place)
        text = _clipped(parts.redactor.text(told.text))
        fact = f.ToolAnswered(
            query=query.id,
            call=place,
            agent=query.agent,
            tool=call.name[:WORD_LIMIT],
            ok=told.ok,
            said=text.partition("\n")[0][:SAID],
            result_key=key_of(text),
            seconds=round(parts.clock.now() - began, 3),
        )

        def decide(state: State) -> Entry | None:
            done = state.queries[query.id].calls[place].answered
            return None if done else Entry((fact,), texts=(text,))

        await parts.recorder.decide(decide)

    async def _told(
        self, record: TrajectoryRecord, query: QueryRecord, call: Call, place: int
    ) -> Told:
        wrong = _wrong(call, place)
        if wrong:
            return Told(wrong, ok=False)
        assert call.arguments is not None
        if call.name == TASK:
            return await self._task()
        if call.arguments.get(CANDIDATE):
            return await self._earlier(record, query, call, str(call.arguments[CANDIDATE]))
        name = handle(query.id, place)
        return await self._evaluated(query, call.name, name, str(call.arguments[SOURCE]))

    async def _earlier(
        self, record: TrajectoryRecord, query: QueryRecord, call: Call, name: str
    ) -> Told:
        source = await self._source_of(record, name)
        if source is None:
            known = "no earlier result has this candidate_id; give the file as source"
            return Told(f"{call.name}: {known}.", ok=False)
        return await self._evaluated(query, call.name, name, source)

    async def _source_of(self, record: TrajectoryRecord, name: str) -> str | None:
        """Return the file that an earlier call of the trajectory handed in."""
        query, _, number = name.partition("-")
        if query not in record.queries or not number.isdecimal():
            return None
        asked, place = self._parts.state.queries[query], int(number) - 1
        if not 0 <= place < len(asked.calls) or not asked.calls[place].answered:
            return None
        call = of_text(await self._parts.library.text(asked.turn_key)).calls[place]
        source = (call.arguments or {}).get(SOURCE)
        return source if isinstance(source, str) and not _wrong(call, place) else None

    async def _evaluated(self, query: QueryRecord, tool: str, name: str, source: str) -> Told:
        ask = replace(self._judging.ask_for(name, source), tool=tool, beat=None)
        async with self._judging.place(name, query.agent):
            result = await self._judging.result_of(ask, query.agent, record=False)
        shown = str(result.get("shown") or headline(result))
        return Told(_with_handle(shown, name), ok=result.get("status") == "ok")

    async def _task(self) -> Told:
        opened = self._parts.opened
        try:
            page = await self._parts.evaluator.task(opened.task)
        except EvaluatorError as error:
            return Told(f"{TASK}: {error}", ok=False)
        return Told(
            "\n".join([f"{opened.task}, whose source stands above", *_lines(page)]), ok=True
        )


def handle(query: str, place: int) -> str:
    """Return the candidate_id of what a call handed in: `q12-1`, the same whenever it is asked for."""
    return f"{query}-{place + 1}"


def _wrong(call: Call, place: int) -> str:
    """Return what is wrong with a call, in one sentence to the model; empty: nothing."""
    if place >= CALLS_LIMIT:
        return f"Not carried out: a reply may hold {CALLS_LIMIT} calls."
    if call.name not in _NAMES:
        return f"There is no tool {call.name[:80]!r}: there are {', '.join(_NAMES)}."
    if call.arguments is None:
        return f"{call.name}: the arguments are no JSON object."
    if call.name == TASK:
        return ""
    return _wrong_file(call, call.arguments)


def _wrong_file(call: Call, arguments: Mapping[str, Any]) -> str:
    source, name = arguments.get(SOURCE), arguments.get(CANDIDATE)
    takes_name = any(
        tool.name == call.name and CANDIDATE in tool.parameters["properties"] for tool in TOOLS
    )
    if takes_name and isinstance(name, str) and name:
        return ""
    if not isinstance(source, str) or not source.strip():
        other = f", or {CANDIDATE}" if takes_name else ""
        return f"{call.name} needs {SOURCE}, a whole Python file with class ModelNew{other}."
    if len(source) > SOURCE_LIMIT:
        return f"{call.name}: the file is over {SOURCE_LIMIT:,} characters. Write a shorter one."
    return ""


def _with_handle(shown: str, name: str) -> str:
    """Return a result under our own name for its candidate, which holds after the evaluator's is forgotten."""
    first, *rest = shown.splitlines() or [""]
    kept = [line for line in rest if not line.startswith(_OWN_IDS)]
    return "\n".join([first, f"{CANDIDATE}: {name}", *kept])


def _lines(page: Mapping[str, Any]) -> Iterable[str]:
    for name in _KNOWN:
        found = [str(line) for line in page.get(name) or ()]
        if found:
            yield "\n- ".join([f"{name}:", *found])


def _clipped(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return data[:RESULT_BYTES].decode("utf-8", "ignore")
