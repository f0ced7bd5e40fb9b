"""What becomes of a person's command: applied, or refused and why. Pure functions of the folded facts.

| act | args a viewer sends | args in the fact besides |
| --- | --- | --- |
| guide | text, scope (`session`, `lineage:003`, `candidate:c12`), last (proposals; 0: until cleared) | |
| guide | off, scope | `steers`: the guides it ends |
| pin | candidate, off | |
| ban | candidate, subtree, off | `candidates`: all it falls on |
| boost | target (`candidate:c12`, `lineage:003`), weight (0 < w ≤ 100; 1 undoes) | |
| fork | candidate (or `c0`), count, text (may be empty), model (may be empty) | `proposals`: `h1`.. that it opens |
| submit | source (the text), name (of the file, foreign), parent (candidate, default `c0`), fix | `source_key`, `proposals`; no `source`: the text is kept once, by its key |
| model | role (`ideas`, `improve`, `fix`, `all`), model | |
| edit | steer, text | |
| budget | queries, cost_usd, hours; null: no limit | `limits` |
| withdraw | steer | |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions.facts import Steered
from sessions.ids import steer_id
from sessions.model import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessions.journal import Command
    from sessions.model import State, SteerRecord, TrajectoryRecord

GUIDE_LIMIT = 2_000
"""Characters."""
LATER = ("pin", "boost", "fork", "submit", "model", "edit")
LIMITS = ("queries", "cost_usd", "hours")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to."""

    why: str = ""
    """Why it is refused; empty: applied."""
    adds: dict[str, Any] | None = None
    """Arguments that the fact holds besides."""


def steered(state: State, command: Command, now: float, *, unpriced: bool) -> Steered:
    """Return the fact that a steering command becomes.

    `unpriced`: a configured model has no known price, so that no dollar limit can hold.
    """
    answer = _answer(state, command, now, unpriced=unpriced)
    return Steered(
        steer=steer_id(len(state.steers) + 1),
        command=command.id,
        act=command.act,
        args={**command.args, **(answer.adds or {})},
        author=command.author,
        applied=not answer.why,
        why=answer.why,
    )


def guides_for(state: State, record: TrajectoryRecord) -> list[SteerRecord]:
    """Return the guides in force for a trajectory's next prompt, oldest first."""
    return [
        s for s in state.steers.values() if in_force(state, s, record) and _covers(state, s, record)
    ]


def in_force(state: State, steer: SteerRecord, record: TrajectoryRecord | None = None) -> bool:
    """Return whether a guide still reaches prompts: of this trajectory, or (None) of any new one."""
    if steer.act != "guide" or not steer.applied or steer.withdrawn or steer.args.get("off"):
        return False
    last = int(steer.args.get("last") or 0)
    if last <= 0:
        return True
    used = _users(state, steer)
    return len(used) < last or (record is not None and record.proposal.id in used)


def status(state: State, steer: SteerRecord) -> str:
    """Return `refused`, `withdrawn`, `waiting`, `in force` or `spent`, as a person reads it."""
    if not steer.applied:
        return "refused"
    if steer.withdrawn:
        return "withdrawn"
    if steer.act != "guide" or steer.args.get("off"):
        return "spent"
    if not in_force(state, steer):
        return "spent"
    return "in force" if steer.uses else "waiting"


def _answer(state: State, command: Command, now: float, *, unpriced: bool) -> Answer:
    match command.act:
        case "guide":
            return _guide(state, command)
        case "ban":
            return _ban(state, command)
        case "budget":
            return _budget(state, command, now, unpriced=unpriced)
        case "withdraw":
            return _withdraw(state, command)
        case act if act in LATER:
            return Answer(f"{act} is not available yet")
        case act:
            return Answer(f"no act is called {act[:40]!r}")


def _guide(state: State, command: Command) -> Answer:
    scope = str(command.args.get("scope") or "session")
    missing = _scope_missing(state, scope)
    if missing:
        return Answer(missing)
    if command.args.get("off"):
        ended = [s.id for s in state.steers.values() if in_force(state, s) and _scope(s) == scope]
        return (
            Answer(adds={"steers": ended}) if ended else Answer(f"no guide for {scope} is in force")
        )
    text = str(command.args.get("text") or "").strip()
    if not text:
        return Answer("the guide has no text")
    if len(text) > GUIDE_LIMIT:
        return Answer(f"the guide has {len(text):,} characters; {GUIDE_LIMIT:,} is the most")
    return Answer(adds={"text": text, "scope": scope})


