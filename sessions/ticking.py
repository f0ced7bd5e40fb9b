"""What happens by the clock: commands noticed, live row and summary refreshed, hours watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import budget, gpu
from sessions.attention import questions
from sessions.recorder import need_folder

if TYPE_CHECKING:
    from sessions.engine import Engine

TICK_S = 0.25
BEAT_S = 1.0


class Ticker:
    """The engine's heartbeat."""

    def __init__(self, engine: Engine) -> None:
        """Beat for one engine."""
        self._engine = engine
        self._version = -1
        self._shown_at = 0.0
        self._summarised = -1
        self._over = (False, False, False)
        self._gpu_at = 0.0
        self._asked = {question.key for question in questions(engine.state)}

    async def run(self) -> None:
        """Beat until cancelled."""
        clock = self._engine.parts.clock
        opened = self._engine.parts.opened
        device = "cpu" if opened.executor else opened.device  # a GPU of this machine is none of it
        while True:
            need_folder(self._engine.parts.folder.journal)
            await self._commands()
            await self._look_at_gpu(device, clock.now())
            await self._show(clock.now())
            self._hours(clock.now())
            await clock.sleep(TICK_S)

    async def _commands(self) -> None:
        parts = self._engine.parts
        version = await parts.recorder.journal.data_version()
        if version != self._version:
            self._version = version
            parts.recorder.nudge()

    async def _show(self, now: float) -> None:
        parts = self._engine.parts
        beat = _due(now, self._shown_at, BEAT_S)
        if not beat and not parts.live.dirty:
            return
        parts.live.dirty = False
        await parts.recorder.show(now, parts.live.row())
        if beat:
            self._engine.beat()
            self._shown_at = now
            if self._summarised != parts.state.seq:
                self._summarised = parts.state.seq
                await parts.recorder.summarise()
                self._ask()

    def _ask(self) -> None:
        """Tell of every question that was not there a beat ago."""
        found = {question.key: question.text for question in questions(self._engine.state)}
        new = [text for key, text in found.items() if key not in self._asked]
        self._asked = set(found)
        if new:
            self._engine.tell(", ".join(new))

    async def _look_at_gpu(self, device: str, now: float) -> None:
        if _due(now, self._gpu_at, gpu.EVERY_S) and not device.startswith("cpu"):
            self._gpu_at = now
            reading = await gpu.reading(device)
            live = self._engine.parts.live
            live.dirty = live.dirty or reading != live.gpu
            live.gpu = reading

    def _hours(self, now: float) -> None:
        """Wake the engine when the hours end, when their grace does, and when it was idle too long."""
        state = self._engine.state
        over = (
            budget.hours_over(state, now),
            budget.grace_over(state, now),
            budget.idle_over(state, now),
        )
        if over != self._over:
            self._over = over
            self._engine.parts.recorder.nudge()


def _due(now: float, last: float, every_s: float) -> bool:
    """Return whether it is time again; a clock that was set back must not silence the engine until it catches up."""
    return not 0 <= now - last < every_s
