"""How old each proposal's choice of a parent was: results that closed in the meantime. A pure function of the facts.

```
decided ──── at_start ────▶ started ───────────────▶ closed
   └──────────────── at_close ─────────────────────────┘
```
The more run at once, the less a choice knows of what runs: the bias of parallel searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import facts as f

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.facts import Fact


@dataclass(slots=True)
class ParentAge:
    """Results that a proposal's choice did not know; None: not that far yet."""

    decided_at: int
    """Results known at the decision."""
    at_start: int | None = None
    at_close: int | None = None
    """Without its own."""


def parent_ages(facts: Iterable[Fact]) -> dict[str, ParentAge]:
    """Return the age of each proposal's parent.

    A result is a trajectory that closed with at least one attempt.
    """
    ages: dict[str, ParentAge] = {}
    tried: set[str] = set()
    results = 0
    for body in (fact.body for fact in facts):
        match body:
            case f.Proposed():
                ages |= {str(data["id"]): ParentAge(results) for data in body.proposals}
            case f.Started():
                ages[body.proposal].at_start = results - ages[body.proposal].decided_at
            case f.AttemptMade():
                tried.add(body.proposal)
            case f.Closed():
                ages[body.proposal].at_close = results - ages[body.proposal].decided_at
                results += body.proposal in tried
            case _:
                pass
    return ages


def mean(ages: Iterable[int | None]) -> float | None:
    """Return the mean of those that are known."""
    known = [age for age in ages if age is not None]
    return sum(known) / len(known) if known else None
