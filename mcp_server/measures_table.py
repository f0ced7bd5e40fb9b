"""Measured suites for people: a line per task, a page of Markdown, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.clean import printable
from mcp_server.suite_measures import gain, geomean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.suite_measures import Measured, Result


def lines(one: Measured) -> list[str]:
    """Return what came of a task, and of each candidate."""
    row = one.row
    if row.state != "qualified":
        return [f"{row.task}  {row.state}: {row.code}: {row.reason}"]
    return [f"{row.task}  {_plain(one)}", *(f"    {r.file}  {_said(r)}" for r in one.candidates)]


def _plain(one: Measured) -> str:
    best, ratio = one.best_plain, gain(one)
    if best is None or ratio is None:
        return "qualified, but no baseline could be timed"
    return f"eager {one.eager_ms:.3g} ms, best plain {best[0]} {best[1]:.3g} ms ({ratio:.2f}x)"


def _said(result: Result) -> str:
    if not result.correct:
        code = f"/{result.code}" if result.code else ""
        return f"{result.status}{code} {result.cause}".rstrip()
    low, high = result.speedup_lo_ratio, result.speedup_hi_ratio
    sure = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    plain = (
        f"{result.speedup_ratio:.2f}x{sure} over {result.baseline}" if result.speedup_ratio else ""
    )
    return f"{plain}, {result.speedup_eager_ratio:.2f}x over eager".removeprefix(", ")


def summary(rows: Sequence[Measured], folders: Sequence[str]) -> list[str]:
    """Return how many were measured, and the geometric means."""
    timed = [one for one in rows if gain(one) is not None]
    ratios = [ratio for one in timed if (ratio := gain(one)) is not None]
    mean = geomean(ratios)
    told = f"{len(timed)} of {len(rows)} tasks measured"
    plain = f"; the best plain baseline is {mean:.2f}x over eager (geometric mean)" if mean else ""
    return [f"{told}{plain}.", *(_of_folder(timed, folder) for folder in folders)]


def _of_folder(timed: Sequence[Measured], folder: str) -> str:
    """Return what a set of candidates comes to; a task without a correct one counts as 1 over eager."""
    held = [one for one in timed if any(r.folder == folder for r in one.candidates)]
    bests = [one.best_of(folder) for one in held]
    correct = [b for b in bests if b is not None]
    over_eager = geomean(b.speedup_eager_ratio or 1 for b in correct)
    over_plain = geomean(b.speedup_ratio for b in correct if b.speedup_ratio)
    all_tasks = geomean((b.speedup_eager_ratio or 1) if b else 1 for b in bests)
    told = f"{folder}: a correct candidate on {len(correct)} of {len(held)} tasks"
    if over_eager is None or all_tasks is None:
        return f"{told}."
    plain = f", {over_plain:.2f}x over the best plain baseline of its class" if over_plain else ""
    return (
        f"{told}; on those {over_eager:.2f}x over eager{plain}; "
        f"{all_tasks:.2f}x over eager where a failure counts as 1 (geometric means)."
    )


def page(rows: Sequence[Measured], folders: Sequence[str], heading: str) -> str:
    """Return the rows as a page of Markdown."""
    names = list(dict.fromkeys(name for one in rows for name in one.row.baselines_ms))
    head = ["task", *(f"{name}, ms" for name in names), "best plain over eager", *folders]
    told = " ".join(summary(rows, folders))
    table = [head, ["---"] * len(head), *(_cells(one, names, folders) for one in rows)]
    body = "".join(f"| {' | '.join(_cell(c) for c in cells)} |\n" for cells in table)
    return f"# Baselines\n\n{_cell(heading)} {_cell(told)}\n\n{body}"


def _cells(one: Measured, names: Sequence[str], folders: Sequence[str]) -> list[str]:
    row = one.row
    if row.state != "qualified":
        why = f"{row.state}: {row.code}: {row.reason}"
        return [row.task, why, *[""] * (len(names) + len(folders))][: 2 + len(names) + len(folders)]
    times = [f"{row.baselines_ms[n]:.4g}" if n in row.baselines_ms else "" for n in names]
    ratio = gain(one)
    return [row.task, *times, f"{ratio:.2f}" if ratio else "", *(_best(one, f) for f in folders)]


def _best(one: Measured, folder: str) -> str:
    best = one.best_of(folder)
    if best is not None:
        return f"{_said(best)} ({best.precision_class})"
    failed = [r for r in one.candidates if r.folder == folder]
    return "; ".join(_said(r) for r in failed[:3]) or "no candidate"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("\n", " ")
