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
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.commands import send
from sessions.facts import Closed, Proposed, ToolAnswered
from sessions.fold import fold
from sessions.journal import Journal, Reader
from sessions.lineage import Lineages, NewCommit
from sessions.opening import names_in
from sessions.steering import status
from strategies.options import NAMES
from strategies.protocol import Language, Role
from tests.fakes import SOURCE, FatedModel, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.facts import Fact
    from sessions.folder import SessionFolder
    from sessions.model import QueryRecord, State, TrajectoryRecord
    from sessions.models.port import LanguageModel, Request

LOG = "asked.log"
OTHER = "other"
PRODUCT = SOURCE.replace("x * 2", "(x @ x) * 2")
"""Has a matrix product, so that half precision is among its plain variants."""
TOLD: list[dict[str, Any]] = [
    {"kind": "informed", "nth": 1},
    {"kind": "profile", "nth": 1},
    {"kind": "profile", "nth": 3},
]
"""When to kill after facts that prompts tell."""
LATE = 10**6
"""A viewer that has seen everything."""


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


class SteeredJournal(Journal):
    """Sends what a person asks of a search as soon as a phase is over, once: before anything else is decided."""

    async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
        facts = await super().record(*args, **kwargs)
        if any(fact.body.KIND == "closed" for fact in facts):
            ask(self.path)
        return facts


def ask(journal: Path) -> None:
    """Send the steers that fall due, each once, however often an engine was killed in between.

    After phase 0: its slower candidate is pinned and its lineage boosted. After phase 1: the pin is taken off, the
    candidate banned with all below it, and another model answers.
    """
    with Reader(journal) as reader:
        state = fold(reader.facts())
    with closing(sqlite3.connect(journal)) as db:
        sent = {row[0] for row in db.execute("SELECT json_extract(args, '$.once') FROM commands")}
    for name, act, args in _due(state):
        if name not in sent:
            send(journal, act, {**args, "once": name}, author="test", seen_seq=LATE)


def _due(state: State) -> list[tuple[str, str, dict[str, Any]]]:
    over = {
        phase: bool(own) and not any(t.open for t in own)
        for phase in (0, 1)
        for own in [[t for t in state.trajectories.values() if _phase(t) == phase]]
    }
    first = next((t for t in state.trajectories.values() if _phase(t) == 0 and t.works), None)
    if first is None or not over[0]:
        return []
    name = first.works
    line = f"lineage:{state.attempts[name].lineage}"
    due: list[tuple[str, str, dict[str, Any]]] = [
        ("pin", "pin", {"candidate": name}),
        ("boost", "boost", {"target": line, "weight": 3}),
        ("reword", "edit", {"steer": "s1", "text": "atomics, if you must"}),
    ]
    later: list[tuple[str, str, dict[str, Any]]] = [
        ("unpin", "pin", {"candidate": name, "off": True}),
        ("ban", "ban", {"candidate": name, "subtree": True}),
        ("model", "model", {"role": "improve", "model": OTHER}),
    ]
    return due + (later if over[1] else [])


def _phase(record: TrajectoryRecord) -> int | None:
    """Return the phase of a trajectory that answers to it."""
    asks = record.proposal.role in (Role.START, Role.IMPROVE)
    return record.proposal.meta.get("phase") if asks else None


class MortalJournal(SteeredJournal):
    """Kills its process right after it has kept a chosen fact: by its number, or the nth of its kind."""

    at_seq = 0
    kind = ""
    nth = 0

    async def record(self, *args: Any, **kwargs: Any) -> list[Fact]:
        facts = await Journal.record(self, *args, **kwargs)
        MortalJournal.nth -= sum(self.kind == fact.body.KIND for fact in facts)
        if self.kind and self.nth <= 0:
            die()
        if self.at_seq and facts and facts[-1].seq >= self.at_seq:
            die()
        if any(fact.body.KIND == "closed" for fact in facts):
            ask(self.path)
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
        model = FatedModel(log=folder.path / LOG, fail=_never_answered, rounds=lambda _: 2)
        found = Search(folder, model, journal_class=SteeredJournal)
        ask(folder.journal)
        if seq or kind:
            found.journal_class, MortalJournal.at_seq = MortalJournal, seq
            MortalJournal.kind, MortalJournal.nth = kind, nth
        if commit:
            found.lineages_class, MortalLineages.at_commit = MortalLineages, commit
        models = models_of(found.state, model)
        ways = (Language("extern-c", 0.6),)
        asyncio.run(found.run(models=models, open_model=partial(other, model), languages=ways))

    return forked(work)


def other(model: FatedModel, name: str = OTHER) -> FatedModel:
    """Return another model that answers as this one does."""
    return replace(model, name=name)


def models_of(state: State, model: FatedModel) -> dict[str, LanguageModel]:
    """Return the models an engine begins with, as `workbench.compose` does."""
    known: dict[str, LanguageModel] = {model.name: model, OTHER: other(model)}
    return {name: known[name] for name in names_in(state)}


def _never_answered(request: Request) -> Exception | None:
    return unanswered() if (request.proposal, request.step) == ("p3", 0) else None


