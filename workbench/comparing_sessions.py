"""Sessions on one task side by side: what each found, what it cost, and which found the faster candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.best import best
from sessions.budget import running_s
from strategies.protocol import Kind
from workbench import format as fmt
from workbench.comparing import Ratio, overlaps, precision, ratio, ratio_cell
from workbench.errors import WrongUsage
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.model import AttemptRecord, State

NO_MORE = 4
"""More curves than this are not told apart."""
LETTERS = "ABCD"
"""What a session is called in the chart."""

ROWS = (
    "strategy", "models", "state", "best", "over", "over eager", "runtime ms", "precision class", "best after",
    "queries", "cost", "running time", "attempts", "failures", "device",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """One session."""

    name: str
    best: str = ""
    """The id of its best attempt; empty without one."""
    eager: Ratio | None = None
    """Of its best, over the original as it stands."""
    device: str = ""
    cells: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the name of a row of `ROWS`; foreign text made inert."""


def same_task(found: Sequence[State]) -> None:
    """Refuse sessions that do not work on one task.

    Raises:
        WrongUsage: too few or too many, or their tasks differ.
    """
    if not 2 <= len(found) <= NO_MORE:
        raise WrongUsage(f"compare needs two sessions, {NO_MORE} at most; named: {len(found)}.")
    first = found[0].opened
    for state in found[1:]:
        opened = state.opened
        if first is None or opened is None:
            raise WrongUsage(f"{state.name} has no task yet; there is nothing to compare.")
        if opened.task_sha256 != first.task_sha256:
            told = f"{first.session} works on {first.task}, {opened.session} on {opened.task}"
            same = " of another text" if first.task == opened.task else ""
            raise WrongUsage(f"only sessions on one task can be compared: {told}{same}.")


def columns(found: Sequence[State], now: float) -> list[Column]:
    """Return a column for each session; `now`: seconds since the epoch."""
    return [_column(state, now) for state in found]


def _column(state: State, now: float) -> Column:
    top = best(state)
    opened, baseline = state.opened, state.baseline
    models = dict.fromkeys(state.answering.values())
    correct = sum(1 for a in state.attempts.values() if a.correct)
    kinds = [a.kind for a in state.attempts.values() if a.kind and not a.correct]
    lost = kinds.count(Kind.UNAVAILABLE)
    unknown = "+?" if state.spending.unpriced else ""
    device = (baseline.device_name if baseline else "") or (opened.device if opened else "")
    cells = {
        "strategy": opened.strategy if opened else "",
        "models": ", ".join(models),
        "state": state.state.value,
        "queries": _of(state.spending.queries, state.limits.get("queries")),
        "cost": f"{fmt.money(state.spending.cost_usd)}{unknown}",
        "running time": fmt.duration(running_s(state, now)),
        "attempts": f"{len(state.attempts)}, {correct} correct",
        "failures": f"{len(kinds) - lost}{f', {lost} unavailable' if lost else ''}",
        "device": device,
        **(_best_cells(top) if top else {}),
    }
    shown = {name: inert_line(cells.get(name) or fmt.NONE, 60) for name in ROWS}
    eager = ratio(top.verdict, "speedup_eager") if top else None
    return Column(state.name, top.id if top else "", eager, device, shown)


def _best_cells(top: AttemptRecord) -> dict[str, str]:
    sure = "" if top.confirmed else "~"
    return {
        "best": f"{top.id} {ratio_cell(ratio(top.verdict, 'speedup'))}{sure}",
        "over": str(top.verdict.get("baseline") or ""),
        "over eager": ratio_cell(ratio(top.verdict, "speedup_eager")),
        "runtime ms": fmt.milliseconds(top.runtime_ms) if top.runtime_ms else "",
        "precision class": precision(top.verdict),
        "best after": f"{fmt.money(top.cost_then)} · {top.queries_then} q",
    }


def _of(used: float, limit: float | None) -> str:
    return f"{used:g}" if limit is None else f"{used:g}/{limit:g}"


def told(found: Sequence[Column]) -> str:
    """Return which session found the faster candidate, and how sure that is."""
    ranked = sorted((c for c in found if c.eager), key=lambda c: -(c.eager.value if c.eager else 0))
    without = [c.name for c in found if not c.eager]
    parts = [_first(ranked), _devices(ranked)]
    if without:
        have = "has" if len(without) == 1 else "have"
        parts.append(f"{', '.join(without)} {have} no correct attempt with a number over eager.")
    return " ".join(part for part in parts if part)


def _first(ranked: Sequence[Column]) -> str:
    if not ranked:
        return "None of them found a correct candidate yet."
    first, *rest = ranked
    if not rest:
        return f"{first.name} alone found a correct candidate."
    near = [c.name for c in rest if overlaps(first.eager, c.eager)]
    if near:
        return (
            f"The best of {first.name} measured fastest, but is not told apart from that of {', '.join(near)}: "
            "their intervals over eager overlap."
        )
    others = rest[0].name if len(rest) == 1 else "all others"
    return f"The best of {first.name} is faster than that of {others}: intervals over eager apart."


def _devices(ranked: Sequence[Column]) -> str:
    if len({c.device for c in ranked}) < 2:
        return ""
    return "They ran on different devices: neither runtimes nor speedups compare."
