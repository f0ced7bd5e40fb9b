"""The tables of what happened on the way: what ran, budgets, fixes, lines, agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import format as fmt
from workbench.report_cells import interval_fields, interval_words, percent, times
from workbench.report_table import Table, cost, name, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.report_counts import AgentCost, Fixes, Lines, Total
    from sessions.report_spending import Cutoff, CutoffMean


def configurations(found: Sequence[Total]) -> Table:
    """Return a line for each configuration."""
    rows = [
        (name(t.configuration), str(t.tasks), f"{t.found} of {t.runs}", str(t.unended),
         f"{t.correct} of {t.attempts}", f"{t.suspect}, {t.banned}", f"{t.again} of {t.found}",
         str(t.queries), cost(t.cost_usd, t.unpriced, t.estimated_usd), fmt.duration(t.running_s))
        for t in found
    ]  # fmt: skip
    head = ("configuration", "tasks", "runs with a correct answer", "not ended", "correct attempts",
            "suspect, banned", "bests measured again", "queries", "cost", "running time")  # fmt: skip
    raw = [
        {"configuration": t.configuration, "tasks": t.tasks, "runs": t.runs, "runs_found": t.found,
         "runs_not_ended": t.unended, "bests_measured_again": t.again, "bests_confirmed": t.confirmed,
         "attempts": t.attempts, "attempts_correct": t.correct, "attempts_suspect": t.suspect,
         "attempts_banned": t.banned, "queries": t.queries, "cost_usd": t.cost_usd,
         "queries_of_unknown_cost": t.unpriced, "estimated_usd": t.estimated_usd,
         "running_s": t.running_s}
        for t in found
    ]  # fmt: skip
    says = "Suspect and banned attempts are counted here and nowhere else."
    return table("configurations", "What ran, and what it cost", says, head, rows, raw, 1)


def cutoffs(found: Sequence[CutoffMean]) -> Table:
    """Return what was found at each budget."""
    rows = [
        (name(c.configuration), cutoff_words(c.cutoff), times(c.value), interval_words(c.repeats),
         f"{c.reached} of {c.runs}", str(c.unknown) if c.unknown else fmt.NONE)
        for c in found
    ]  # fmt: skip
    head = ("configuration", "cut off at", "over eager, paper's way", "95 % over repeats",
            "runs that spent it", "left out, cost unknown")  # fmt: skip
    raw = [
        {"configuration": c.configuration, "axis": c.cutoff.axis, "at": c.cutoff.at, "speedup": c.value,
         **interval_fields(c.repeats, "repeats_"), "runs": c.runs, "runs_that_spent_it": c.reached,
         "runs_of_unknown_cost": c.unknown}
        for c in found
    ]  # fmt: skip
    says = (
        "What each configuration had found when each run had spent so much, per task; a run that spent less counts "
        "with its last number. It falls where a later best did not keep its first number when it was measured again."
    )
    return table("cutoffs", "At a budget", says, head, rows, raw, 2)


def cutoff_words(cutoff: Cutoff) -> str:
    """Return a budget: `$ 25.00`, `100 queries`."""
    if cutoff.axis == "dollars":
        return fmt.money(cutoff.at)
    return fmt.plural(int(cutoff.at), "query", "queries")


def fixes(found: Sequence[Fixes]) -> Table:
    """Return the fix-attempt histogram."""
    most = max((n for h in found for n in (*h.works, *h.gave_up)), default=0)
    steps = range(most + 1)
    rows = [
        (name(h.configuration), *(str(h.works.get(n, 0)) for n in steps), str(sum(h.gave_up.values())),
         str(h.cut_short), _share(h))
        for h in found
    ]  # fmt: skip
    head = ("configuration", *(_after(n) for n in steps), "gave up", "cut short",
            "work within 5 fixes (95 %)")  # fmt: skip
    raw = [
        {"configuration": h.configuration, "fixes": n, "work": h.works.get(n, 0), "gave_up": h.gave_up.get(n, 0)}
        for h in found
        for n in steps
    ]  # fmt: skip
    says = "Trajectories by the fixes after which they work; unusable answers count as a step."
    return table("fixes", "Fix attempts", says, head, rows, raw, 1)


def _after(number: int) -> str:
    return "work at once" if number == 0 else f"after {fmt.plural(number, 'fix', 'fixes')}"


def _share(found: Fixes) -> str:
    if found.sure is None:
        return fmt.NONE
    share = percent(found.within / found.total)
    return f"{share} ({percent(found.sure.low)}–{percent(found.sure.high)})"


def lines(found: Sequence[Lines]) -> Table:
    """Return the lines changed per step."""
    rows = [
        (name(n.configuration), "first answer" if n.step == 0 else f"fix {n.step}", str(n.attempts),
         f"{n.median:.0f}", f"{n.low:.0f}–{n.high:.0f}")
        for n in found
    ]  # fmt: skip
    head = ("configuration", "step", "attempts", "lines changed, median", "middle half")
    raw = [
        {"configuration": n.configuration, "step": n.step, "attempts": n.attempts, "lines_median": n.median,
         "lines_quarter": n.low, "lines_three_quarters": n.high}
        for n in found
    ]  # fmt: skip
    says = (
        "Lines added and removed: of a first answer against its parent, of a fix against what it fixed. Moved and "
        "blank lines count nothing."
    )
    return table("lines", "Lines changed per step", says, head, rows, raw, 2)


def agents(found: Sequence[AgentCost]) -> Table:
    """Return the cost per agent."""
    rows = [
        (name(a.configuration), name(a.agent), str(a.queries), cost(a.cost_usd, a.unknown),
         f"{a.tokens_in:,}", f"{a.tokens_cached:,}", f"{a.tokens_out:,}", f"{a.tokens_thinking:,}")
        for a in found
    ]  # fmt: skip
    head = (
        "configuration",
        "agent",
        "queries",
        "cost",
        "tokens in",
        "cached",
        "tokens out",
        "thinking",
    )
    raw = [
        {"configuration": a.configuration, "agent": a.agent, "queries": a.queries, "cost_usd": a.cost_usd,
         "queries_of_unknown_cost": a.unknown, "tokens_in": a.tokens_in, "tokens_cached": a.tokens_cached,
         "tokens_out": a.tokens_out, "tokens_thinking": a.tokens_thinking}
        for a in found
    ]  # fmt: skip
    says = (
        "IBA brainstorms, COA writes and improves candidates, EFA fixes them. Over all runs. Cached tokens are among "
        "those in, thinking is among those out."
    )
    return table("agents", "Cost per role", says, head, rows, raw, 2)
