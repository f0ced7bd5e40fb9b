"""A section of a report in sentences: what was found, how sure that is, what it cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sessions.report_counts import totals
from sessions.report_means import PAPER, Way, estimate
from sessions.report_pairs import pairs
from workbench import format as fmt
from workbench.report_cells import interval_words, percent, precision, times
from workbench.report_table import MOST, cost, listed, name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report import Section
    from sessions.report_counts import Total
    from sessions.report_means import Estimate, Measure
    from sessions.report_pairs import Pair
    from sessions.report_statistics import Interval

BARE = Way(clamp=False, failures=False)


def findings(section: Section) -> list[str]:
    """Return what was found, and how sure that is."""
    counted = totals(section)
    found = pairs(section)
    told = [_scope(section, counted), _means(section)]
    told += [pair_words(pair) for pair in found[:MOST]]
    told += [_beyond(section, "plain", "the best plain attempt, which costs no query")]
    told += [_beyond(section, "fastest", "the fastest baseline of any class")]
    told += [_nothing_added(section), _classes(section)]
    return [sentence for sentence in told if sentence]


def _scope(section: Section, counted: Sequence[Total]) -> str:
    runs, found = sum(t.runs for t in counted), sum(t.found for t in counted)
    what = ", ".join(
        (
            fmt.plural(len(section.configurations), "configuration"),
            fmt.plural(len(section.tasks), "task"),
            fmt.plural(runs, "run"),
        )
    )
    return f"{what} on {name(section.device)}: {found} of {runs} runs found a correct answer."


def _means(section: Section) -> str:
    found = [(one, _mean(section, one)) for one in section.configurations]
    ranked = sorted(found, key=lambda pair: -(pair[1].value if pair[1] else 0.0))
    told = [f"{name(one)} {_sure(mean)}" for one, mean in ranked if mean is not None]
    start = "Over eager, geometric mean over tasks, clamped at 1 and failures as 1"
    return f"{start}: {listed(told, '; ')}."


def _mean(section: Section, one: str) -> Estimate | None:
    return estimate(section.strata(one), "eager", PAPER)


def _sure(mean: Estimate) -> str:
    if mean.repeats is not None:
        return f"{times(mean.value)} (95 % over repeats: {interval_words(mean.repeats)})"
    if mean.measurement is not None:
        ends = interval_words(mean.measurement)
        return f"{times(mean.value)} (98 % by timing noise alone: {ends}; single runs)"
    return times(mean.value)


def _beyond(section: Section, measure: Measure, what: str) -> str:
    """Return what the search adds to what costs nothing; empty where there is none of that."""
    told: list[str] = []
    for one in section.configurations:
        mean = estimate(section.strata(one), measure, BARE)
        if mean is not None:
            told.append(f"{name(one)} {_sure(mean)}")
    return f"Over {what} (correct runs, not clamped): {listed(told, '; ')}." if told else ""


def _nothing_added(section: Section) -> str:
    """Say where the queries found nothing beyond the plain attempts, which count as correct answers."""
    plain = sum(run.best is not None and run.best.plain for run in section.runs)
    if not plain:
        return ""
    return f"In {plain} of {len(section.runs)} runs the best is a plain attempt: there the queries added nothing."


def _classes(section: Section) -> str:
    """Return how precisely the bests compute, and how much of them is their own."""
    bests = [run.best for run in section.runs if run.best is not None]
    if not bests:
        return ""
    counts = Counter(precision(best.precision) for best in bests)
    told = ", ".join(f"{found} in {count}" for found, count in counts.most_common())
    shares = [best.own_share for best in bests if best.own_share is not None]
    own = (
        f"; own kernels take {percent(sum(shares) / len(shares))} of the device time on average"
        if shares
        else ""
    )
    return f"Precision class of the {fmt.plural(len(bests), 'best')}: {told}{own}."


# --- who is ahead


def pair_words(pair: Pair) -> str:
    """Return who is ahead, by how much, and how sure that is."""
    tasks = fmt.plural(len(pair.tasks), "task")
    interval, kind = _interval(pair)
    head = f"{name(pair.first)} against {name(pair.second)} on the same {tasks}"
    if pair.tasks and not any(task.first.found or task.second.found for task in pair.tasks):
        return f"{head}: neither found a correct answer."
    if pair.ratio == 1:
        return f"{head}: {_even(interval, kind)}."
    first = pair.ratio > 1
    ahead, behind = (pair.first, pair.second) if first else (pair.second, pair.first)
    ratio = pair.ratio if first else 1 / pair.ratio
    ends = _turned(interval, first)
    between = f"{times(ratio)}, {kind}: {interval_words(ends)}" if ends else times(ratio)
    won = pair.ahead if first else pair.behind
    on = f"ahead on {won} of {len(pair.tasks)}"
    if _is_sure(pair, ends):
        return f"{head}: {name(ahead)} is ahead ({between}; {on})."
    if pair.repeats is None and pair.over_tasks is None:
        return (
            f"{head}: {name(ahead)} came out ahead ({between}; {on}), but single runs on fewer than three tasks "
            "cannot tell luck from merit: repeat them."
        )
    return (
        f"{head}: not told apart; {name(ahead)} came out ahead of {name(behind)} ({between}; {on})."
    )


def _even(interval: Interval | None, kind: str) -> str:
    """Return what to say where nobody came out ahead, as where all count as 1."""
    if interval is None or interval.low == interval.high:
        return f"no difference at all ({times(1)})"
    return f"neither came out ahead ({times(1)}, {kind}: {interval_words(interval)})"


def _interval(pair: Pair) -> tuple[Interval | None, str]:
    if pair.repeats is not None:
        return pair.repeats, "95 % over repeats"
    if pair.over_tasks is not None:
        return pair.over_tasks, "95 % over tasks, single runs"
    return pair.measurement, "98 % by timing noise alone"


def _turned(interval: Interval | None, first: bool) -> Interval | None:
    if interval is None or first:
        return interval
    return type(interval)(1 / interval.high, 1 / interval.low)


def _is_sure(pair: Pair, ends: Interval | None) -> bool:
    """Return whether 1 lies outside what repeats (or tasks) allow, and outside the timing noise."""
    if ends is None or (pair.repeats is None and pair.over_tasks is None):
        return False
    noise = _turned(pair.measurement, pair.ratio > 1)
    return ends.low > 1 and (noise is None or noise.low > 1)


# --- what it cost


def _queries(count: float) -> str:
    return fmt.plural(round(count), "query", "queries")


def costs(section: Section) -> list[str]:
    """Return what it cost, in all and by configuration."""
    counted = totals(section)
    queries = sum(t.queries for t in counted)
    usd, unknown = sum(t.cost_usd for t in counted), sum(t.unpriced for t in counted)
    hours = fmt.duration(sum(t.running_s for t in counted))
    whole = f"In all: {cost(usd, unknown)}, {fmt.plural(queries, 'query', 'queries')}, {hours} of searching."
    per_run = [
        f"{name(t.configuration)} {cost(t.cost_usd / t.runs, t.unpriced)} and {_queries(t.queries / t.runs)}"
        for t in counted
    ]
    return [whole, f"Per run: {listed(per_run, '; ')}."]
