"""Whether a budget of queries leaves any for the rounds in which agents call tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.options import held
from workbench import format as fmt

if TYPE_CHECKING:
    from collections.abc import Mapping


def warning(strategy: str, settings: Mapping[str, object], queries: float | None) -> str:
    """Return why no agent will be offered a tool, though the search was asked to; empty: some can be.

    A round is offered only where a query is left beside those reserved for the proposals that run at once.
    `settings`: the strategy's, complete. `queries`: the limit; None: there is none.
    """
    if queries is None or not held(settings).agent_tools:
        return ""
    at_once, ideas = _at_once(strategy, settings), int(bool(settings.get("ideas")))
    if queries > at_once + ideas:
        return ""
    first = " after the one for ideas" if ideas else ""
    return (
        f"agent_tools: {fmt.plural(int(queries), 'query', 'queries')} for {fmt.plural(at_once, 'proposal')} at once"
        f"{first} leave none for a round of tools, so no agent is offered one. Allow more with --queries, or fewer at "
        "once with --set places=N."
    )


def _at_once(strategy: str, settings: Mapping[str, object]) -> int:
    """Return how many proposals may be open at once: of a phase, where there are phases."""
    names = ("places", "width") if strategy.startswith("pike-b") else ("places",)
    held_now = [settings[name] for name in names if name in settings]
    return min((value for value in held_now if isinstance(value, int)), default=1)
