"""The tables of single sessions: every run, and those that hold no number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import format as fmt
from workbench.plain import inert_line
from workbench.report_cells import measured_fields, measured_words, percent, precision, times
from workbench.report_table import Raw, Table, cost, name, table

if TYPE_CHECKING:
    from sessions.report import Report, Section
    from sessions.report_runs import Run


def runs(section: Section) -> Table:
    """Return every run, whole."""
    head = ("session", "configuration", "task", "repeat", "state", "best", "over eager, 98 %", "at first",
            "measured again", "class", "own kernels", "runtime ms", "queries", "cost")  # fmt: skip
    rows = [_run_words(section, run) for run in section.runs]
    raw = [_run_fields(section, run) for run in section.runs]
    says = (
        "Chosen by the first measurement; the number is the second's where there is one, so that the luck of the "
        "first is not counted."
    )
    left = frozenset(
        ("session", "configuration", "task", "state", "best", "measured again", "class")
    )
    return Table("runs", "Every run", says, head, tuple(rows), tuple(raw), left)


def _run_words(section: Section, run: Run) -> tuple[str, ...]:
    best = run.best
    found = ("none",) + (fmt.NONE,) * 6
    if best is not None:
        plain = " (plain)" if best.plain else ""
        found = (
            f"{best.id}{plain}", measured_words(best.eager), times(best.first),
            "yes" if best.again else "no", precision(best.precision), percent(best.own_share),
            fmt.milliseconds(best.runtime_ms),
        )  # fmt: skip
    where = (name(run.session), name(run.configuration), name(section.task_of(run)))
    spent = (str(run.queries), cost(run.cost_usd, run.unpriced, run.estimated_usd))
    return (*where, str(run.repeat), run.state, *found, *spent)


def _run_fields(section: Section, run: Run) -> Raw:
    best = run.best
    return {
        "session": run.session,
        "configuration": run.configuration,
        "task": section.task_of(run),
        "task_sha256": run.task_sha256,
        "repeat": run.repeat,
        "device": section.device,
        "state": run.state,
        "cause": run.cause,
        "strategy": run.strategy,
        "models": " + ".join(run.models),
        "seed": run.seed,
        "labels": ", ".join(run.labels),
        "best": best.id if best else None,
        "best_is_plain": best.plain if best else None,
        **measured_fields(best.eager if best else None, "eager_"),
        **measured_fields(best.baseline if best else None, "baseline_"),
        "baseline_name": best.over if best else None,
        "paper_speedup": best.paper if best else None,
        "eager_at_first": best.first if best else None,
        "measured_again": best.again if best else None,
        "confirmed": best.confirmed if best else None,
        "precision_class": best.precision if best else None,
        "own_kernel_share": best.own_share if best else None,
        "runtime_ms": best.runtime_ms if best else None,
        "best_after_queries": best.queries if best else None,
        "best_after_usd": best.cost_usd if best else None,
        "plain": run.plain.id if run.plain else None,
        **measured_fields(run.plain.eager if run.plain else None, "plain_eager_"),
        "fastest_baseline_eager": run.top_baseline,
        "fastest_baseline_name": run.top_baseline_name,
        "refuted": "; ".join(run.refuted),
        "attempts": sum(run.kinds.values()),
        "attempts_correct": run.kinds.get("correct", 0),
        "queries": run.queries,
        "cost_usd": run.cost_usd,
        "queries_of_unknown_cost": run.unpriced,
        "running_s": run.running_s,
    }


def left_out(report: Report) -> Table:
    """Return what holds no number, and why."""
    rows = [
        (name(one.session) or fmt.NONE, name(one.configuration) or fmt.NONE, name(one.task) or fmt.NONE,
         inert_line(one.why, 160))
        for one in report.left_out
    ]  # fmt: skip
    raw = [
        {"session": o.session, "configuration": o.configuration, "task": o.task, "why": o.why}
        for o in report.left_out
    ]
    head = ("session", "configuration", "task", "why")
    return table("left_out", "Left out", "These hold no number.", head, rows, raw, 4)
