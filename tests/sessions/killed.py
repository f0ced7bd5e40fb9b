"""Runs one search straight, then again and again, killed with SIGKILL at a chosen moment and resumed.

`python -m tests.sessions.killed UNDER [--places N]` prints one JSON object. Each engine is a process of its own: this
program forks it, so that a hundred of them do not import everything a hundred times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.commands import send
from sessions.journal import Journal
from sessions.lineage import Lineages, NewCommit
from tests.fakes import FatedModel, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.facts import Fact
    from sessions.folder import SessionFolder
    from sessions.model import State
    from sessions.models.port import Request

LOG = "asked.log"


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


class MortalJournal(Journal):
    """Kills its process right after it has kept a chosen fact: by its number, or the nth of its kind."""

    at_seq = 0
    kind = ""
    nth = 0

    async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
        facts = await super().record(*args, **kwargs)
        MortalJournal.nth -= sum(self.kind == fact.body.KIND for fact in facts)
        if self.kind and self.nth <= 0:
            die()
        if self.at_seq and facts and facts[-1].seq >= self.at_seq:
            die()
        return facts


class MortalLineages(Lineages):
    """Kills its process after a chosen commit was made, before its fact is written."""

    at_commit = 0

    async def commit(self, new: NewCommit) -> str:
        made = await super().commit(new)
        MortalLineages.at_commit -= 1
        if MortalLineages.at_commit == 0:
            die()
        return made


def forked(work: Callable[[], None]) -> int:
    """Run the work in a process of its own; return its wait status."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the child must not go on as its parent
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1]


def run(
    folder: SessionFolder, *, seq: int = 0, kind: str = "", nth: int = 0, commit: int = 0
) -> int:
    """Run an engine on the session, mortal if asked; return its wait status."""

    def work() -> None:
        model = FatedModel(log=folder.path / LOG, fail=_never_answered)
        found = Search(folder, model)
        if seq or kind:
            found.journal_class, MortalJournal.at_seq = MortalJournal, seq
            MortalJournal.kind, MortalJournal.nth = kind, nth
        if commit:
            found.lineages_class, MortalLineages.at_commit = MortalLineages, commit
        asyncio.run(found.run())

    return forked(work)


def _never_answered(request: Request) -> Exception | None:
    return unanswered() if (request.proposal, request.step) == ("p3", 0) else None


def begun(under: Path, name: str, settings: dict[str, Any]) -> SessionFolder:
    """Return a new session with a guide and a pause among its first facts."""
    folder = search(under, name=name, settings=settings).folder
    send(folder.journal, "guide", {"text": "no atomics", "last": 2}, author="test", seen_seq=1)
    send(folder.journal, "pause", author="test", seen_seq=1)
    send(folder.journal, "resume", author="test", seen_seq=1)
    return folder


def outcome(folder: SessionFolder) -> dict[str, Any]:
    """Return what the search came to, keyed by (proposal, step)."""
    state = Search(folder).state
    return {
        "state": state.state.value,
        "proposals": {
            t.proposal.id: [t.proposal.role, _named(state, t.proposal.parent), t.closed]
            for t in state.trajectories.values()
        },
        "attempts": {
            _named(state, a.id): [a.source_key, a.kind, a.runtime_ms, _named(state, a.parent)]
            for a in state.attempts.values()
        },
        "commits": {_named(state, a.id): bool(a.commit) for a in state.attempts.values()},
    }


def ledger(folder: SessionFolder) -> dict[str, Any]:
    """Return what was asked, lost and committed."""
    state = Search(folder).state
    asked = (folder.path / LOG).read_text(encoding="utf-8").split("\n")[:-1]
    return {
        "seq": state.seq,
        "asked": sorted(" ".join(line.split()[:2]) for line in asked),
        "lost": [f"{q.proposal} {q.step}" for q in state.queries.values() if q.end == "lost"],
        "done": sorted(f"{q.proposal} {q.step}" for q in state.queries.values() if q.end == "done"),
        "attempts": sorted(["c0", *state.attempts]),
    }


def _named(state: State, candidate: str) -> str:
    """Return a candidate by its place in the search: numbers depend on who asked first."""
    found = state.attempts.get(candidate)
    return f"{found.proposal}/{found.step}" if found else candidate


def dead(status: int) -> bool:
    """Return whether a process was killed as meant."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def one(under: Path, name: str, settings: dict[str, Any], **death: Any) -> dict[str, Any]:
    """Kill one search and resume it; return how both halves look.

    Where queries were lost, the limit is raised by as many, and the second engine is killed too, right after it has
    said so.
    """
    folder = begun(under, name, settings)
    status = run(folder, **death)
    before = _facts(folder)
    killed = [dead(status) or _was_over(status, before)]
    lost = len(Search(folder).state.in_flight)
    if lost:
        more = {"queries": settings["queries"] + lost}
        send(folder.journal, "budget", more, author="test", seen_seq=10**6)
        killed.append(dead(run(folder, seq=len(before) + 1)))
    again = run(folder)
    after = _facts(folder)
    return {
        "death": death,
        "killed": killed,
        "resumed": again == 0,
        "changed": after[: len(before)] != before,
        "last": before[-1][1],
        "kinds": sorted({fact[1] for fact in after}),
        "outcome": outcome(folder),
        "ledger": ledger(folder),
        "git": in_git(folder),
    }


def _was_over(status: int, facts: list[list[Any]]) -> bool:
    """Return whether the search ended before its moment: two trajectories that close together are one decision."""
    return status == 0 and facts[-1][1] == "finished"


def _facts(folder: SessionFolder) -> list[list[Any]]:
    return [[x.seq, x.body.KIND, x.at, repr(x.body)] for x in Search(folder).facts]


def in_git(folder: SessionFolder) -> dict[str, Any]:
    """Return the repository's health, and how many of its commits hold which attempt."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder.lineage), *words], check=True, capture_output=True, text=True
        ).stdout

    attempts = git(
        "log", "--branches", "--format=%(trailers:key=Pike-Attempt,valueonly,separator=)"
    )
    return {"fsck": git("fsck", "--strict"), "attempts": sorted(attempts.split())}


def moments(straight: SessionFolder, *, every: bool) -> list[dict[str, Any]]:
    """Return when to kill: after facts (the first and the last of each kind, or all), and after commits."""
    counts = Counter(fact.body.KIND for fact in Search(straight).facts[1:])
    chosen = {kind: range(1, n + 1) if every else sorted({1, n}) for kind, n in counts.items()}
    facts = [{"kind": kind, "nth": n} for kind, numbers in chosen.items() for n in numbers]
    commits = range(1, len(Search(straight).state.attempts) + 2)
    return [*facts, *({"commit": n} for n in (commits if every else (1, 2, 5)))]


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("under", type=Path)
    parser.add_argument("--places", type=int, required=True)
    parser.add_argument("--queries", type=int, required=True)
    parser.add_argument(
        "--all", action="store_true", help="after every fact, not some of each kind"
    )
    typed = parser.parse_args()
    settings = {
        "queries": typed.queries,
        "width": 2,
        "places": typed.places,
        "fixes": 1,
        "ideas": 2,
    }
    straight = begun(typed.under, "straight", settings)
    assert run(straight) == 0
    deaths = moments(straight, every=typed.all)
    runs = [one(typed.under, f"k{n}", settings, **death) for n, death in enumerate(deaths)]
    print(json.dumps({"straight": outcome(straight), "runs": runs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
