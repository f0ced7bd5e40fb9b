"""A report worked out once: the sentences, tables and figures of each section, for whoever shows or writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import report_caveats, report_words
from workbench.report_plots import plots
from workbench.report_tables import tables
from workbench.report_tables_runs import left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report import Report, Section
    from sessions.report_spending import Cutoff
    from workbench.report_plots import Plot
    from workbench.report_table import Table


@dataclass(frozen=True, slots=True)
class SectionView:
    """One GPU model."""

    device: str
    found: tuple[str, ...]
    """Sentences, as the two below."""
    cost: tuple[str, ...]
    caveats: tuple[str, ...]
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True, slots=True)
class ReportView:
    """The whole report."""

    name: str
    sections: tuple[SectionView, ...]
    left_out: Table
    budgets: tuple[float, ...]
    """Dollars to mark."""


def view_of(report: Report, cutoffs: Sequence[Cutoff]) -> ReportView:
    """Return the report, worked out."""
    sections = tuple(_section(section, cutoffs) for section in report.sections)
    budgets = tuple(cutoff.at for cutoff in cutoffs if cutoff.axis == "dollars")
    return ReportView(report.name, sections, left_out(report), budgets)


def _section(section: Section, cutoffs: Sequence[Cutoff]) -> SectionView:
    return SectionView(
        device=section.device,
        found=tuple(report_words.findings(section)),
        cost=tuple(report_words.costs(section)),
        caveats=tuple(report_caveats.caveats(section)),
        tables=tuple(tables(section, cutoffs)),
        plots=tuple(plots(section)),
    )
