"""What happens by the clock: commands noticed, live row and summary refreshed, hours watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import budget

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
        self._over = (False, False)

    async def run(self) -> None:
        """Beat until cancelled."""
        clock = self._engine.parts.clock
        while True:
            await self._commands()
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
        beat = now - self._shown_at >= BEAT_S
        if not beat and not parts.live.dirty:
            return
        parts.live.dirty = False
        await parts.recorder.show(now, parts.live.row())
        if beat:
            self._shown_at = now
            if self._summarised != parts.state.seq:
                self._summarised = parts.state.seq
                await parts.recorder.summarise()

    def _hours(self, now: float) -> None:
        """Wake the engine when the hours end, and when their grace does."""
        state = self._engine.state
        over = budget.hours_over(state, now), budget.grace_over(state, now)
        if over != self._over:
            self._over = over
            self._engine.parts.recorder.nudge()
