"""Figures with a row for each thing compared: speedups by task, pairs of configurations; intervals lie across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.report_look import (
    COLOURS,
    GREY,
    IN_LEGEND,
    WIDTH,
    legend,
    limits,
    plain_log,
    shown,
    styles,
)
from workbench.report_plots import EVERY, columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.report_plots import Plot, Raw

LUCK = {"repeats": "95 % over repeats", "over_tasks": "95 % over tasks (single runs)"}
LONG = 30
"""Characters of two names on one line."""
WIDE = {"linewidth": 4.0, "alpha": 0.4}
THIN = {"linewidth": 1.0, "marker": "|", "markersize": 6}
DOT = {"markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.6, "zorder": 3}


def speedups(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw speedups by task."""
    looks, tasks = styles(plot), columns_of(plot.rows, "task")
    _rows(figure, axes, [shown(task) for task in tasks], len(looks))
    for number, (name, style) in enumerate(looks.items()):
        shift = (number - (len(looks) - 1) / 2) * 0.7 / len(looks)
        own = [row for row in plot.rows if row["configuration"] == name]
        places = [tasks.index(row["task"]) + shift for row in own]
        _across(axes, own, places, "speedup", style)
    _free(axes, plot, tasks)
    if EVERY in tasks:
        axes.axhline(len(tasks) - 1.5, color=GREY, linewidth=0.8)
    _ratio_axis(
        axes, plot, "speedup", "speedup over eager, clamped at 1, failures as 1 (log scale)"
    )
    _interval_note(axes, plot)
    legend(figure, axes)


def _free(axes: Any, plot: Plot, tasks: Sequence[str]) -> None:
    """Mark what costs no query, once per task."""
    marks = (("fastest_baseline", "|", "fastest baseline"), ("plain", "x", "best plain attempt"))
    for column, marker, label in marks:
        found = {row["task"]: row[column] for row in plot.rows if row[column]}
        if found:
            axes.plot(
                list(found.values()), [tasks.index(task) for task in found], marker, color=GREY,
                markersize=10 if marker == "|" else 6, markeredgewidth=1.6, label=label, zorder=1,
            )  # fmt: skip


def pairs(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw ratios of configurations."""
    one = len({(row["first"], row["second"]) for row in plot.rows}) == 1
    names = [(shown(row["first"], IN_LEGEND), shown(row["second"], IN_LEGEND)) for row in plot.rows]
    over = "\n/ " if any(len(a) + len(b) > LONG for a, b in names) else " / "
    both = [over.join(pair) for pair in names]
    _rows(figure, axes, [shown(row["task"]) for row in plot.rows] if one else both, 2)
    style = {"color": COLOURS[0], "marker": "o", "label": "_pair"}
    _across(axes, plot.rows, range(len(plot.rows)), "ratio", style)
    first, second = (shown(plot.rows[0][side]) for side in ("first", "second"))
    what = f"{first} / {second}" if one else "first / second"
    _ratio_axis(axes, plot, "ratio", f"{what}: right of 1×, the first is ahead (log scale)")
    _interval_note(axes, plot)


def _rows(figure: Any, axes: Any, labels: Sequence[str], several: int) -> None:
    """Set a row per label, the first on top."""
    height = 1.9 + len(labels) * max(0.32, 0.16 * several)
    figure.set_size_inches(WIDTH, min(height, 60.0))
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def _across(
    axes: Any,
    rows: Sequence[Raw],
    places: Sequence[float],
    column: str,
    style: dict[str, Any],
) -> None:
    """Draw values with their intervals: the wide line is luck, the thin one timing noise."""
    for row, place in zip(rows, places, strict=True):
        for kind in filter(None, (_luck(row), "measurement")):
            ends = [row[f"{kind}_low"], row[f"{kind}_high"]]
            if ends[0] is not None:
                look = THIN if kind == "measurement" else WIDE
                axes.plot(ends, [place, place], color=style["color"], solid_capstyle="butt", **look)
    values = [row[column] for row in rows]
    axes.plot(values, places, style["marker"], color=style["color"], label=style["label"], **DOT)


def _luck(row: Raw) -> str:
    """Return which interval holds luck: over repeats where there are any, else over tasks."""
    known = (kind for kind in LUCK if row.get(f"{kind}_low") is not None)
    return next(known, "")


def _ratio_axis(axes: Any, plot: Plot, column: str, label: str) -> None:
    axes.set_xscale("log")
    names = [
        n
        for n in plot.rows[0]
        if n.endswith(("_low", "_high")) or n in (column, "plain", "fastest_baseline")
    ]
    axes.set_xlim(*limits([1.0, *(row[name] for row in plot.rows for name in names)]))
    plain_log(axes.xaxis)
    axes.axvline(1.0, color=GREY, linewidth=1.0)
    axes.set_xlabel(label)


def _interval_note(axes: Any, plot: Plot) -> None:
    drawn = {_luck(row) for row in plot.rows}
    told = [f"wide line: {words}" for kind, words in LUCK.items() if kind in drawn]
    if any(row["measurement_low"] is not None for row in plot.rows):
        told.append("thin line: 98 % by timing noise")
    if told:
        axes.set_xlabel(f"{axes.get_xlabel()}\n{'; '.join(told)}")
