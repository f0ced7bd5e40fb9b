"""A report as files: Markdown, JSON, tables and figures with the numbers behind them.

```
DIR/report.md  report.json
DIR/GPU-MODEL/tables/NAME.csv  NAME.parquet       with pyarrow
DIR/GPU-MODEL/figures/NAME.csv  NAME.png  NAME.svg   with matplotlib
```
Equal sessions give equal bytes. Writing again removes what the report before wrote and this one does not.
"""

from __future__ import annotations

import csv
import io
import json
import re
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench import report_figures, report_markdown
from workbench.errors import CannotGoOn
from workbench.plain import inert_line
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from workbench.report_plots import Plot
    from workbench.report_table import Raw, Table
    from workbench.report_view import ReportView, SectionView

EXTRA = "pip install 'pike-workbench[report]'"
PAGE, DATA = "report.md", "report.json"


def missing() -> str:
    """Return what is not installed and so not written; empty where nothing is."""
    wanted = (("matplotlib", "figures"), ("pyarrow", "parquet files"))
    told = [f"{what} need {module}" for module, what in wanted if find_spec(module) is None]
    return f"{' and '.join(told)}: {EXTRA}" if told else ""


def write(report: ReportView, out: Path) -> list[str]:
    """Write the report into a folder and return the files' names, relative to it.

    Raises:
        CannotGoOn: the folder cannot be written.
    """
    files = dict(_files(report))
    data = as_json(report) | {"files": sorted([*files, DATA])}
    files[DATA] = (json.dumps(data, ensure_ascii=True, indent=1) + "\n").encode()
    try:
        _remove_earlier(out, set(files))
        for name in sorted(files):
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
    except OSError as error:
        why = error.strerror or str(error)
        raise CannotGoOn(
            f"cannot write the report to {out}: {why}; choose another --out."
        ) from error
    return sorted(files)


def as_json(report: ReportView) -> dict[str, Any]:
    """Return all that a report tells, as JSON."""
    return {
        "report": report.name,
        "pike": version(),
        "sections": [_section_json(section) for section in report.sections],
        "left_out": list(report.left_out.raw),
    }


def _section_json(section: SectionView) -> dict[str, Any]:
    return {
        "device": section.device,
        "found": list(section.found),
        "cost": list(section.cost),
        "keep_in_mind": list(section.caveats),
        "tables": {table.name: list(table.raw) for table in section.tables},
        "figures": {plot.name: list(plot.rows) for plot in section.plots},
    }


def _files(report: ReportView) -> Iterator[tuple[str, bytes]]:
    figures: dict[str, list[tuple[str, str]]] = {}
    for section, folder in zip(report.sections, _folders(report), strict=True):
        for table in section.tables:
            yield from _table(f"{folder}/tables/{table.name}", table)
        for plot in section.plots:
            path = f"{folder}/figures/{plot.name}"
            yield f"{path}.csv", as_csv(_with_lines(plot))
            if report_figures.available():
                drawn = report_figures.drawn(plot, section.device, report.budgets)
                yield from ((f"{path}.{ending}", data) for ending, data in drawn.items())
                figures.setdefault(section.device, []).append((plot.title, f"{path}.png"))
    yield PAGE, report_markdown.page(report, figures).encode("utf-8", "replace")


def _with_lines(plot: Plot) -> list[Raw]:
    """Return a figure's rows, and the lines across it."""
    if plot.plain is None and plot.fastest is None:
        return list(plot.rows)
    lines = {"plain": plot.plain, "fastest_baseline": plot.fastest}
    return [row | lines for row in plot.rows]


def _folders(report: ReportView) -> list[str]:
    """Return a folder's name for each section."""
    found: list[str] = []
    for section in report.sections:
        name = slug(section.device)
        found.append(name if name not in found else f"{name}-{len(found) + 1}")
    return found


def slug(text: str) -> str:
    """Return a foreign name as a folder's: `NVIDIA H200` to `nvidia-h200`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "unnamed"


def _table(path: str, table: Table) -> Iterator[tuple[str, bytes]]:
    yield f"{path}.csv", as_csv(table.raw)
    if find_spec("pyarrow") is not None:
        yield f"{path}.parquet", _parquet(table.raw)


def as_csv(rows: Sequence[Raw]) -> bytes:
    """Return the rows with a head; numbers with six digits that count, unknown ones empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = inert_line(str(value))
    is_formula = isinstance(value, str) and text[:1] in ("=", "+", "-", "@")
    return f"'{text}" if is_formula else text


def _parquet(rows: Sequence[Raw]) -> bytes:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = {name: [_storable(row[name]) for row in rows] for name in rows[0]}
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


def _storable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _remove_earlier(out: Path, kept: set[str]) -> None:
    """Remove what the report before wrote here and this one does not; nothing else."""
    try:
        listed: Any = json.loads((out / DATA).read_text(encoding="utf-8")).get("files", [])
    except (OSError, ValueError, AttributeError):
        return
    for name in listed if isinstance(listed, list) else []:  # pyright: ignore[reportUnknownVariableType] -- JSON
        if isinstance(name, str) and name not in kept and _is_ours(name):
            (out / name).unlink(missing_ok=True)


def _is_ours(name: str) -> bool:
    return bool(re.fullmatch(r"[a-z0-9-]+/(tables|figures)/[a-z_]+\.(csv|parquet|png|svg)", name))
