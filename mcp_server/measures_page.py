"""Measured suites as a page of Markdown: plain PyTorch by precision class, candidates beside it, what has no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.markdown import cell, table
from mcp_server.measures_table import class_mean, classes_of, summary
from mcp_server.suite_measures import gain, gain_within, geomean, paper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_server.suite_measures import Measured, Result

_LEGEND = """Times are medians in ms; a name is followed by its precision class. `_compile` is torch.compile,
`_autocast` and `_cast` are half precision by autocast and of the whole model, `graphed` is a CUDA graph. Ratios
are over eager; *best of* a class counts the finer ones, too. An empty cell was not measured: where a reason is
known, it is below."""
_OF_CANDIDATES = """Over eager, with the 95 % interval, and over the strongest plain baseline of the candidate's own
class or a finer one. Beside ours: the paper's number (ratio of means, never below 1, a failure is 1) and Triton's
do_bench in the candidate's own process, which nothing keeps honest."""


def page(rows: Sequence[Measured], folders: Sequence[str], heading: str) -> str:
    """Return the rows as a page of Markdown."""
    told = cell(" ".join([heading, *summary(rows, folders)]))
    parts = [f"# Baselines\n\n{told}", f"## Plain PyTorch\n\n{_LEGEND}", _plain(rows)]
    if any(one.candidates for one in rows):
        parts += [f"## Candidates\n\n{_OF_CANDIDATES}", _candidates(rows)]
    without = _without(rows)
    return "\n\n".join([*parts, *(["## Not measured", without] if without else [])]) + "\n"


def _plain(rows: Sequence[Measured]) -> str:
    known = [one for one in rows if one.row.state == "qualified"]
    named = {name: kind for one in known for name, kind in one.row.classes.items()}
    names = list(dict.fromkeys(name for one in known for name in one.row.baselines_ms))
    classes = classes_of(known)
    titles = [f"{name} ({named[name]})" if name in named else name for name in names]
    head = ["task", *titles, *(f"best of {name}" for name in classes), "best over eager"]
    body = [
        [
            one.row.task,
            *(_number(one.row.baselines_ms.get(name)) for name in names),
            *(_ratio(gain_within(one, name)) for name in classes),
            _fastest(one),
        ]
        for one in known
    ]
    best = _ratio(geomean(ratio for one in known if (ratio := gain(one)) is not None))
    means = [*(_ratio(class_mean(known, name)) for name in classes), best]
    return table(head, [*body, ["geometric mean", *[""] * len(names), *means]])


def _fastest(one: Measured) -> str:
    best = one.best_plain
    return f"{_ratio(gain(one))} {best[0]}" if best else ""


def _candidates(rows: Sequence[Measured]) -> str:
    head = ["task", "candidate", "class", "over eager", "over the strongest of its class"]
    head += ["the paper's", "do_bench, ms: eager, candidate"]
    body = [
        [one.row.task, result.file, *_result(one, result)]
        for one in rows
        for result in one.candidates
    ]
    return table(head, body)


def _result(one: Measured, result: Result) -> list[str]:
    if not result.correct:
        code = f"/{result.code}" if result.code else ""
        said = f"{result.status}{code} {result.cause}".rstrip()
        return ["", said, "", _ratio(paper(result)), ""]
    best = one.best_within(result.precision_class or "coarser")
    over = _ratio(one.over_best(result))
    interval = _interval(result.speedup_eager_lo_ratio, result.speedup_eager_hi_ratio)
    return [
        result.precision_class or "",
        f"{_ratio(result.speedup_eager_ratio)}{interval}",
        f"{over} {best[0] if best else result.baseline or ''}",
        _ratio(paper(result)),
        _do_bench(result),
    ]


def _do_bench(result: Result) -> str:
    mine, theirs = result.do_bench_ms, result.eager_do_bench_ms
    if mine is None:
        return ""
    return f"{_number(theirs)}, {_number(mine)}" + (f" ({theirs / mine:.2f}x)" if theirs else "")


def _without(rows: Sequence[Measured]) -> str:
    """Return what has no time: whole tasks, and single baselines, a line each."""
    lines = [
        f"{one.row.task}: {one.row.state}: {one.row.code}: {one.row.reason}"
        for one in rows
        if one.row.state != "qualified"
    ]
    lines += [f"{one.row.task}: {note}" for one in rows for note in one.row.unmeasured]
    return "\n".join(f"* {cell(line)}" for line in lines)


def _interval(low: float | None, high: float | None) -> str:
    return f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""


def _ratio(value: float | None) -> str:
    return f"{value:.2f}x" if value is not None else ""


def _number(value: float | None) -> str:
    return f"{value:.4g}" if value is not None else ""
