"""Best so far as a line, other correct attempts as dots, failures as ticks; over queries, money or time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.color import Color
from textual_plotext import PlotextPlot

from sessions.best import leaders
from sessions.plain_start import best_plain
from workbench.widgets.lines import app_of, is_ascii

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, State

AXES = ("queries", "money", "time")
POINTS = 500
"""More would not be told apart."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """What is drawn; equal curves look equal."""

    axis: str
    best: Points = ()
    """Steps: the best of all attempts judged up to there."""
    others: Points = ()
    failures: tuple[float, ...] = ()
    plain: float | None = None
    """The best plain variant's: a level that a search is to leave behind."""


def curve(state: State, axis: str) -> Curve:
    """Return the best-so-far curve of a session; suspect and banned attempts are not on it."""
    judged = sorted(
        (a for a in state.attempts.values() if a.verdict_at is not None),
        key=lambda a: a.verdict_at or 0.0,
    )
    steps = [
        (_x(attempt, state, axis), champion.speedup)
        for attempt, champion in leaders(judged)
        if champion is not None and champion.speedup is not None
    ]
    others = [a for a in judged if a.speedup is not None and not a.suspect][-POINTS:]
    failures = [a for a in judged if not a.correct][-POINTS:]
    plain = best_plain(state)
    return Curve(
        axis,
        _thin(_stairs(steps)),
        tuple((_x(a, state, axis), a.speedup or 0.0) for a in others),
        tuple(_x(a, state, axis) for a in failures),
        plain.speedup if plain else None,
    )


def _x(attempt: AttemptRecord, state: State, axis: str) -> float:
    match axis:
        case "money":
            return attempt.cost_then
        case "time":
            return ((attempt.verdict_at or 0.0) - state.opened_at) / 60
        case _:
            return float(attempt.queries_then)


def _stairs(steps: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a staircase: only where it turns, and its end."""
    found: list[tuple[float, float]] = []
    for x, y in steps:
        if not found:
            found.append((x, y))
        elif y != found[-1][1]:
            found += [(x, found[-1][1]), (x, y)]
    if steps and found[-1][0] != steps[-1][0]:
        found.append(steps[-1])
    return found


def _thin(points: list[tuple[float, float]]) -> Points:
    step = max(1, -(-len(points) // POINTS))
    return tuple(points[::step])


class SpeedupChart(PlotextPlot):
    """The curve, drawn again only when it changes."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.theme = "clear"
        self._curve: Curve | None = None
        self._drawn: tuple[Curve | None, int, int, str] | None = None
        self._text = Text()

    @property
    def has_curve(self) -> bool:
        """Whether it was given a curve to draw."""
        return self._curve is not None

    def show(self, new: Curve) -> None:
        """Draw this curve."""
        if new != self._curve:
            self._curve = new
            self.refresh()

    def render(self) -> Text:
        """Return the plot as text; kept until curve, size or colours change."""
        key = (self._curve, self.size.width, self.size.height, app_of(self).theme)
        if key != self._drawn:
            self._drawn = key
            self._draw()
        return self._text

    def _draw(self) -> None:
        if self._curve is None or not (self._curve.best or self._curve.failures):
            self._text = Text(" no verdict yet", style="dim")
            return
        self._fill(self._curve)
        self._text = Text.from_ansi(self.plt.build())

    def _fill(self, shown: Curve) -> None:
        plt = self.plt
        ascii_only = is_ascii(self)
        plt.clear_figure()
        plt.theme("clear")
        # Without a tty, as in a browser, plotext cuts to 80×24; its public switch is for its one global plot only.
        plt._limit_size(False, False)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        plt.plotsize(self.size.width, self.size.height)
        plt.frame(False)
        plt.xaxes(False, False)
        values = [y for _, y in (*shown.best, *shown.others)] or [1.0]
        low, high = min(1.0, *values), max(1.0, *values)
        pad = max(0.02, (high - low) * 0.06)
        plt.ylim(low - pad * 2, high + pad)
        end = max([x for x, _ in shown.best] + list(shown.failures) + [1.0])
        plt.xlim(0, end)
        plt.xticks(*steps(end))
        plt.yticks(*ticks(low, high))
        dim, accent, bad = (self._colour(name) for name in ("pike-dim", "pike-best", "pike-worse"))
        if shown.failures:
            plt.scatter(
                list(shown.failures), [low - pad * 1.6] * len(shown.failures), marker="|", color=bad
            )
        if shown.others:
            plt.scatter(*_columns(shown.others), marker="." if ascii_only else "·", color=dim)
        if shown.plain is not None:
            level = [shown.plain] * 2
            plt.plot([0.0, end], level, marker="-" if ascii_only else "╌", color=dim)
        if shown.best:
            plt.plot(*_columns(shown.best), marker="#" if ascii_only else "hd", color=accent)

    def _colour(self, name: str) -> tuple[int, int, int]:
        found = Color.parse(app_of(self).theme_variables.get(name, "#808080"))
        return found.rgb


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def steps(end: float) -> tuple[list[float], list[str]]:
    """Return about four round marks from nothing to the end."""
    unit = 10.0 ** math.floor(math.log10(end / 4))
    step = next((unit * n for n in (1, 2, 5) if unit * n * 5 >= end), unit * 10)
    marks = [step * n for n in range(int(end / step) + 1)]
    return marks, [f"{mark:g}" for mark in marks]


def ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return marks at one, at the lowest and at the highest speedup, where they do not touch."""
    marks = sorted({round(low, 2), 1.0, round(high, 2)})
    apart = [m for i, m in enumerate(marks) if i == 0 or m - marks[i - 1] > (high - low) * 0.12]
    return apart, [f"{mark:.2f}" for mark in apart]
