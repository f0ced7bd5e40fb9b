"""A session as one run of a report: what it found, how sure that is, what it cost. A pure function of its state."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.best import ranked, ranked_at_first
from sessions.labels import labels_of
from sessions.report_best import Found, Step, best_counted, fastest, is_plain, steps
from sessions.states import ENDED
from strategies.protocol import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.model import State

NO_SEARCH = frozenset({Role.IDEAS, Role.SUBMIT, Role.PLAIN})
"""Proposals whose first candidate no optimization agent wrote."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one agent's queries cost."""

    agent: str
    """`IBA`, `COA`, `EFA`."""
    queries: int = 0
    cost_usd: float = 0.0
    unknown: int = 0
    """Queries of unknown cost."""
    tokens_in: int = 0
    tokens_cached: int = 0
    """Of them, read from a provider's cache."""
    tokens_out: int = 0
    tokens_thinking: int = 0
    """Of them, spent on reasoning, as far as providers tell."""


@dataclass(frozen=True, slots=True)
class Run:
    """One session, as far as it has come."""

    session: str
    configuration: str
    task: str
    task_sha256: str
    repeat: int
    device: str
    """The GPU's model, or the processor's."""
    state: str
    cause: str
    """Why it is in that state; foreign text."""
    ended: bool
    strategy: str
    models: tuple[str, ...]
    seed: int
    limits: Mapping[str, float | int | None]
    """Its budget: `queries`, `cost_usd`, `hours`."""
    labels: tuple[str, ...]
    """What makes its numbers another kind of number: `offline`, `tolerance paper`."""
    best: Found | None
    plain: Found | None
    """The best plain attempt: what one line of PyTorch gives."""
    top_baseline: float | None
    """Over eager, of the fastest baseline of any class the policy allows."""
    top_baseline_name: str
    refuted: tuple[str, ...]
    """Attempts ahead of the best whose second measurement failed, and how."""
    steps: tuple[Step, ...]
    queries: int
    cost_usd: float
    unpriced: int
    estimated_usd: float
    running_s: float
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    """Attempts by kind."""
    suspect: int = 0
    banned: int = 0
    fixes: Mapping[int, int] = field(default_factory=dict[int, int])
    """Trajectories that work, by the number of fixes they took."""
    gave_up: Mapping[int, int] = field(default_factory=dict[int, int])
    """Trajectories that do not, by the number of fixes spent."""
    cut_short: int = 0
    """Trajectories that ended by a person, a budget or a lost evaluation."""
    spent: tuple[Spent, ...] = ()
    lines: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Lines changed against the source before, for each step (0: the first answer, 1: the first fix)."""


def run_of(
    state: State,
    name: str,
    place: tuple[str, int],
    shown: str,
    lines: Mapping[int, tuple[int, ...]],
) -> Run | None:
    """Return the run; None of a session in which nothing was measured.

    Args:
        state: the session.
        name: its folder's: by that, commands find it.
        place: its configuration and its repeat.
        shown: the state a person should see (`summary.shown_state`).
        lines: `lines_changed` of it.
    """
    opened, baseline = state.opened, state.baseline
    if opened is None or baseline is None:
        return None
    best, refuted = best_counted(state, ranked_at_first(state))
    variants = [a for a in ranked(state) if is_plain(state, a)]
    quickest = min(zip(baseline.times_ms, baseline.names, strict=False), default=None)
    works, gave_up, cut = _trajectories(state)
    return Run(
        session=name,
        configuration=place[0],
        task=opened.task,
        task_sha256=opened.task_sha256,
        repeat=place[1],
        device=baseline.device_name or baseline.device or opened.device,
        state=shown,
        cause=state.cause,
        ended=state.state in ENDED,
        strategy=opened.strategy,
        models=tuple(dict.fromkeys(state.answering.values())),
        seed=opened.seed,
        limits=dict(state.limits),
        labels=tuple(labels_of(opened, (a.verdict for a in state.attempts.values()))),
        best=best,
        plain=fastest(state, variants),
        top_baseline=baseline.eager_ms / quickest[0] if quickest and quickest[0] > 0 else None,
        top_baseline_name=quickest[1] if quickest else "",
        refuted=tuple(refuted),
        steps=tuple(steps(state)),
        queries=state.spending.queries,
        cost_usd=state.spending.cost_usd,
        unpriced=state.spending.unpriced,
        estimated_usd=state.spending.estimated_usd,
        running_s=running_s(state),
        kinds=Counter(a.kind for a in state.attempts.values() if a.kind),
        suspect=sum(a.suspect for a in state.attempts.values()),
        banned=sum(a.banned for a in state.attempts.values()),
        fixes=works,
        gave_up=gave_up,
        cut_short=cut,
        spent=tuple(_spent(state)),
        lines=lines,
    )


def running_s(state: State) -> float:
    """Return the running time up to the last fact: the same journal, the same number."""
    since = state.running_since
    return state.spending.running_s + (max(0.0, state.last_at - since) if since is not None else 0)


# --- what happened on the way


def _trajectories(state: State) -> tuple[Counter[int], Counter[int], int]:
    """Return trajectories that work and that gave up, by fixes; and how many were cut short."""
    works: list[int] = []
    gave_up: list[int] = []
    cut = 0
    for record in state.trajectories.values():
        if record.open or not record.queries or record.proposal.role in NO_SEARCH:
            continue
        if record.closed == "works" and record.works in state.attempts:
            works.append(state.attempts[record.works].step)
        elif record.closed == "gave_up":
            gave_up.append(max(state.queries[query].step for query in record.queries))
        else:
            cut += 1
    return Counter(sorted(works)), Counter(sorted(gave_up)), cut


def _spent(state: State) -> list[Spent]:
    agents: dict[str, Spent] = {}
    for query in state.queries.values():
        if not query.end or not query.counts:
            continue
        name = query.agent.partition("-")[0]
        had = agents.get(name, Spent(name))
        agents[name] = Spent(
            agent=name,
            queries=had.queries + 1,
            cost_usd=had.cost_usd + (query.cost_usd or 0.0),
            unknown=had.unknown + (query.cost_usd is None),
            tokens_in=had.tokens_in + (query.input_tokens or 0),
            tokens_cached=had.tokens_cached + (query.cached_tokens or 0),
            tokens_thinking=had.tokens_thinking + (query.thinking_tokens or 0),
            tokens_out=had.tokens_out + (query.output_tokens or 0),
        )
    return [agents[name] for name in sorted(agents)]
