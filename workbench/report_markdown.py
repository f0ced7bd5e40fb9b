"""A report as Markdown: sentences first, then figures, then tables. Foreign names are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.plain import inert_line
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from workbench.report_table import Table
    from workbench.report_view import ReportView, SectionView

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
MOST_ROWS = 100
"""Of a table on the page; its file holds all."""
METHOD = """\
* **A run's number** is its best attempt's: chosen by the first measurement, counted by the second where there is one.
  Suspect and banned attempts never count. Single speedups carry the evaluator's 98 % interval.
* **Paper's way**: geometric mean, each run clamped at 1, a run without a correct answer as 1 (who is offered nothing,
  or something slower, keeps the original). Other ways stand beside it.
* **95 % over repeats**: a bootstrap of 2,000 resamples within each task (seed 0), widened for few repeats so that it
  covers what it says. It tells what the same search would find again on these tasks. **95 % over tasks**: the same with
  tasks as the repeats. **98 % timing alone**: the evaluator's intervals, in quadrature; it knows nothing of luck.
* **Ahead** is said where both the interval over repeats (of single runs: over tasks) and the one by timing exclude 1.
* **Best so far** is the attempt that `pike best` would have given then. Over eager it may fall: where a candidate of a
  finer precision class took the lead, or a later best did not keep its first number when it was measured again.
* **Over eager** is over the task as it stands; **over its class's baseline** is over the strongest plain PyTorch of the
  same precision class or a finer one."""


def page(report: ReportView, figures: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Return the whole page; figures (title, path) by device."""
    return "\n".join(_lines(report, figures)) + "\n"


def _lines(report: ReportView, figures: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[str]:
    yield f"# {escaped(report.name) or 'Sessions'}: report"
    yield ""
    yield f"Written by pike {version()}. {_sections(len(report.sections))}"
    for section in report.sections:
        yield from _section(section, figures.get(section.device, ()))
    if report.left_out.rows:
        yield from table_lines(report.left_out)
    yield from ("", "## How the numbers are made", "", METHOD)


def _sections(count: int) -> str:
    if count == 0:
        return "No run holds a number yet."
    if count == 1:
        return "Every number is from one GPU model."
    return f"{count} GPU models: a section each, since neither runtimes nor speedups compare between them."


def _section(section: SectionView, figures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from ("", f"## On {escaped(section.device)}", "", "### Found")
    yield from _bullets(section.found)
    yield from ("", "### Cost")
    yield from _bullets(section.cost)
    if section.caveats:
        yield from ("", "### Keep in mind")
        yield from _bullets(section.caveats)
    for title, path in figures:
        yield from ("", f"![{escaped(title)}]({path})")
    for table in section.tables:
        yield from table_lines(table)


def _bullets(sentences: Iterable[str]) -> Iterator[str]:
    yield ""
    for sentence in sentences:
        yield f"* {escaped(sentence)}"


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table under its title."""
    yield from ("", f"### {table.title}", "", table.says, "")
    yield _row(table.head)
    yield _row("---" if head in table.left else "--:" for head in table.head)
    for row in table.rows[:MOST_ROWS]:
        yield _row(map(escaped, row))
    if len(table.rows) > MOST_ROWS:
        yield from ("", f"{len(table.rows) - MOST_ROWS} more rows are in `{table.name}.csv`.")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", inert_line(text))
