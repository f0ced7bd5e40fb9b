"""The plain start: before the first query, what one line of PyTorch gives becomes attempts that cost none.

```
baseline ─▶ due: one `proposed` fact, v1 .. vN ─▶ under_way: no other proposal is asked for ─▶ the strategy
```
Each variant is a trajectory of role `plain`, closed by its verdict; those that work join the strategy's pool.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.best import eligible
from sessions.ids import plain_proposal_id
from sessions.journal import key_of
from sessions.model import ORIGINAL
from sessions.models.plain_variants import plain_variants
from sessions.proposing import as_json
from sessions.recorder import Entry
from strategies.options import held
from strategies.protocol import Context, Proposal, Role

if TYPE_CHECKING:
    from sessions.model import AttemptRecord, State
    from sessions.parts import Parts

AUTHOR = "engine"


def is_plain(proposal: Proposal) -> bool:
    """Return whether a proposal is one of the plain variants."""
    return proposal.role is Role.PLAIN


def due(state: State) -> bool:
    """Return whether the plain variants are wanted, and were not proposed before the strategy decided anything."""
    asked = bool(state.opened and held(state.opened.settings).plain_start)
    begun = state.dump is not None or any(is_plain(t.proposal) for t in state.trajectories.values())
    return asked and not begun


def under_way(state: State) -> bool:
    """Return whether a plain variant still waits for its verdict."""
    return any(is_plain(record.proposal) for record in state.open)


def best_plain(state: State) -> AttemptRecord | None:
    """Return the fastest of the plain variants: what any other attempt is to be held against."""
    plain = (a for a in state.attempts.values() if not a.query and eligible(a))
    found = [a for a in plain if is_plain(state.trajectories[a.proposal].proposal)]
    return min(found, key=lambda a: a.runtime_ms or math.inf, default=None)


async def begin(parts: Parts) -> bool:
    """Propose the plain variants in one fact, their sources with it; False where no rule applies."""
    sources = plain_variants(await _context(parts))
    proposals = [
        Proposal(
            plain_proposal_id(number),
            Role.PLAIN,
            ORIGINAL,
            meta={"source_key": key_of(source), "author": AUTHOR},
        )
        for number, source in enumerate(sources, 1)
    ]
    fact = f.Proposed([as_json(proposal) for proposal in proposals], None)
    entry = Entry((fact,), texts=sources)
    return await parts.recorder.decide(lambda state: entry if proposals and due(state) else None)


async def _context(parts: Parts) -> Context:
    opened, baseline = parts.opened, parts.state.baseline
    device = baseline.device if baseline else opened.device
    return Context(
        task_id=opened.task,
        original=await parts.library.original(),
        device="cuda" if device.startswith("cuda") else "cpu",
        device_name=baseline.device_name if baseline else "",
        languages=parts.languages,
        precision=opened.precision,
        tolerance=opened.tolerance,
    )
