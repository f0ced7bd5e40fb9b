"""What a reader must know of a section before believing its numbers, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.report_counts import totals
from sessions.report_pairs import pairs
from sessions.states import SessionState
from workbench import format as fmt
from workbench.report_table import listed, name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report import Section
    from sessions.report_counts import Total
    from sessions.report_runs import Run


def caveats(section: Section) -> list[str]:
    """Return what a reader must know before believing the numbers."""
    counted = totals(section)
    bests = sum(t.found for t in counted)
    again = sum(t.again for t in counted)
    told = [
        _unended(section),
        _stopped(section),
        _budgets(section),
        _labels(section),
        _again(bests, again),
        _refuted(section),
        _unpriced(counted),
        _single(section),
        _uneven(section),
        _many(len(pairs(section))),
    ]
    return [sentence for sentence in told if sentence]


def _unended(section: Section) -> str:
    open_runs = [run for run in section.runs if not run.ended]
    if not open_runs:
        return ""
    states = listed([f"{name(run.session)} ({run.state})" for run in open_runs])
    return f"Not ended, so their numbers are those so far: {states}."


def _stopped(section: Section) -> str:
    stopped = [name(run.session) for run in section.runs if run.state == SessionState.STOPPED]
    return f"Stopped before their budget was used up: {listed(stopped)}." if stopped else ""


def _budgets(section: Section) -> str:
    """Say where configurations had other budgets: then more than the searches is compared."""
    had: dict[str, dict[str, None]] = {}
    for run in section.runs:
        had.setdefault(name(run.configuration), {})[_budget(run)] = None
    if len({budget for several in had.values() for budget in several}) < 2:
        return ""
    told = [f"{one} {' or '.join(several)}" for one, several in had.items()]
    return f"Budgets differ, so that more than the searches is compared: {listed(told, '; ')}."


def _budget(run: Run) -> str:
    queries, usd, hours = (run.limits.get(key) for key in ("queries", "cost_usd", "hours"))
    told = (
        fmt.plural(int(queries), "query", "queries") if queries is not None else "",
        fmt.money(usd) if usd is not None else "",
        f"{hours:g} h" if hours is not None else "",
    )
    return ", ".join(part for part in told if part) or "no limit"


def _labels(section: Section) -> str:
    labels = dict.fromkeys(label for run in section.runs for label in run.labels)
    if not labels:
        return ""
    told = [f"{label} ({listed(_with_label(section, label))})" for label in labels]
    return f"Numbers of another kind: {'; '.join(told)}."


def _with_label(section: Section, label: str) -> list[str]:
    found = dict.fromkeys(run.configuration for run in section.runs if label in run.labels)
    return [name(configuration) for configuration in found]


def _again(bests: int, again: int) -> str:
    if again == bests:
        return ""
    once = f"{bests - again} of {bests} bests were measured once"
    return f"{once}: chosen and counted by the same number, which flatters."


def _refuted(section: Section) -> str:
    told = [
        f"{name(run.session)} {name('; '.join(run.refuted))}" for run in section.runs if run.refuted
    ]
    return f"Did not stand up, and do not count: {listed(told, '; ')}." if told else ""


def _unpriced(counted: Sequence[Total]) -> str:
    unknown = sum(t.unpriced for t in counted)
    if not unknown:
        return ""
    queries = fmt.plural(unknown, "query", "queries")
    return f"The cost of {queries} is not known: such runs are left out of what is told by dollars."


def _single(section: Section) -> str:
    single = [
        one for one in section.configurations if any(len(runs) < 2 for runs in section.strata(one))
    ]
    if not single:
        return ""
    names = listed([name(one) for one in single])
    return f"With a single run on some task, nothing is known about other luck there: {names}."


def _uneven(section: Section) -> str:
    """Say where means are not over the same tasks: they do not compare, pairs do."""
    every = len(section.tasks)
    some = [one for one in section.configurations if len(section.strata(one)) < every]
    if not some or len(section.configurations) < 2:
        return ""
    names = listed([name(one) for one in some])
    return f"Not on all {every} tasks, so its means do not compare (the pairs do): {names}."


def _many(count: int) -> str:
    if count < 3:
        return ""
    return f"Of {count} pairs compared at 95 % each, one in twenty would differ by luck alone."
