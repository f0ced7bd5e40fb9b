"""The top line of a live session: state, best, money, queries, time left; cut from the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.best import best
from workbench.format import amount, duration, interval, ratio, spread
from workbench.glyphs import UNICODE
from workbench.plain import inert_line
from workbench.shown import class_name
from workbench.widgets.lines import Line, Span, cut, joined, span, width_of
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from sessions.model import State
    from workbench.shown import Live, Standing

_GAP = span("  ")
WIDE = 0.1
"""Share of the value from which both ends of an interval are shown."""
ROOM_FOR_EAGER = 100
"""Cells from which the best is also said over the original as it stands, which is what runtimes show."""


def status(state: State, live: Live, standing: Standing, now: float, width: int) -> Line:
    """Return the status line in at most `width` cells."""
    parts: list[Line] = [
        *_first(state, standing, width - 2),
        _left(state, now) if standing.active else (),
        _labels(state),
        *_about(state),
        _gpu(live),
        _evaluations(state, live),
    ]
    return (span(" "), *cut([part for part in parts if part], width - 2, _GAP))


def _first(state: State, standing: Standing, width: int) -> list[Line]:
    """Return state, best, money and queries, which survive at any width; the interval goes first."""
    for noted, sure in ((True, True), (True, False), (False, True), (False, False)):
        parts = [
            _state(standing, noted=noted),
            _best(state, sure=sure, eager=noted and width >= ROOM_FOR_EAGER),
            _money(state),
            _queries(state),
        ]
        if width_of(joined(parts, _GAP)) <= width:
            break
    return parts


def _state(standing: Standing, *, noted: bool) -> Line:
    head = span(f"{UNICODE.session(standing.word)} {standing.word}", standing.tone)
    if not noted:
        return (head,)
    note = inert_line(standing.note.removeprefix(standing.word).strip(), 60)
    return (head, Span(inert_line(f" {note}"), "dim")) if note else (head,)


def _best(state: State, *, sure: bool, eager: bool) -> Line:
    found = best(state)
    if found is None:
        return (span("best –", "dim"),)
    verdict = found.verdict
    again = "" if found.confirmed else "~"
    between = _interval(
        found.speedup,
        _number(verdict.get("speedup_lo_ratio")),
        _number(verdict.get("speedup_hi_ratio")),
    )
    precision = inert_line(class_name(verdict.get("precision_class")), 12)
    return (
        span("best "),
        span(f"{ratio(found.speedup)}×{again}", "best"),
        span(f" {between}" if between and sure else "", "dim"),
        Span(inert_line(f" {precision}")),
        span(_over_eager(verdict) if eager else "", "dim"),
    )


def _over_eager(verdict: dict[str, Any]) -> str:
    found = _number(verdict.get("speedup_eager_ratio"))
    return f" ({ratio(found)}× eager)" if found else ""


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    """Write `±0.02` for a narrow interval, both its ends for one that is not."""
    if value and low and high and max(high - value, value - low) > WIDE * value:
        return interval(low, high)
    return spread(value, low, high)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _money(state: State) -> Line:
    limit = state.limits.get("cost_usd")
    spent = amount(state.spending.cost_usd)
    unpriced = "+?" if state.cost_unknown else ""
    return (span(f"$ {spent}{unpriced}{f'/{limit:g}' if limit else ''}"),)


def _queries(state: State) -> Line:
    handed_in = state.limits.get("attempts")
    if handed_in is not None:
        return (span(f"att {len(state.attempts)}/{handed_in:g}"),)
    limit = state.limits.get("queries")
    return (span(f"q {state.spending.queries}{f'/{limit:g}' if limit else ''}"),)


def _left(state: State, now: float) -> Line:
    """How long the rest takes at the pace so far, and what the time limit leaves."""
    if state.running_since is None or state.spending.queries < 3:
        return ()
    ran = state.spending.running_s + max(0.0, now - state.running_since)
    if ran <= 0:
        return ()  # a clock that was set back knows no pace
    limit, hours = state.limits.get("queries"), state.limits.get("hours")
    guesses = [hours * 3600 - ran] if hours else []
    if limit:
        guesses.append(ran / state.spending.queries * (limit - state.spending.queries))
    return (span(f"~{_rough(min(guesses))} left", "dim"),) if guesses else ()


def _rough(seconds: float) -> str:
    return f"{seconds / 3600:.0f} h" if seconds > 5_400 else duration(seconds)


def _labels(state: State) -> Line:
    """What makes the numbers another kind of number: said wherever they are shown."""
    if state.opened is None:
        return ()
    labels = [label for label in ("offline", "recorded") if label in state.answering]
    if state.opened.tolerance == "paper":
        labels.append("tolerance paper")
    measured = state.baseline.verdict if state.baseline else {}
    if measured.get("sandbox_level") == "process":
        labels.append("sandbox process")
    return (span(" · ".join(labels), "warn"),) if labels else ()


def _about(state: State) -> list[Line]:
    if state.opened is None:
        return []
    phase = f" phase {state.phase}" if state.phase is not None else ""
    about = f"{state.opened.session} · {state.opened.strategy}{phase} · {state.opened.task}"
    return [(span("│ ", "dim"), Span(inert_line(about, 90)))]


def _gpu(live: Live) -> Line:
    gpu = live.gpu
    use = gpu.get("util")
    return (span(f"GPU {use:.0f} %", "dim"),) if isinstance(use, int | float) else ()


def _evaluations(state: State, live: Live) -> Line:
    running = len(live.rows("evaluations"))
    if not running and not live.waiting:
        return ()
    return (span(f"eval {running}+{live.waiting}", "dim"),)


class StatusLine(Lines):
    """The one line at the top."""
