"""`kill -9` in the middle of PIKE-O and steady: with one place the straight search, else the same prefix."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import git
import pytest

from sessions.folder import SessionFolder
from sessions.journal import Journal
from sessions.states import SessionState
from tests.fakes import FatedModel
from tests.sessions.searches import Search
from tests.sessions.test_evolution import WORKS, search_of

if TYPE_CHECKING:
    from sessions.facts import Fact

LIMIT_S = 120
QUERIES = 24


class MortalJournal(Journal):
    """Kills its process right after it has kept a chosen fact."""

    at_seq = 0

    async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
        facts = await super().record(*args, **kwargs)
        if facts and facts[-1].seq >= self.at_seq:
            os.kill(os.getpid(), signal.SIGKILL)
        return facts


def run_until(folder: SessionFolder, seq: int) -> int:
    """Run an engine in a process of its own that dies after fact `seq`; return how that ended."""
    command = [sys.executable, "-m", __name__, str(folder.path), str(seq)]
    return subprocess.run(command, check=False, timeout=LIMIT_S, capture_output=True).returncode


def proposals(search: Search) -> list[dict[str, Any]]:
    return [proposal for body in search.of("proposed") for proposal in body.proposals]


@pytest.mark.parametrize("name", ["pike-o-mut-npar", "steady"])
async def test_with_one_place_the_killed_search_is_the_straight_one(
    name: str, tmp_path: Path
) -> None:
    straight = search_of(name, tmp_path / "straight", places=1, queries=QUERIES)
    await straight.run()
    killed = search_of(name, tmp_path / "killed", places=1, queries=QUERIES)
    for share in (0.25, 0.6):
        assert run_until(killed.folder, int(len(straight.facts) * share)) == -signal.SIGKILL
    assert await killed.run() is SessionState.FINISHED
    lost = len(killed.of("query_lost"))
    told, wanted = proposals(killed), proposals(straight)
    assert told == wanted[: len(told)]
    assert len(wanted) - len(told) <= lost <= 2
    assert killed.state.spending.queries == QUERIES


@pytest.mark.parametrize("settings", [{"places": 3}, {"places": 2, "queue_ahead": True}])
async def test_with_several_places_no_fact_changes_and_the_search_goes_on(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    search = search_of("pike-o", tmp_path, queries=QUERIES, **settings)
    assert run_until(search.folder, 90) == -signal.SIGKILL
    before = search.facts
    dump = search.state.dump
    assert dump is not None
    assert await search.run() is SessionState.FINISHED
    after = search.facts
    assert after[: len(before)] == before
    ids = [proposal["id"] for proposal in proposals(search)]
    assert ids == [f"p{n + 1}" for n in range(len(ids))]
    assert len(ids) > dump["next_id"] - 1
    attempts = search.state.attempts
    with git.Repo(search.folder.lineage) as repo:
        made = {commit.hexsha for head in repo.heads for commit in repo.iter_commits(head)}
    assert len({attempt.commit for attempt in attempts.values()}) == len(attempts)
    assert {attempt.commit for attempt in attempts.values()} <= made
    assert len(made) == len(attempts) + 1


def main(path: str, seq: str) -> None:
    """Run an engine on a session until it dies."""
    MortalJournal.at_seq = int(seq)
    search = Search(SessionFolder(Path(path)), FatedModel(fates=WORKS))
    search.journal_class = MortalJournal
    asyncio.run(search.run())


if __name__ == "__main__":
    main(*sys.argv[1:])
