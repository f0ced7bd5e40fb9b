"""Figures of what was spent and what happened on the way: curves, bars, medians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.report_look import GREY, WIDTH, legend, limits, plain_log, shown, styles
from workbench.report_plots import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.report_plots import Plot, Raw

BANDS = 3
"""More would hide each other."""
AGENTS = ("IBA", "COA", "EFA")
AGENT_COLOURS = ("#B3B3B3", "#4D6C8A", "#D9A441", "#222222")
"""Other than the configurations' colours, which mean something else."""


def spending(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw the best so far as it was paid for."""
    axis = plot.name.removeprefix("by_")
    figure.set_size_inches(WIDTH, 4.4)
    looks = styles(plot)
    for name, style in looks.items():
        own = [row for row in plot.rows if row["configuration"] == name]
        x = [row[axis] for row in own]
        axes.step(x, [row["speedup"] for row in own], where="post", color=style["color"],
                  linestyle=style["linestyle"], linewidth=1.8, label=style["label"], marker=style["marker"],
                  markevery=max(1, len(x) // 8), markersize=5)  # fmt: skip
        if own[0]["repeats_low"] is not None:
            _luck(axes, own, axis, style["color"], banded=len(looks) <= BANDS)
    for value, dash, label in (
        (plot.plain, "--", "best plain attempts"),
        (plot.fastest, ":", "fastest baselines"),
    ):
        if value:
            axes.axhline(value, color=GREY, linewidth=1.2, linestyle=dash, label=label)
    axes.set_yscale("log")
    values = [row[n] for row in plot.rows for n in ("speedup", "repeats_low", "repeats_high")]
    axes.set_ylim(*limits([*values, plot.plain, plot.fastest]))
    plain_log(axes.yaxis)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{'US dollars' if axis == 'dollars' else axis} per run (one run: one task)")
    axes.set_ylabel("speedup over eager, geometric mean\nclamped at 1, failures as 1 (log scale)")
    how = "shaded" if len(looks) <= BANDS else "bars at the ends"
    if any(row["repeats_low"] is not None for row in plot.rows):
        axes.set_xlabel(f"{axes.get_xlabel()}\n{how}: 95 % over repeats")
    legend(figure, axes)


def _luck(axes: Any, own: Sequence[Raw], axis: str, colour: str, *, banded: bool) -> None:
    """Draw how sure a curve is: as a band; where several would cover each other, at its end."""
    shown_rows = own if banded else own[-1:]
    x = [row[axis] for row in shown_rows]
    ends = [[row[end] for row in shown_rows] for end in ("repeats_low", "repeats_high")]
    if banded:
        axes.fill_between(x, *ends, step="post", color=colour, alpha=0.16, linewidth=0)
        return
    number = len(axes.collections)
    place = x[0] + axes.get_xlim()[1] * 0.008 * (1 + number)
    axes.vlines([place], *ends, color=colour, linewidth=3.5, alpha=0.5)


def mark(axes: Any, budgets: Sequence[float]) -> None:
    """Mark budgets."""
    for budget in budgets:
        if budget <= axes.get_xlim()[1]:
            axes.axvline(budget, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)))
            axes.annotate(f"${budget:g}", (budget, 0), xycoords=("data", "axes fraction"), fontsize=8,
                          xytext=(2, 3), textcoords="offset points", color=GREY)  # fmt: skip


def fixes(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw the fix-attempt histogram."""
    figure.set_size_inches(WIDTH, 3.8)
    outcomes, looks = columns_of(plot.rows, "outcome"), styles(plot)
    width = 0.8 / len(looks)
    for number, (name, style) in enumerate(looks.items()):
        own = [row for row in plot.rows if row["configuration"] == name]
        places = [outcomes.index(row["outcome"]) + (number + 0.5) * width - 0.4 for row in own]
        bars = axes.bar(places, [100 * row["share"] for row in own], width * 0.92, color=style["color"],
                        label=style["label"])  # fmt: skip
        if len(looks) * len(outcomes) <= 32:
            axes.bar_label(bars, [str(row["trajectories"]) for row in own], fontsize=7.5, padding=1)
    axes.set_xticks(range(len(outcomes)), outcomes)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("fixes needed (0: the first answer works); over the bars: trajectories")
    axes.set_ylabel("share of trajectories, %")
    legend(figure, axes)


def lines(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw lines changed per step."""
    figure.set_size_inches(WIDTH, 3.8)
    looks = styles(plot)
    for number, (name, style) in enumerate(looks.items()):
        own = [row for row in plot.rows if row["configuration"] == name]
        shift = (number - (len(looks) - 1) / 2) * 0.6 / len(looks)
        places = [row["step"] + shift for row in own]
        axes.vlines(places, [r["quarter"] for r in own], [r["three_quarters"] for r in own], color=style["color"],
                    linewidth=3.5, alpha=0.45)  # fmt: skip
        axes.plot(
            places,
            [r["median"] for r in own],
            style["marker"],
            color=style["color"],
            label=style["label"],
        )
    steps = sorted({row["step"] for row in plot.rows})
    axes.set_xticks(steps, ["first answer" if step == 0 else f"fix {step}" for step in steps])
    axes.set_ylim(0, 1.08 * max(1.0, *(row["three_quarters"] for row in plot.rows)))
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("lines added and removed")
    legend(figure, axes)


def agents(figure: Any, axes: Any, plot: Plot) -> None:
    """Draw what each agent costs."""
    names, agents = columns_of(plot.rows, "configuration"), columns_of(plot.rows, "agent")
    agents.sort(key=lambda agent: (AGENTS.index(agent) if agent in AGENTS else len(AGENTS), agent))
    column = next(name for name in plot.rows[0] if name.endswith("_per_run"))
    figure.set_size_inches(WIDTH, 1.7 + 0.4 * len(names))
    left = [0.0] * len(names)
    words = {"IBA": "IBA (ideas)", "COA": "COA (candidates)", "EFA": "EFA (fixes)"}
    for number, agent in enumerate(agents):
        cost = {row["configuration"]: row[column] for row in plot.rows if row["agent"] == agent}
        widths = [cost.get(name, 0.0) for name in names]
        axes.barh(range(len(names)), widths, 0.62, left=left, color=AGENT_COLOURS[number % len(AGENT_COLOURS)],
                  label=words.get(agent, shown(agent)))  # fmt: skip
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(names)), [shown(name) for name in names])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("US dollars per run" if column.startswith("dollars") else "queries per run")
    legend(figure, axes)
