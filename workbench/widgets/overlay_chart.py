"""Best-so-far curves of several sessions over each other, each under its letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.color import Color
from textual_plotext import PlotextPlot

from workbench.widgets.lines import app_of, is_ascii
from workbench.widgets.speedup_chart import steps, ticks

if TYPE_CHECKING:
    from workbench.widgets.speedup_chart import Points

TONES = ("pike-best", "pike-worse", "pike-warn", "pike-code-keyword")
"""Colours of the sessions, in order; letters tell them apart where there are none."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One session's."""

    letter: str
    best: Points = ()


class OverlayChart(PlotextPlot):
    """The curves, drawn again only when they change."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.theme = "clear"
        self._curves: tuple[Curve, ...] | None = None
        self._drawn: object = None
        self._text = Text()

    @property
    def has_curves(self) -> bool:
        """Whether it was given curves to draw."""
        return self._curves is not None

    def show(self, curves: tuple[Curve, ...]) -> None:
        """Draw these curves."""
        if curves != self._curves:
            self._curves = curves
            self.refresh()

    def render(self) -> Text:
        """Return the plot as text; kept until curves, size or colours change."""
        key = (self._curves, self.size.width, self.size.height, app_of(self).theme)
        if key != self._drawn:
            self._drawn = key
            self._text = self._made()
        return self._text

    def _made(self) -> Text:
        shown = [curve for curve in self._curves or () if curve.best]
        if not shown:
            return Text(" no correct attempt yet", style="dim")
        self._fill(shown)
        return Text.from_ansi(self.plt.build())

    def _fill(self, shown: list[Curve]) -> None:
        plt = self.plt
        plt.clear_figure()
        plt.theme("clear")
        # Without a tty, as in a browser, plotext cuts to 80×24; its public switch is for its one global plot only.
        plt._limit_size(False, False)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
        plt.plotsize(self.size.width, self.size.height)
        plt.frame(False)
        plt.xaxes(False, False)
        values = [y for curve in shown for _, y in curve.best]
        low, high = min(1.0, *values), max(1.0, *values)
        pad = max(0.02, (high - low) * 0.06)
        end = max(x for curve in shown for x, _ in curve.best) or 1.0
        plt.ylim(low - pad, high + pad * 2)
        plt.xlim(0, end)
        plt.xticks(*steps(end))
        plt.yticks(*ticks(low, high))
        for curve in shown:
            self._draw(curve, TONES["ABCD".find(curve.letter)])

    def _draw(self, curve: Curve, tone: str) -> None:
        """Draw a line with its letter at its end; a line of letters where there are no colours."""
        colour = Color.parse(app_of(self).theme_variables.get(tone, "#808080")).rgb
        points = list(curve.best) if len(curve.best) > 1 else [*curve.best, *curve.best]
        marker = curve.letter if self._plain else "hd"
        self.plt.plot([x for x, _ in points], [y for _, y in points], marker=marker, color=colour)
        x, y = points[-1]
        self.plt.text(curve.letter, x, y, color=colour, alignment="right")

    @property
    def _plain(self) -> bool:
        return is_ascii(self) or app_of(self).no_color
