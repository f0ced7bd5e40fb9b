"""What a session's state is called on screen: its word, since when, and what to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from sessions.attention import attention
from sessions.live import SILENT_S
from sessions.lock import Presence
from sessions.states import ENDED, SessionState
from sessions.summary import seen, shown_state
from workbench.format import clock, duration, plural
from workbench.glyphs import NEEDS_YOU

if TYPE_CHECKING:
    from sessions.model import State

TONE_OF_STATE = {
    "running": "better",
    "waiting": "busy",
    NEEDS_YOU: "warn",
    "pausing": "busy",
    "paused": "busy",
    "finished": "strong",
    "stopped": "dim",
    "crashed": "worse",
}


@dataclass(frozen=True, slots=True)
class Live:
    """The overwritten row of a journal: what goes on at this moment; never folded."""

    at: float = 0.0
    body: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def heartbeat(self) -> float:
        """When the engine last said that it is alive."""
        return float(self.body.get("heartbeat") or self.at)

    @property
    def waits_for(self) -> str:
        """What it waits for that somebody else must bring; empty if nothing."""
        return str(self.body.get("waits_for") or "")

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the agents or the evaluations."""
        return list(self.body.get(name) or ())

    @property
    def gpu(self) -> dict[str, Any]:
        """Readings of the GPU; empty without one."""
        return dict(self.body.get("gpu") or {})

    @property
    def stream(self) -> tuple[str, str]:
        """The agent whose model is writing, and what it wrote."""
        found: dict[str, Any] = self.body.get("stream") or {}
        return str(found.get("agent") or ""), str(found.get("text") or "")

    @property
    def waiting(self) -> int:
        """Evaluations in the queue."""
        return int(self.body.get("waiting") or 0)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a session is doing, in the words of `glyphs.SESSION_WORDS`."""

    word: str
    note: str = ""
    silent: bool = False
    """Whether its engine should be alive and is not heard."""

    @property
    def tone(self) -> str:
        """The colour token of its glyph and word."""
        return TONE_OF_STATE.get(self.word, "")

    @property
    def active(self) -> bool:
        """Whether an engine is at work on it."""
        return self.word in ("running", "waiting", "pausing", NEEDS_YOU) and not self.silent

    @property
    def resumes(self) -> bool:
        """Whether `p` lets it go on: it is paused, by a person or by itself."""
        return not self.active or self.word in ("pausing", NEEDS_YOU)


def standing(state: State, live: Live, engine: Presence, now: float) -> Standing:
    """Return what the session is doing now.

    Args:
        state: the folded journal.
        live: its live row.
        engine: whether an engine is there.
        now: seconds since the epoch.
    """
    needs = attention(state)
    if needs is not None and needs.stopped:
        return Standing(NEEDS_YOU)  # the banner says why, and the best and the budget need the room
    looked = seen(engine, live.at, live.body, state.last_at, now)
    shown = shown_state(state, looked)
    match shown:
        case SessionState.PAUSED:
            return Standing("paused", _by(state))
        case SessionState.PAUSING:
            return Standing("pausing", in_flight(state, looked.tools) + " finishing")
        case SessionState.RUNNING:
            return _running(state, live, engine, now)
        case SessionState.WAITING:
            waited = duration(max(0.0, now - state.last_at))
            awaited = live.waits_for or state.cause
            return Standing("waiting", f"{awaited} · {waited}", silent=state.state in ENDED)
        case SessionState.CRASHED:
            return Standing("crashed", "p revives it", silent=True)
        case SessionState.STOPPED if state.state not in ENDED:
            return Standing("stopped", "no engine runs it: p starts one", silent=True)
        case SessionState.FINISHED | SessionState.STOPPED:
            return Standing(shown.value, state.cause)
        case _:
            assert_never(shown)


def _by(state: State) -> str:
    return f"by {state.cause_author}" if state.cause_author else state.cause


def in_flight(state: State, tools: int) -> str:
    """Return what a pause lets end: `1 query, 2 evaluations, 1 tool`; `nothing` where there is nothing.

    `tools`: those that models called and that run now (`sessions.live.tools_at_work`).
    """
    queries = len(state.in_flight) - len(state.awaited)
    evaluations = sum(1 for a in state.attempts.values() if a.evaluating)
    parts = [
        plural(queries, "query", "queries") if queries else "",
        plural(evaluations, "evaluation") if evaluations else "",
        plural(tools, "tool") if tools else "",
    ]
    return ", ".join(filter(None, parts)) or "nothing"


def _running(state: State, live: Live, engine: Presence, now: float) -> Standing:
    heard = max(live.heartbeat, state.last_at)
    if engine is Presence.FOREIGN or now - heard < SILENT_S:
        return Standing("running", duration(max(0.0, now - state.last_at)))
    return Standing("crashed", f"engine not responding since {clock(heard)}", silent=True)


def since(row: dict[str, Any], now: float) -> str:
    """Return how long a live row's doing lasts; empty if it does not say."""
    began = row.get("since")
    return duration(now - float(began)) if isinstance(began, int | float) and began else ""


def class_name(precision_class: object) -> str:
    """Return a precision class as people write it: `tf32/fp16`."""
    return {"tf32_fp16": "tf32/fp16"}.get(str(precision_class), str(precision_class or ""))
