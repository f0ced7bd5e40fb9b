"""The figures of a report, drawn with matplotlib: PNG and SVG, equal bytes for equal numbers."""

from __future__ import annotations

import io
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench import report_across, report_bars
from workbench.report_look import LOOK, matplotlib, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.report_plots import Plot


def available() -> bool:
    """Return whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def drawn(plot: Plot, device: str, budgets: Sequence[float] = ()) -> dict[str, bytes]:
    """Return a figure by file ending, `png` and `svg`; `budgets`: dollars to mark."""
    with matplotlib().rc_context(LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box stands for it
        figure = matplotlib("figure").Figure(layout="constrained")
        matplotlib("backends.backend_agg").FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _DRAW[plot.name](figure, axes, plot)
        if plot.name == "by_dollars":
            report_bars.mark(axes, budgets)
        axes.set_title(f"{plot.title}\n{shown(device)}")
        return {"png": _bytes(figure, "png"), "svg": _bytes(figure, "svg")}


def _bytes(figure: Any, ending: str) -> bytes:
    told = {"Date": None} if ending == "svg" else {"Software": None}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=told)
    return buffer.getvalue()


_DRAW: dict[str, Callable[[Any, Any, Plot], None]] = {
    "speedups": report_across.speedups,
    "by_queries": report_bars.spending,
    "by_dollars": report_bars.spending,
    "pairs": report_across.pairs,
    "fixes": report_bars.fixes,
    "lines": report_bars.lines,
    "agents": report_bars.agents,
}
