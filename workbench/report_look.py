"""How the figures of a report look: colours and markers that anyone tells apart, axes of plain numbers.

matplotlib has no types to speak of, and is imported when a figure is drawn: this module and those that draw with it
(`report_across`, `report_bars`, `report_figures`) are the boundary.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.report_cells import short
from workbench.report_plots import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.report_plots import Plot

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6B4C9A", "#7A7A7A")
"""Okabe and Ito's, told apart by colour-blind readers; yellow, too faint on white, is left out."""
MARKERS = "osD^vPX*"
DASHES = ("-", "--", "-.", ":")
GREY = "#595959"
WIDTH = 8.0
NAME, IN_LEGEND = 40, 64
TICKS = (
    (2.0, (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)),
    (30.0, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)),
    (500.0, (1.0, 2.0, 5.0)),
    (float("inf"), (1.0,)),
)
"""Which numbers of a decade are written, by the axis's last over its first."""
LOOK = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E2E2E2",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "text.parse_math": False,  # names are foreign: a dollar sign is no formula
    "svg.hashsalt": "pike",
    "savefig.dpi": 144.0,
}


def matplotlib(module: str = "") -> Any:
    """Return matplotlib, or a module of it."""
    return import_module(f"matplotlib.{module}" if module else "matplotlib")


def shown(text: str, limit: int = NAME) -> str:
    """Return a foreign name as a figure shows it."""
    return short(text, limit)


def styles(plot: Plot) -> dict[str, dict[str, Any]]:
    """Return the look of each configuration: colour and marker, so that neither is needed alone."""
    return {
        name: {
            "color": COLOURS[n % len(COLOURS)],
            "marker": MARKERS[n % len(MARKERS)],
            "linestyle": DASHES[n // len(COLOURS) % len(DASHES)],
            "label": shown(name, IN_LEGEND),
        }
        for n, name in enumerate(columns_of(plot.rows, "configuration"))
    }


def legend(figure: Any, axes: Any) -> None:
    """Put the legend below: it hides no number."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        columns = 1 if max(map(len, labels)) > 34 else min(3, len(labels))
        figure.legend(handles, labels, loc="outside lower left", ncols=columns)


def plain_log(axis: Any) -> None:
    """Set a logarithmic axis of plain numbers, as many as there is room for; its limits are set before."""
    ticker = matplotlib("ticker")
    low, high = axis.get_view_interval()
    subs = next(subs for most, subs in TICKS if high / low <= most)
    axis.set_major_locator(ticker.LogLocator(base=10, subs=subs))
    axis.set_major_formatter(ticker.FuncFormatter(_tick))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_minor_formatter(ticker.NullFormatter())


def limits(values: Iterable[float | None]) -> tuple[float, float]:
    """Return the ends of a logarithmic axis that holds these ratios."""
    known = [value for value in values if value]
    low, high = min(known), max(known)
    room = max(1.02, (high / low) ** 0.06)
    return low / room, high * room


def _tick(value: float, place: int) -> str:
    del place
    return f"{value:g}×"
