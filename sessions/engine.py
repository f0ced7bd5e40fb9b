"""The running search: propose, dispatch, record, absorb; one process, one session.

```
loop:  obey commands ─▶ measure the original ─▶ propose ─▶ start what has a place ─▶ nothing open: finish
          ▲                                                        │
          └──────────── the next fact, a command, a tick ◀── trajectories (trajectory.py)
```
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sessions import budget, commands, control, informing, plain_start, proposing, stepping
from sessions import facts as f
from sessions.baseline import commit_original, measure_original, remeasure
from sessions.clock import Clock, SystemClock
from sessions.errors import LineageError, SessionError, StorageFailed
from sessions.fold import fold
from sessions.gate import Gate
from sessions.judging import Judging
from sessions.library import Library
from sessions.live import Live
from sessions.model import WAITING
from sessions.parts import Parts
from sessions.recorder import Entry, Recorder
from sessions.recovery import lost_queries, revival
from sessions.redact import Redactor
from sessions.samples import Samples
from sessions.states import ENDED, SessionState
from sessions.storage import put_ballast
from sessions.ticking import Ticker
from sessions.trajectory import Trajectories

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from sessions.evaluator import Evaluator
    from sessions.folder import SessionFolder
    from sessions.journal import Journal
    from sessions.lineage import Lineages
    from sessions.model import State
    from sessions.models.port import LanguageModel
    from strategies.protocol import Language, Strategy
    from strategies.templates import Templates

log = logging.getLogger(__name__)

MEASURE, INFORM, FINISH = "measure", "inform", "finish"
"""Tasks of the engine's own, beside one per trajectory."""


