"""Measured suites for people, in lines: one per task and candidate, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.suite_measures import CLASSES, gain, gain_within, geomean, paper

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
    classes = _of_classes(timed) if mean else ""
    return [f"{told}{plain}{classes}.", *(_of_folder(timed, folder) for folder in folders)]


def classes_of(rows: Sequence[Measured]) -> list[str]:
    """Return the precision classes that plain baselines were measured in, finest first."""
    found = {name for one in rows for name in one.row.classes.values()}
    return [name for name in CLASSES if name in found]


def class_mean(timed: Sequence[Measured], precision_class: str) -> float | None:
    """Return the geometric mean over eager of the best baselines of a class or a finer one."""
    return geomean(r for one in timed if (r := gain_within(one, precision_class)) is not None)


def _of_classes(timed: Sequence[Measured]) -> str:
    means = [(name, class_mean(timed, name)) for name in classes_of(timed)]
    told = ", ".join(f"{name} {mean:.2f}x" for name, mean in means if mean is not None)
    return f"; of each class or a finer one {told}" if told else ""


def _of_folder(timed: Sequence[Measured], folder: str) -> str:
    """Return what a set of candidates comes to; a task without a correct one counts as 1 over eager."""
    held = [one for one in timed if any(r.folder == folder for r in one.candidates)]
    bests = [one.best_of(folder) for one in held]
    correct = [b for b in bests if b is not None]
    over_eager = geomean(b.speedup_eager_ratio or 1 for b in correct)
    over_plain = geomean(
        ratio
        for one, best in zip(held, bests, strict=True)
        if best is not None and (ratio := one.over_best(best))
    )
    all_tasks = geomean((b.speedup_eager_ratio or 1) if b else 1 for b in bests)
    told = f"{folder}: a correct candidate on {len(correct)} of {len(held)} tasks"
    if over_eager is None or all_tasks is None:
        return f"{told}."
    plain = f", {over_plain:.2f}x over the best plain baseline of its class" if over_plain else ""
    return (
        f"{told}; on those {over_eager:.2f}x over eager{plain}; "
        f"{all_tasks:.2f}x over eager where a failure counts as 1, "
        f"{geomean(paper(b) if b else 1 for b in bests) or 1:.2f}x as the paper counts (geometric means)."
    )
