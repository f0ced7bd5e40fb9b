"""A report on the terminal: sentences, the tables that fit, and the curve over queries in characters."""

from __future__ import annotations

import re
import shutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.report_cells import short, times
from workbench.report_plots import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbench.printing import Printer
    from workbench.report_plots import Plot
    from workbench.report_table import Table
    from workbench.report_view import ReportView, SectionView

LUCK = {"95 % over repeats": "95 % repeats"}
BRIEF: dict[str, dict[str, str]] = {
    "tasks": {
        "task": "task", "configuration": "configuration", "over eager, paper's way": "over eager", **LUCK,
        "correct": "correct", "over the best plain": "over plain", "class": "class", "queries per run": "queries",
        "cost per run": "cost",
    },
    "pairs": {
        "first": "first", "second": "second", "first / second": "first / second", **LUCK,
        "95 % over tasks": "95 % tasks", "tasks": "tasks",
    },
    "cutoffs": {
        "configuration": "configuration", "cut off at": "cut off at", "over eager, paper's way": "over eager", **LUCK,
        "runs that spent it": "runs that spent it",
    },
    "agents": {"configuration": "configuration", "agent": "agent", "queries": "queries", "cost": "cost"},
}  # fmt: skip
"""The columns that a terminal shows, and their heads there; the files hold all."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
HEIGHT = 16
WIDEST = 100
CELL = 40
"""Characters of a name; numbers and our own words stay whole."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def show(report: ReportView, printer: Printer) -> None:
    """Print the report."""
    for section in report.sections:
        _section(section, printer)
    if report.left_out.rows:
        printer.data("Left out, since they hold no number:")
        printer.table(report.left_out.head, report.left_out.rows)


def _section(section: SectionView, printer: Printer) -> None:
    for sentence in [*section.found, *section.cost]:
        printer.data(sentence)
    if section.caveats:
        printer.data("Keep in mind:")
    for sentence in section.caveats:
        printer.data(f"  {sentence}")
    for table in section.tables:
        if table.name in BRIEF:
            printer.data()
            printer.data(f"{table.title}. {table.says}")
            _table(table, BRIEF[table.name], printer)
    for plot in section.plots:
        if plot.name == "by_queries":
            printer.data()
            _chart(plot, printer)
    printer.data()


def _table(table: Table, wanted: Mapping[str, str], printer: Printer) -> None:
    places = [(table.head.index(head), head in table.left) for head in wanted]
    cell = max(16, min(CELL, (_columns() - 60) // 2))
    rows = [
        [short(row[place], cell) if foreign else row[place] for place, foreign in places]
        for row in table.rows
    ]
    right = [shown for head, shown in wanted.items() if head not in table.left]
    printer.table(list(wanted.values()), rows, right)


def _columns() -> int:
    return shutil.get_terminal_size((WIDEST, 24)).columns


def _chart(plot: Plot, printer: Printer) -> None:
    """Print the curve of each configuration, drawn with its letter."""
    names = columns_of(plot.rows, "configuration")[: len(LETTERS)]
    printer.data(f"{plot.title}; clamped at 1, failures as 1")
    for line in _drawn(plot, names):
        printer.data(line)
    for letter, name in zip(LETTERS, names, strict=False):
        printer.data(f"  {letter}  {name}")
    free = (("best plain attempts", plot.plain), ("fastest baselines", plot.fastest))
    known = [f"{what} {times(value)}" for what, value in free if value]
    if known:
        printer.data(f"  without a query: {', '.join(known)}")


def _drawn(plot: Plot, names: Sequence[str]) -> Iterable[str]:
    plt: Any = import_module("plotext")  # untyped, and only where a chart is drawn
    plt.clear_figure()
    plt.theme("clear")
    plt.plotsize(min(WIDEST, _columns() - 1), HEIGHT)
    plt.xlabel("queries per run")
    for letter, name in zip(LETTERS, names, strict=False):
        own = [row for row in plot.rows if row["configuration"] == name]
        plt.plot([row["queries"] for row in own], [row["speedup"] for row in own], marker=letter)
    drawn = _COLOUR.sub("", str(plt.build()))
    plt.clear_figure()
    return [line.rstrip() for line in drawn.splitlines()]