class Engine:
    """Runs one session until it is finished or stopped. Closes all it was given."""

    def __init__(
        self,
        folder: SessionFolder,
        journal: Journal,
        strategy: Strategy,
        models: Mapping[str, LanguageModel],
        evaluator: Evaluator,
        lineage: Lineages,
        templates: Templates,
        languages: Sequence[Language] = (),
        clock: Clock | None = None,
        *,
        open_model: Callable[[str], LanguageModel] | None = None,
        redactor: Redactor | None = None,
        notify: Callable[[SessionState, str], None] | None = None,
        step: bool = False,
    ) -> None:
        """Take the parts; `run` reads the journal.

        `models`: by the names that the facts hold. `open_model`: opens one that a person names later; it may raise.
        `notify`: told when the search pauses by itself or ends, and, while it goes on, when it needs its person.
        `step`: end where only others can go on: with an answer, an evaluator, a resume.
        """
        self._step, self._stillness = step, stepping.Stillness()
        self._folder, self._journal, self._strategy = folder, journal, strategy
        self._models, self._evaluator, self._lineages = dict(models), evaluator, lineage
        self._open_model = open_model
        self._templates, self._languages = templates, tuple(languages)
        self._clock: Clock = clock or SystemClock()
        self._redactor = redactor or Redactor()
        self._notify = _silent if notify is None else notify
        self._fresh = strategy.dump()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._due = True
        """Whether the strategy must be asked, whatever closed."""
        self.stop: control.Stop | None = None
        """That a person wants the engine to end."""

    async def run(self) -> SessionState:
        """Carry the search on from its facts; return how it ended.

        Raises:
            SessionError: git is missing, the journal cannot be written.
            StateRefused: the strategy's state is of a newer version.
        """
        try:
            state = fold(await self._journal.facts())
            self.parts = self._assemble(state)
            self._trajectories = Trajectories(self.parts)
            await self._prepare()
            if state.state not in ENDED:
                await self._search()
            return state.state
        finally:
            await self._close()

    @property
    def seats(self) -> int:
        """Candidates that may be pinned at once."""
        return self._strategy.seats

    @property
    def state(self) -> State:
        """The session, folded."""
        return self.parts.state

    def beat(self) -> None:
        """Look around, once a second: one step ends where nothing happens any more."""
        if self._step:
            self.parts.recorder.nudge()

    async def pause(self, cause: str, code: str, author: str = "", *, now: bool = False) -> None:
        """Let nothing new start, and say why."""
        self.parts.gate.close()
        fact = f.Paused(cause, code, author, now)

        def decide(state: State) -> Entry | None:
            return Entry((fact,)) if state.state is SessionState.RUNNING else None

        await self.parts.recorder.decide(decide)

    def go_on(self) -> None:
        """Let calls start again."""
        self.parts.recorder.full = ""
        self.parts.gate.open()
        self._due = True

    def steered(self) -> None:
        """A steer was applied: the strategy is asked again, and a raised budget counts."""
        self.parts.out_of = ""
        self._due = True

    def tell(self, question: str) -> None:
        """Tell the person's command what a search that goes on asks."""
        self._notify(SessionState.RUNNING, question)

    def cancel_evaluations(self) -> None:
        """End the evaluations under way; they are done again when the search goes on."""
        for task in list(self.parts.evaluations):
            task.cancel()

    def cancel_tasks(self) -> None:
        """End everything under way."""
        for task in self._tasks.values():
            task.cancel()

    def _assemble(self, state: State) -> Parts:
        ballast = self._folder.ballast
        recorder = Recorder(self._journal, self._clock, state, ballast, self._recorded)
        return Parts(
            folder=self._folder,
            recorder=recorder,
            library=Library(recorder),
            models=self._models,
            open_model=self._open_model,
            evaluator=self._evaluator,
            lineages=self._lineages,
            templates=self._templates,
            languages=self._languages,
            settings=self._strategy.settings,
            clock=self._clock,
            gate=Gate(recorder.nudge),
            live=Live(self._clock),
            redactor=self._redactor,
            samples=Samples(state.queries.values()),
            bench=asyncio.Semaphore(max(1, self._evaluator.places)),
        )

    async def _prepare(self) -> None:
        """Mend what an earlier engine left, and take up where it was."""
        parts, state = self.parts, self.state
        try:
            put_ballast(self._folder.ballast)
        except OSError as error:
            log.warning("no room is held back for a full disk: %s", error)
        try:
            await parts.lineages.prepare()
            await commit_original(parts)
        except LineageError as error:
            raise LineageError(control.lineage_trouble(self._folder, error)[0]) from error
        commands = await self._journal.commands()
        revived = revival(state, commands)
        bodies = [*lost_queries(state, self._models), *([revived] if revived else [])]
        if bodies:
            await parts.recorder.write(*bodies)
        self._load()
        if state.state is SessionState.RUNNING:
            parts.gate.open()
        for command in commands:
            await control.obey(self, command)

    def _load(self) -> None:
        self._strategy.load(self.state.dump if self.state.dump is not None else self._fresh)

    async def _search(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                ticker = group.create_task(Ticker(self).run())
                try:
                    await self._loop()
                finally:
                    ticker.cancel()
                    self.cancel_tasks()
        except* SessionError as errors:
            raise errors.exceptions[0] from None

    async def _loop(self) -> None:
        while self.state.state not in ENDED:
            event = self.parts.recorder.event
            await self._obey()
            if self.stop is not None:
                await self._try_to_stop(self.stop)
            elif self.state.state is SessionState.RUNNING:
                await self._advance()
                stepping.tell(self.parts, hopes=self._strategy.waits)
            if self._step and self._only_others_go_on():
                return
            if self.state.state not in ENDED:
                await event.wait()
        if self.state.state is SessionState.FINISHED:
            await self._lineages.tidy()
            self._notify(SessionState.FINISHED, self.state.cause)

    async def _obey(self) -> None:
        """Carry out what people asked, until nothing waits.

        A fact that was kept while the commands were read has it done again: what was asked before a trajectory closed
        is obeyed before anything follows from that.
        """
        while True:
            seq = self.state.seq
            asked = await self._journal.commands()
            for command in asked:
                await control.obey(self, command)
            if not asked and self.state.seq == seq:
                return

    def _only_others_go_on(self) -> bool:
        """Return whether a step is over; what is awaited becomes the reason to stop."""
        if self.state.state is SessionState.PAUSED:
            return not self.parts.gate.working
        still_s = self._stillness.seconds(self.state.seq, self.parts.clock.now())
        hopes = self._strategy.waits
        awaited = stepping.awaited(self.parts, len(self._tasks), waits=hopes, still_s=still_s)
        if awaited and self.stop is None and not self._asks:
            self._end(awaited, WAITING)
        return False

    def cut_short(self) -> None:
        """End at once, as far as a signal leaves time: what was under way is done again by the next engine."""
        if hasattr(self, "parts"):
            self.parts.gate.close()
            self._end("cut short by a signal", "cut")

    def _end(self, why: str, code: str) -> None:
        self.stop = control.Stop(commands.user(), now=True, why=why, code=code)
        self.parts.recorder.nudge()

    def _recorded(self, fact: f.Fact) -> None:
        """Tell of every pause that nobody asked for, whoever wrote it."""
        if isinstance(fact.body, f.Paused) and fact.body.by_itself:
            self._notify(SessionState.PAUSED, fact.body.cause)

    async def _advance(self) -> None:
        """Do all that can be done now."""
        parts, state = self.parts, self.state
        if parts.recorder.full:
            await self.pause(parts.recorder.full, "disk_full")
        elif state.baseline is None:
            self._begin(MEASURE, self._measure)
        elif informing.due(state):
            self._begin(INFORM, self._inform)
        else:
            parts.out_of = self._used_up() or parts.out_of
            if budget.grace_over(state, parts.clock.now()):
                await self._cut_off()
            await self._propose()
            await self._dispatch()
            if not state.open and not self._asks and (parts.out_of or not self._strategy.waits):
                self._begin(FINISH, self._finish)

    def _used_up(self) -> str:
        """Return the budget that the clock, or the last submission, used up."""
        now = self.parts.clock.now()
        if budget.hours_over(self.state, now):
            return "hours"
        if budget.attempts_left(self.state) == 0:
            return "attempts"
        return "idle" if budget.idle_over(self.state, now) else ""

    @property
    def _asks(self) -> bool:
        """Whether the strategy is to be asked."""
        return not self.parts.out_of and (self._due or bool(self.state.absorbed))

    async def _propose(self) -> None:
        if proposing.submission_due(self.state):
            await self.parts.recorder.write(proposing.submission(self.state))
            return
        if plain_start.due(self.state) and await plain_start.begin(self.parts):
            return
        if not self._asks or plain_start.under_way(self.state):
            return
        try:
            self._due = not await proposing.propose(self.parts, self._strategy)
        except StorageFailed:
            raise
        except Exception as error:  # the engine's step
            log.exception("the strategy")
            self._load()
            await self.pause(f"the strategy failed: {type(error).__name__}: {error}", "engine")

    async def _dispatch(self) -> None:
        """Start proposals in order as places fall free, and take up those begun by an earlier engine."""
        running = 0
        for record in proposing.in_line(self.state):
            name = record.proposal.id
            if not record.started and budget.shuts_out(self.parts.out_of, record.proposal.role):
                await self.parts.recorder.write(f.Closed(name, "budget"))
            elif running < self.parts.opened.places:
                running += 1
                if not record.started:
                    await self.parts.recorder.decide(proposing.starter(record))
                self._begin(name, lambda name=name: self._trajectories.run(name))

    async def _cut_off(self) -> None:
        """Close all that is still open: its hours and its grace are over."""
        await self._end_tasks()
        closed = [f.Closed(record.proposal.id, "budget") for record in self.state.open]
        lost = [f.QueryLost(query.id) for query in self.state.in_flight]
        if lost or closed:
            await self.parts.recorder.write(*lost, *closed)

    async def _end_tasks(self) -> None:
        waiting = list(self._tasks.values())
        self.cancel_tasks()
        if waiting:
            await asyncio.wait(waiting)

    def _begin(self, name: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Start a task that is not under way."""
        if name in self._tasks or not self.parts.gate.is_open:
            return
        task = self._group.create_task(self._guarded(name, work))
        self._tasks[name] = task
        if name in (MEASURE, INFORM, FINISH):
            self.parts.evaluations.add(task)
        task.add_done_callback(lambda _: self._ended(name, task))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(name, None)
        self.parts.evaluations.discard(task)
        self.parts.recorder.nudge()

    async def _guarded(self, name: str, work: Callable[[], Coroutine[None, None, None]]) -> None:
        try:
            await work()
        except StorageFailed:
            raise
        except LineageError as error:
            log.error("%s: %s", name, error)
            await self.pause(*control.lineage_trouble(self._folder, error))
        except Exception as error:
            log.exception("%s", name)
            await self.pause(f"the engine failed: {type(error).__name__}: {error}", "engine")

    async def _measure(self) -> None:
        parts = self.parts
        with parts.gate.task():
            await parts.gate.enter()
            fact = await measure_original(parts, Judging(parts))
        if isinstance(fact, f.Paused):
            await self.pause(fact.cause, fact.code)
        else:
            await parts.recorder.write(fact)

    async def _inform(self) -> None:
        parts = self.parts
        with parts.gate.task():
            await parts.gate.enter()
            await parts.recorder.write(await informing.ask(parts))

    async def _finish(self) -> None:
        parts = self.parts
        with parts.gate.task():
            await remeasure(parts, Judging(parts))
        fact = proposing.finished(parts)

        def decide(state: State) -> Entry | None:
            over = not state.open and not self._asks and state.state is SessionState.RUNNING
            return Entry((fact,)) if over else None

        await parts.recorder.decide(decide)

    async def _try_to_stop(self, stop: control.Stop) -> None:
        """End once nothing works any more; at once if so asked."""
        parts = self.parts
        if parts.gate.working and not stop.now:
            return
        await self._end_tasks()
        lost = lost_queries(self.state, self._models)
        await parts.recorder.write(*lost, stop.fact)

    async def _close(self) -> None:
        """Let go of everything, leaving a folder that can be copied."""
        try:
            for thing in (self._evaluator, *{id(m): m for m in self._models.values()}.values()):
                await _let_go(thing)
            if hasattr(self, "parts"):
                await control.leave(self)
            await self._lineages.close()
        finally:
            await self._journal.close()


async def _let_go(thing: Evaluator | LanguageModel) -> None:
    try:
        await thing.close()
    except Exception as error:  # noqa: BLE001 - the engine's step: what is over must not spoil how it ended
        log.warning("closing %s: %s", type(thing).__name__, error)


def _silent(state: SessionState, cause: str) -> None:
    """Tell nobody."""
