"""The tables of a report: for each section, rows that a person reads and rows that a program reads.

| table | a row is |
| --- | --- |
| configurations | a configuration: runs, attempts, cost |
| means | a configuration by one measure, over tasks |
| tasks | a configuration on a task |
| pairs, paired_tasks | two configurations, over their tasks; on each |
| cutoffs | a configuration at a budget |
| fixes, lines, agents | a configuration by fixes, by step, by agent |
| runs | a session |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import report_counts as counts
from sessions.report_means import MEASURES, WAYS, estimate, task_means
from sessions.report_pairs import pairs
from sessions.report_spending import cutoffs
from workbench import format as fmt
from workbench import report_tables_counted as counted
from workbench.report_cells import (
    estimate_fields,
    estimate_words,
    interval_fields,
    interval_words,
    percent,
    precision,
    times,
)
from workbench.report_table import Raw, Table, name, table
from workbench.report_tables_runs import runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report import Section
    from sessions.report_means import TaskMean
    from sessions.report_pairs import Pair, PairedTask
    from sessions.report_spending import Cutoff


MEASURE_WORDS = {
    "eager": "over eager",
    "paper": "over eager, by means (paper)",
    "baseline": "over the strongest baseline of its class",
    "fastest": "over the fastest baseline of any class",
    "plain": "over the best plain attempt",
}


def tables(section: Section, wanted: Sequence[Cutoff]) -> list[Table]:
    """Return the tables of a section that hold something."""
    made = [
        counted.configurations(counts.totals(section)),
        _means(section),
        _tasks(task_means(section)),
        *_pairs(pairs(section)),
        counted.cutoffs(cutoffs(section, wanted)),
        counted.fixes(counts.fixes(section)),
        counted.lines(counts.lines(section)),
        counted.agents(counts.agent_costs(section)),
        runs(section),
    ]
    return [one for one in made if one.rows]


def _means(section: Section) -> Table:
    rows: list[tuple[str, ...]] = []
    raw: list[Raw] = []
    for one in section.configurations:
        strata = section.strata(one)
        for measure in MEASURES:
            found = [estimate(strata, measure, way) for way in WAYS]
            first = found[0]
            if first is None or not first.found:
                continue
            words = (estimate_words(first), *(times(e.value if e else None) for e in found[1:]))
            counted = f"{first.found} of {first.asked}"
            rows.append((name(one), MEASURE_WORDS[measure], *words, counted, str(first.tasks)))
            raw += [
                {"configuration": one, "measure": measure, "clamped": way.clamp,
                 "failures_count_1": way.failures, **estimate_fields(e)}
                for way, e in zip(WAYS, found, strict=True)
            ]  # fmt: skip
    head = ("configuration", "speedup", "clamped at 1, failures as 1 (paper's way)", "clamped, failures left out",
            "not clamped, failures as 1", "not clamped, failures left out", "runs", "tasks")  # fmt: skip
    says = (
        "Geometric means over the repeats of each task, then over tasks. After `repeats`: 95 % over repeats of the "
        "search on these tasks; after `timing`: 98 % by timing noise alone."
    )
    return table("means", "Means over tasks", says, head, rows, raw, 2)


def _tasks(found: Sequence[TaskMean]) -> Table:
    rows = [
        (name(t.task), name(t.configuration), times(t.eager.value), interval_words(t.eager.repeats),
         interval_words(t.eager.measurement), f"{t.eager.found} of {t.eager.asked}",
         _value(t.baseline), _value(t.fastest), _value(t.plain),
         ", ".join(map(precision, t.precisions)) or fmt.NONE, percent(t.own_share),
         f"{t.queries:.0f}", fmt.money(t.cost_usd))
        for t in found
    ]  # fmt: skip
    head = ("task", "configuration", "over eager, paper's way", "95 % over repeats", "98 % timing alone",
            "correct", "over its class's baseline", "over the fastest baseline", "over the best plain", "class",
            "own kernels", "queries per run", "cost per run")  # fmt: skip
    raw = [
        {"task": t.task, "configuration": t.configuration, **estimate_fields(t.eager, "eager_"),
         **estimate_fields(t.correct, "eager_correct_only_"), **estimate_fields(t.baseline, "baseline_"),
         **estimate_fields(t.fastest, "fastest_baseline_"), **estimate_fields(t.plain, "plain_"),
         "precision_classes": " ".join(t.precisions), "own_kernel_share": t.own_share,
         "queries_per_run": t.queries, "cost_usd_per_run": t.cost_usd}
        for t in found
    ]  # fmt: skip
    says = (
        "Over eager: clamped at 1, failures as 1; the other speedups are of the correct runs alone, not clamped. "
        "`own kernels`: their share of the device time in kernels that are the candidate's own."
    )
    return table("tasks", "By task", says, head, rows, raw, 2)


def _value(found: Any) -> str:
    return times(found.value if found else None)


def _pairs(found: Sequence[Pair]) -> list[Table]:
    rows = [
        (name(p.first), name(p.second), times(p.ratio), interval_words(p.repeats), interval_words(p.over_tasks),
         interval_words(p.measurement), f"{p.ahead} ahead, {p.behind} behind of {len(p.tasks)}")
        for p in found
    ]  # fmt: skip
    head = ("first", "second", "first / second", "95 % over repeats", "95 % over tasks",
            "98 % timing alone", "tasks")  # fmt: skip
    raw = [
        {"first": p.first, "second": p.second, "ratio": p.ratio, **interval_fields(p.repeats, "repeats_"),
         **interval_fields(p.over_tasks, "over_tasks_"), **interval_fields(p.measurement, "measurement_"),
         "tasks": len(p.tasks), "tasks_ahead": p.ahead, "tasks_behind": p.behind}
        for p in found
    ]  # fmt: skip
    says = (
        "On the tasks both ran on, over eager, in the paper's way. Above 1×, the first found the faster candidates. "
        "Over repeats: these tasks, other luck; over tasks: other tasks like these, from three tasks on."
    )
    both = table("pairs", "Configurations side by side", says, head, rows, raw, 2)
    return [both, _paired_tasks([(p, t) for p in found for t in p.tasks])]


def _paired_tasks(found: Sequence[tuple[Pair, PairedTask]]) -> Table:
    rows = [
        (name(p.first), name(p.second), name(t.task), times(t.first.value), times(t.second.value),
         times(t.ratio), interval_words(t.repeats), interval_words(t.measurement))
        for p, t in found
    ]  # fmt: skip
    head = ("first", "second", "task", "first's", "second's", "first / second", "95 % over repeats",
            "98 % timing alone")  # fmt: skip
    raw = [
        {"first": p.first, "second": p.second, "task": t.task, "first_speedup": t.first.value,
         "second_speedup": t.second.value, "ratio": t.ratio, **interval_fields(t.repeats, "repeats_"),
         **interval_fields(t.measurement, "measurement_")}
        for p, t in found
    ]  # fmt: skip
    says = "The pairs above, task by task."
    return table("paired_tasks", "Side by side, by task", says, head, rows, raw, 3)
