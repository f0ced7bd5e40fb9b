"""`pike show` on a search with crossover: what stood beside a parent, and how old its choice was."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from strategies.protocol import Role
from tests.sessions.test_evolution import search_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike


def test_an_attempt_says_how_its_parent_was_chosen_and_a_session_how_old_choices_were(
    home: Path, pike: Pike
) -> None:
    search = search_of("pike-o", home / "sessions", places=3, queries=30, islands=1)
    asyncio.run(search.run())
    state = search.state
    crossed = next(
        attempt
        for attempt in state.attempts.values()
        if state.trajectories[attempt.proposal].proposal.role is Role.CROSS
    )
    proposal = state.trajectories[crossed.proposal].proposal
    session = search.folder.path.name
    told = pike("show", session, crossed.id).out.splitlines()
    assert told[2] == f"shown beside its parent: {', '.join(proposal.inspirations)}"
    assert told[3].startswith("proposed as cross: island 0, slot 0, draw ")
    assert told[4].startswith(f"its parent was chosen knowing {proposal.meta['results']} result")
    row = pike("show", session, crossed.id, "--json").json
    assert row["inspirations"] == list(proposal.inspirations)
    assert row["role"] == "cross"
    assert row["parent_age"]["decided_at"] == proposal.meta["results"]
    assert "parent age, in results closed since it was chosen" in pike("show", session).out


def test_a_session_without_any_proposal_is_shown(home: Path, pike: Pike) -> None:
    search = search_of("pike-o", home / "sessions")
    assert "none yet at the start, none yet at the end" in pike("show", search.folder.path.name).out