def _scope_missing(state: State, scope: str) -> str:
    kind, _, name = scope.partition(":")
    match kind:
        case "session":
            return ""
        case "lineage":
            known = {t.lineage for t in state.trajectories.values()}
            return "" if name in known else f"there is no lineage {name[:40]!r}"
        case "candidate":
            known = name == ORIGINAL or name in state.attempts
            return "" if known else f"there is no candidate {name[:40]!r}"
        case _:
            return f"a guide is for session, lineage:NNN or candidate:cN, not {scope[:40]!r}"


def _ban(state: State, command: Command) -> Answer:
    name, off = str(command.args.get("candidate", "")), bool(command.args.get("off"))
    if name == ORIGINAL:
        return Answer("the original cannot be banned")
    if name not in state.attempts:
        return Answer(f"there is no candidate {name[:40]!r}")
    changed = _changed_since(state, command, lambda s: name in s.args.get("candidates", ()))
    if changed:
        return Answer(f"{name} was {_undo(changed)} by {changed.id} since")
    if off is not (name in state.banned):
        return Answer(f"{name} is not banned" if off else f"{name} is banned already")
    below = _descendants(state, name) if command.args.get("subtree") else []
    return Answer(adds={"candidates": [name, *below]})


def _undo(steer: SteerRecord) -> str:
    return "allowed again" if steer.args.get("off") else "banned"


def _descendants(state: State, name: str) -> list[str]:
    below = {name}
    for attempt in state.attempts.values():  # parents come before their children
        if attempt.parent in below:
            below.add(attempt.id)
    return [a for a in state.attempts if a in below and a != name]


def _budget(state: State, command: Command, now: float, *, unpriced: bool) -> Answer:
    limits = {name: command.args[name] for name in LIMITS if name in command.args}
    if not limits:
        return Answer(f"name a limit: {', '.join(LIMITS)}")
    for name, limit in limits.items():
        if limit is not None and not (isinstance(limit, int | float) and limit > 0):
            return Answer(f"{name} must be a number above 0")
    if limits.get("cost_usd") is not None and unpriced:
        return Answer("a model's price is unknown, so no dollar limit can hold")
    changed = _changed_since(
        state, command, lambda s: not limits.keys().isdisjoint(s.args.get("limits", {}))
    )
    if changed:
        return Answer(f"{changed.id} changed it since")
    below = budget.below_spent(state, limits, now)
    return Answer(below) if below else Answer(adds={"limits": limits})


def _withdraw(state: State, command: Command) -> Answer:
    name = str(command.args.get("steer", ""))
    steer = state.steers.get(name)
    if steer is None:
        return Answer(f"there is no steer {name[:40]!r}")
    what = status(state, steer)
    if what not in ("waiting", "in force"):
        return Answer(
            f"{name} is {what}" + (" at once, and cannot be withdrawn" if what == "spent" else "")
        )
    return Answer()


def _changed_since(
    state: State, command: Command, names: Callable[[SteerRecord], bool]
) -> SteerRecord | None:
    """Return the newest applied steer of this act that its author had not seen."""
    found = [s for s in _applied(state, command.act) if s.seq > command.seen_seq and names(s)]
    return found[-1] if found else None


def _applied(state: State, act: str) -> Iterator[SteerRecord]:
    return (s for s in state.steers.values() if s.act == act and s.applied)


def _covers(state: State, steer: SteerRecord, record: TrajectoryRecord) -> bool:
    kind, _, name = _scope(steer).partition(":")
    if kind == "lineage":
        return record.lineage == name
    if kind == "candidate":
        return record.proposal.parent == name or name in record.attempts
    return True


def _scope(steer: SteerRecord) -> str:
    return str(steer.args.get("scope") or "session")


def _users(state: State, steer: SteerRecord) -> set[str]:
    """Return the proposals whose prompts held a guide."""
    return {q.proposal for q in state.queries.values() if steer.id in q.steers}