def begun(under: Path, name: str, settings: dict[str, Any]) -> SessionFolder:
    """Return a new session with a guide, a fork, a submission and a pause among its first facts."""
    source = PRODUCT if settings.get("plain_start") else SOURCE
    folder = search(under, name=name, settings=settings, source=source).folder
    fork = {"candidate": "c0", "count": 2, "text": "another way"}
    source = f"# fate: wrong_result 1.0\n{SOURCE.replace('class Model(', 'class ModelNew(')}"
    submission = {"source": source, "name": "mine.py", "fix": True}
    send(folder.journal, "guide", {"text": "no atomics", "last": 8}, author="test", seen_seq=1)
    send(folder.journal, "fork", fork, author="test", seen_seq=1)
    send(folder.journal, "submit", submission, author="test", seen_seq=1)
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
        "steers": [
            [s.act, s.applied, status(state, s)] for s in state.steers.values() if s.act != "budget"
        ],
        "models": [
            sorted({q.model for q in state.queries.values() if q.proposal == p})
            for p in ("h1", "p2")
        ],
        "commits": {_named(state, a.id): bool(a.commit) for a in state.attempts.values()},
    }


def ledger(folder: SessionFolder) -> dict[str, Any]:
    """Return what was asked, lost and committed."""
    state = Search(folder).state
    asked = (folder.path / LOG).read_text(encoding="utf-8").split("\n")[:-1]
    return {
        "seq": state.seq,
        "asked": sorted(" ".join(line.split()[:2]) for line in asked),
        "lost": [_asked(q) for q in state.queries.values() if q.end == "lost"],
        "done": sorted(_asked(q) for q in state.queries.values() if q.end == "done"),
        "calls": sorted(f"{_asked(q)} {n}" for q in state.queries.values() for n in _answered(q)),
        "called": sorted(
            f"{_asked(state.queries[x.body.query])} {x.body.call}"
            for x in Search(folder).facts
            if isinstance(x.body, ToolAnswered)
        ),
        "attempts": sorted(["c0", *state.attempts]),
    }


def _asked(query: QueryRecord) -> str:
    """Return the step of a query, and which of its rounds, as a model notes what it was asked."""
    number = f".{query.round}" if query.round > 1 else ""
    return f"{query.proposal} {query.step}{number}"


def _answered(query: QueryRecord) -> list[int]:
    return [place for place, call in enumerate(query.calls) if call.answered]


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


def in_rounds(straight: SessionFolder) -> list[dict[str, Any]]:
    """Return when to kill to be in the rounds of a step: after some facts of each kind that they are made of."""
    counts = Counter(fact.body.KIND for fact in Search(straight).facts)
    kinds = ("query_sent", "query_done", "tool_answered")
    return [{"kind": k, "nth": n} for k in kinds for n in range(3, counts[k], counts[k] // 3)]


def in_plain_start(straight: SessionFolder) -> list[dict[str, Any]]:
    """Return when to kill to be in the plain start: after each fact of it, by its number."""
    own = {t.proposal.id for t in Search(straight).state.trajectories.values() if is_plain(t)}
    facts = [x for x in Search(straight).facts if x.body.KIND in ("proposed", "closed")]
    first = next(x.seq for x in facts if names_any(x, own))
    last = max(x.seq for x in facts if names_any(x, own))
    return [{"seq": seq} for seq in range(first, last + 2)]


def is_plain(record: TrajectoryRecord) -> bool:
    """Return whether a trajectory is a plain variant's."""
    return record.proposal.role is Role.PLAIN


def names_any(fact: Fact, proposals: set[str]) -> bool:
    """Return whether a fact opens or closes any of these proposals."""
    match fact.body:
        case Proposed(proposals=made):
            return any(data["id"] in proposals for data in made)
        case Closed(proposal=name):
            return name in proposals
        case _:
            return False


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("under", type=Path)
    parser.add_argument("--places", type=int, required=True)
    parser.add_argument("--queries", type=int, required=True)
    parser.add_argument(
        "--all", action="store_true", help="after every fact, not some of each kind"
    )
    parser.add_argument(
        "--plain", action="store_true", help="with every option on, and within the plain start"
    )
    parser.add_argument("--tools", action="store_true", help="agents call tools; within rounds")
    typed = parser.parse_args()
    settings: dict[str, Any] = {
        "queries": typed.queries,
        "width": 2,
        "places": typed.places,
        "fixes": 1,
        "ideas": 2,
        **dict.fromkeys(NAMES, typed.plain),
        "agent_tools": typed.tools,
    }
    straight = begun(typed.under, "straight", settings)
    assert run(straight) == 0
    within = in_plain_start(straight) if typed.plain else moments(straight, every=typed.all)
    within = in_rounds(straight) if typed.tools else within
    deaths = within if typed.all or not typed.plain else [*within[::7], *TOLD]
    runs = [one(typed.under, f"k{n}", settings, **death) for n, death in enumerate(deaths)]
    print(json.dumps({"straight": outcome(straight), "runs": runs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
