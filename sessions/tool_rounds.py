"""The rounds of a step in which a model calls tools: a pure function of the folded facts.

```
Ask ─▶ an answer with calls ─▶ Use (each) ─▶ Reserve (the next round) ─▶ Ask … ─▶ an answer ─▶ Read
                                    └── no budget for it: RoundsEnded ─────────────────────────▶ Read
```
All rounds of a step are asked of one model: what it thought goes back to it alone. A person's other choice of a model
holds from the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.budget import UNPAID, queries_left
from sessions.steering import words_of
from strategies.options import held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.model import CallRecord, QueryRecord, State, TrajectoryRecord

LAST_WORDS = "This was the last call of a tool. Answer now, with the whole file."
"""What a model is told in the round in which it must answer."""


def limit(state: State) -> int:
    """Return how many rounds a step may have; 0: no tools are offered."""
    chosen = held(state.opened.settings) if state.opened else None
    return chosen.tool_rounds if chosen is not None and chosen.agent_tools else 0


def before(state: State, record: TrajectoryRecord, step: int) -> list[QueryRecord]:
    """Return the answers of a step that asked for tools, oldest first."""
    asked = (state.queries[name] for name in record.queries)
    return [query for query in asked if query.step == step and query.end == "done" and query.calls]


def earlier(state: State, query: QueryRecord) -> list[QueryRecord]:
    """Return the rounds before a query's."""
    found = before(state, state.trajectories[query.proposal], query.step)
    return [one for one in found if one.seq < query.seq]


def is_open(query: QueryRecord) -> bool:
    """Return whether a round waits to be asked again: its answer was lost, or the model refused to be asked."""
    unanswered = query.end == "lost" or (query.end == "failed" and not query.counts)
    return query.round > 1 and unanswered and not query.cut_short


def pending(query: QueryRecord) -> int | None:
    """Return the first call without a result."""
    places = (place for place, call in enumerate(query.calls) if not call.answered)
    return next(places, None)


def must_answer(state: State, record: TrajectoryRecord, number: int) -> bool:
    """Return whether a round has to be the last: by the limit of rounds, or of queries."""
    first = not record.queries and record.proposal.role not in UNPAID
    return number >= limit(state) or queries_left(state) < (1 if first else 2)


def words(state: State, steers: Sequence[str], seq: int, rounds: Sequence[QueryRecord]) -> str:
    """Return what people say to a model in a round and had not said in those before, as a block of their own.

    `seq`: the number of the fact that sends the round; for one not sent yet, any above the last.
    """
    told = {s: words_of(state.steers[s], one.seq) for one in rounds for s in one.steers}
    now = {s: words_of(state.steers[s], seq) for s in steers}
    return "\n\n".join(text for name, text in now.items() if text and told.get(name) != text)


def said(state: State, rounds: Sequence[QueryRecord], shaping: Mapping[str, str]) -> dict[str, str]:
    """Return the steers behind a further round: those of the rounds before, and new guides and forks."""
    kept = [name for one in rounds for name in one.steers]
    new = [name for name in shaping if state.steers[name].act in ("guide", "fork")]
    return {name: words_of(state.steers[name]) for name in dict.fromkeys([*kept, *new])}


def cost_usd(state: State, query: QueryRecord) -> float | None:
    """Return what an attempt's queries cost: that of its answer and of the rounds before; None where one is unknown."""
    costs = [one.cost_usd for one in (*earlier(state, query), query)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def answered(state: State) -> list[CallRecord]:
    """Return every call of a tool that a model made, oldest first."""
    return [call for query in state.queries.values() for call in query.calls if call.answered]
