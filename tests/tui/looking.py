"""Waiting for screens and reading what they show."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.screens.live import LiveScreen
from workbench.screens.session_list import SessionListScreen
from workbench.widgets.speedup_chart import SpeedupChart

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

LIMIT_S = 30.0


async def until(pilot: Pilot[Any], holds: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Wait until something holds; fail after half a minute: the machine may be busy."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, f"it did not come to hold within {limit_s:g} s"
        await pilot.pause(0.01)


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until the screen has read its session and nothing is being built."""
    screen = pilot.app.screen
    if isinstance(screen, LiveScreen):
        await until(pilot, lambda: screen.feed is not None and chart_is_drawn(screen))
    for _ in range(2):
        await pilot.pause()
        await until(pilot, lambda: all(worker.is_finished for worker in pilot.app.workers))
    await pilot.pause()


def chart_is_drawn(screen: LiveScreen) -> bool:
    """Return whether the chart, mounted late, shows its curve; a hidden one has none to show."""
    charts = list(screen.query(SpeedupChart))
    return bool(charts) and all(c.has_curve or not c.region.area for c in charts)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, then wait until what they started is done."""
    await pilot.press(*keys)
    await settled(pilot)


def shown(pilot: Pilot[Any]) -> str:
    """Return the characters on the screen."""
    strips = pilot.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage] - what is really painted
    return "\n".join(strip.text for strip in strips)


def live(pilot: Pilot[Any]) -> LiveScreen:
    """Return the live screen, which must be in front."""
    screen = pilot.app.screen
    assert isinstance(screen, LiveScreen)
    return screen


def listed(pilot: Pilot[Any]) -> SessionListScreen:
    """Return the session list, which must be in front."""
    screen = pilot.app.screen
    assert isinstance(screen, SessionListScreen)
    return screen


def told(pilot: Pilot[Any]) -> str:
    """Return the short messages said so far."""
    notes = pilot.app._notifications  # pyright: ignore[reportPrivateUsage] - Textual keeps them nowhere else
    return "\n".join(str(note.message) for note in notes)


def proposal_of(pilot: Pilot[Any], candidate: str) -> str:
    """Return the proposal an attempt belongs to."""
    feed = live(pilot).feed
    assert feed is not None
    return feed.state.attempts[candidate].proposal
