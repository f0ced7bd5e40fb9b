"""What each agent does now, what was asked of the engine, and which steers are on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.steering import status
from workbench.format import duration
from workbench.plain import inert_line
from workbench.shown import since
from workbench.widgets.lines import Line, Span, fit, flow, span
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.journal import Command
    from sessions.model import State, SteerRecord
    from workbench.shown import Live

_GAP = span("   ")
_TARGETS = {"p": "for", "c": "of"}


def agent_lines(
    state: State, live: Live, asked: Sequence[Command], now: float, width: int
) -> list[Line]:
    """Return the lines of the strip: agents side by side, then what waits."""
    parts = [_agent(row, now) for row in live.rows("agents")]
    parts += [_alone(row, now) for row in live.rows("evaluations") if _nobodys(row, live)]
    parts += [_asked(command, now) for command in asked]
    parts += [_steer(s) for s in state.persons_steers if status(state, s) == "waiting"]
    parts += _lost(state)
    if not parts:
        return [(span(" no agent at work", "dim"),)]
    return [(span(" "), *line) for line in flow(parts, width - 2, _GAP)]


def stream_lines(live: Live, width: int, height: int) -> list[Line]:
    """Return the end of what the visible agent's model is writing."""
    agent, text = live.stream
    lines = [
        (Span(fit(f" {inert_line(line)}", width), "dim"),) for line in text[-4_000:].splitlines()
    ]
    head = (span(" "), Span(inert_line(agent, 24), "strong"), span(" writes"))
    return [head, *lines[-max(1, height - 1) :]] if lines else []


def _agent(row: dict[str, Any], now: float) -> Line:
    doing = {"evaluating": "evaluation"}.get(str(row.get("doing")), str(row.get("doing") or ""))
    target = str(row.get("target") or "")
    joint = {"writing": "for", "fixing": ""}.get(
        str(row.get("doing")), _TARGETS.get(target[:1], "")
    )
    words = " ".join(word for word in (doing, joint if target else "", target) if word)
    note = str(row.get("note") or "")
    tail = " · ".join(part for part in (since(row, now), note) if part)
    return (
        Span(inert_line(str(row.get("name") or ""), 24), "strong"),
        Span(inert_line(f" {words}", 60)),
        Span(inert_line(f" · {tail}", 60) if tail else inert_line(""), "dim"),
    )


def _nobodys(row: dict[str, Any], live: Live) -> bool:
    """Return whether no agent's line speaks of this evaluation: of the original, of a submission."""
    return all(agent.get("target") != row.get("candidate") for agent in live.rows("agents"))


def _alone(row: dict[str, Any], now: float) -> Line:
    stage = " ".join(str(row.get(name) or "") for name in ("stage", "detail")).strip()
    tail = " · ".join(part for part in (stage, since(row, now)) if part)
    return (
        Span(inert_line(str(row.get("agent") or "evaluator"), 24), "strong"),
        Span(inert_line(f" evaluation of {row.get('candidate') or ''}", 60)),
        Span(inert_line(f" · {tail}" if tail else "", 80), "dim"),
    )


def _asked(command: Command, now: float) -> Line:
    return (
        Span(inert_line(f"{command.act} asked", 40), "busy"),
        Span(inert_line(f" by {command.author} · {duration(now - command.at)}", 40), "dim"),
    )


def _steer(steer: SteerRecord) -> Line:
    told = inert_line(f" {steer.act} not used yet", 40)
    return (Span(inert_line(steer.id, 12), "strong"), Span(told, "busy"))


def _lost(state: State) -> list[Line]:
    """Queries that made no attempt: counted apart, never hidden."""
    unusable = sum(1 for q in state.queries.values() if q.unusable)
    failed = sum(1 for q in state.queries.values() if q.end == "failed" and q.counts)
    lost = sum(1 for q in state.queries.values() if q.end == "lost")
    counts = ((unusable, "spent, no attempt"), (failed, "failed"), (lost, "lost"))
    return [
        (span(f"{n} {'query' if n == 1 else 'queries'} {what}", "dim"),) for n, what in counts if n
    ]


class AgentStrip(Lines, can_focus=True):
    """The agents at the foot of the attempts."""
