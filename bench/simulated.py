"""A world on a simulated clock: asyncio as it is, time that moves only when nothing else is left to do.

The engine runs unchanged: real strategy, real journal, real tasks. Its heartbeat rests, since nobody sends commands.
What a query or an evaluation takes is drawn by `bench.draws`; places and GPUs serve first in, first out.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench import draws
from sessions.journal import Journal
from sessions.lineage import Lineages, NewCommit
from sessions.models.port import Finish, Reply, Usage
from tests.fakes import SOURCE, verdict_on

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    from sessions.evaluator import Ask, OnStage
    from sessions.facts import Fact
    from sessions.models.port import OnNote, OnText, Request
    from strategies.protocol import Prompt

IDEAS = "\n".join(f"{n}. idea number {n}" for n in range(1, 11))


class SimulatedClock:
    """Seconds that pass only in `spend`."""

    def __init__(self) -> None:
        self._now = 0.0
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self.busy = 0
        """Calls that another thread works on: time stands still meanwhile."""
        self.exhausted: Callable[[], object] = lambda: None
        """Called, once, when nothing can happen any more."""
        self._told = False

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Rest for ever: only heartbeats ask."""
        del seconds
        await asyncio.Event().wait()

    async def spend(self, seconds: float) -> None:
        """Return when that much time has passed."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._waiting, (self._now + seconds, self._count, future))
        await future

    def advance(self) -> bool:
        """Go to the next moment at which something happens; once told that there is none, wait for the world."""
        while self._waiting:
            at, _, future = heapq.heappop(self._waiting)
            if not future.done():
                self._now = at
                future.set_result(None)
                return True
        if self._told:
            return False
        self._told = True
        self.exhausted()
        return True

    @contextmanager
    def working(self) -> Generator[None]:
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1


class _Selector(selectors.DefaultSelector):
    """Where a loop would wait for the world, lets the clock move instead."""

    clock: SimulatedClock

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if found or (timeout is not None and timeout <= 0):
            return found
        if self.clock.busy or not self.clock.advance():
            return super().select(timeout)
        return []


class _Loop(asyncio.SelectorEventLoop):
    """Does at once what others give to a thread, so that time cannot pass meanwhile."""

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        del executor
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)
        return future


def run(clock: SimulatedClock, work: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on the clock."""

    def loop() -> asyncio.AbstractEventLoop:
        selector = _Selector()
        selector.clock = clock
        return _Loop(selector)

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work)


@dataclass(frozen=True)
class Places:
    """What all tasks share."""

    model: int
    evaluation: int
    gpus: int


class World:
    """Model and evaluator places, GPUs, and what each takes."""

    def __init__(self, seed: int, places: Places, clock: SimulatedClock) -> None:
        self.seed, self.clock = seed, clock
        self._model = asyncio.Semaphore(places.model)
        self._places = asyncio.Semaphore(places.evaluation)
        self._gpus = asyncio.Semaphore(places.gpus)

    async def ask(self, key: draws.Key) -> None:
        """One query."""
        async with self._model:
            await self.clock.spend(draws.llm_s(self.seed, key))

    async def judge(self, key: draws.Key) -> draws.Evaluation:
        """One evaluation, which holds its place through its GPU part."""
        found = draws.evaluation(self.seed, key)
        async with self._places:
            await self.clock.spend(found.compile_s)
            if found.gpu_s is not None:
                async with self._gpus:
                    await self.clock.spend(found.gpu_s)
        return found


@dataclass(eq=False)
class TaskModel:
    """The language model of one task's session."""

    world: World
    task: int
    last: int | None = None
    """Proposals from this 0-based number on are never answered."""
    name: str = "simulated"
    label: str = "simulated"
    network: bool = True

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        del prompt, max_tokens
        return 0.0

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        del on_text, on_note
        number = int(request.proposal.removeprefix("p")) - 2
        if self.last is not None and number >= self.last:
            await asyncio.Event().wait()
        await self.world.ask(draws.Key(self.task, number, request.step))
        text = IDEAS if request.prompt.role == "ideas" else _answer(number, request.step)
        return Reply(text, Finish.STOP, Usage(100, 0, 0, 50), 0.0, self.name)

    async def close(self) -> None: ...


def _answer(number: int, step: int) -> str:
    code = SOURCE.replace("class Model(", "class ModelNew(")
    return f"```python\n# change: {number} {step}\n# draw: {number} {step}\n{code}```\n"


@dataclass(eq=False)
class TaskEvaluator:
    """The evaluator of one task's session; the original, and a second measurement, take no time."""

    world: World
    task: int
    places: int
    endpoint: str = "simulated"
    jobs: dict[str, Ask] = field(default_factory=dict[str, "Ask"])
    judged: set[str] = field(default_factory=set[str])

    async def start(self, ask: Ask) -> str:
        job = f"job-{len(self.jobs)}"
        self.jobs[job] = ask
        return job

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        del on_stage
        ask = self.jobs.pop(job)
        if ask.attempt == "c0":
            return verdict_on("# fate: ok 1.0") | {"baseline_names": ["eager"]}
        line = next(x for x in ask.source.splitlines() if x.startswith("# draw: "))
        number, step = map(int, line.removeprefix("# draw: ").split())
        key = draws.Key(self.task, number, step)
        found = draws.evaluation(self.world.seed, key)
        if ask.attempt not in self.judged:
            self.judged.add(ask.attempt)
            await self.world.judge(key)
        speed = draws.speed(self.world.seed, key)
        return verdict_on(f"# fate: {found.fate} {speed if found.works else 0}")

    async def cancel(self, job: str) -> None:
        self.jobs.pop(job, None)

    async def close(self) -> None: ...


class Uncommitted(Lineages):
    """Makes no commits: git costs no simulated time, and the real kind takes an hour of a whole benchmark."""

    async def prepare(self) -> None: ...

    async def commit(self, new: NewCommit) -> str:
        return f"{abs(hash(new.message)):040x}"[:40]

    async def tidy(self) -> None: ...


def journal_of(clock: SimulatedClock) -> type[Journal]:
    """Return the real journal, whose thread the clock waits for."""

    class Watched(Journal):
        @classmethod
        async def open(cls, path: Any, *, wal: bool) -> Journal:
            with clock.working():
                return await super().open(path, wal=wal)

        async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
            with clock.working():
                return await super().record(*args, **kwargs)

    def watched(name: str) -> None:
        plain = getattr(Journal, name)

        async def method(self: Journal, *args: Any, **kwargs: Any) -> Any:
            with clock.working():
                return await plain(self, *args, **kwargs)

        setattr(Watched, name, method)

    for name in ("facts", "text", "stored_reply", "commands", "take", "live", "summarise",
                 "data_version", "checkpoint", "close"):  # fmt: skip
        watched(name)
    return Watched
