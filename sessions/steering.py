"""What a person's acts on a search hold, how each stands now, and which of them shape a query. Pure functions.

| act | args a viewer sends | args in the fact besides |
| --- | --- | --- |
| guide | text, scope (`session`, `lineage:003`, `candidate:c12`), last (proposals; 0: until cleared) | |
| guide | off, scope | `steers`: the guides it ends |
| pin | candidate, off | |
| ban | candidate, subtree, off | `candidates`: all it falls on |
| boost | target (`candidate:c12`, `lineage:003`), weight (0 < w ≤ 100; 1 undoes) | |
| fork | candidate (or `c0`), count, text (may be empty), model (may be empty) | `proposals`: `h1`.. that it opens |
| submit | source (the text), name (of the file, foreign), parent (default `c0`), fix, author (default `human`) | \
`source_key`, `proposals`; no `source`: the text is kept once, by its key |
| model | role (`ideas`, `improve`, `fix`, `all`), model | `models`: role to name; `before`, `labels` |
| edit | steer, text | |
| budget | queries, cost_usd, hours; null: no limit | `limits` |
| withdraw | steer | |

| stands | means |
| --- | --- |
| waiting | applied; no query was shaped by it yet |
| in force | it shapes queries (`uses` counts them), or holds at once: a ban, a budget |
| spent | over: used as often as asked, all its proposals closed, or replaced by a newer one |
| withdrawn | taken back, or undone |
| refused | never applied; `why` says why |

`answers.py` decides what is applied; the fold (`fold_steers.py`) carries it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.fixing import FIX_MODEL, IMPROVE_MODEL
from strategies.protocol import Role

if TYPE_CHECKING:
    from sessions.model import State, SteerRecord, TrajectoryRecord

GUIDE_LIMIT = 2_000
"""Characters."""
IDEAS_MODEL = "ideas"
"""The configured model role of IBA."""
MODEL_ROLES = (IDEAS_MODEL, IMPROVE_MODEL, FIX_MODEL)
ALL_ROLES = "all"


def guides_for(state: State, record: TrajectoryRecord) -> list[SteerRecord]:
    """Return the guides in force for a trajectory's next prompt, oldest first."""
    return [
        s for s in state.steers.values() if in_force(state, s, record) and _covers(state, s, record)
    ]


def shaping(state: State, record: TrajectoryRecord, model: str) -> list[SteerRecord]:
    """Return every steer that shapes a trajectory's next query, oldest first.

    `model`: as the next step names it: a configured role, or a model of the cascade.
    """
    found = {steer.id for steer in guides_for(state, record)}
    found |= {record.steer, *_choosing(state, record), _naming(state, record, model)}
    return [steer for steer in state.steers.values() if steer.id in found]


def words_of(steer: SteerRecord, seq: int | None = None) -> str:
    """Return what a steer says to the agents, now or when fact `seq` was written; empty: nothing."""
    if steer.act not in ("guide", "fork"):
        return ""
    return steer.text if seq is None else steer.text_at(seq)


def model_of(state: State, record: TrajectoryRecord, model: str) -> str:
    """Return the name of the model that answers a trajectory's next query."""
    forked = str(record.proposal.meta.get("model") or "")
    if model == IMPROVE_MODEL and forked:
        return forked
    return state.models.get(model, model)


def cascade(state: State) -> tuple[str, ...]:
    """Return the models of the error fixing agent, cheapest first."""
    return tuple(name for name in state.models.get(FIX_MODEL, "").split(",") if name) or (
        FIX_MODEL,
    )


def weights(state: State) -> dict[str, float]:
    """Return the boosted candidates' weights: that of the candidate × that of its lineage."""
    found: dict[str, float] = {}
    for target, by in state.boosts.items():
        kind, _, name = target.partition(":")
        line = state.lineages[name].attempts if kind == "lineage" else [name]
        for candidate in line:
            weight = float(state.steers[by].args["weight"])
            found[candidate] = found.get(candidate, 1.0) * weight
    return found


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
    if not _holds(state, steer):
        return "spent"
    told = (
        steer.act in ("guide", "pin", "boost") and not state.models
    )  # agents read it with their next verdict
    at_once = told or steer.act in ("ban", "budget")
    return "in force" if at_once or steer.uses or _submitted(state, steer) else "waiting"


def can_withdraw(state: State, steer: SteerRecord) -> bool:
    """Return whether taking a steer back means anything: it waits or is in force, and has an undo of this kind."""
    undone = steer.act in ("guide", "pin", "ban", "boost", "fork")
    return undone and status(state, steer) in ("waiting", "in force")


def can_edit(state: State, steer: SteerRecord) -> bool:
    """Return whether a steer's words can be changed: a guide that still reaches prompts, a fork that waits."""
    stands = status(state, steer)
    return (steer.act == "guide" and stands in ("waiting", "in force")) or (
        steer.act == "fork" and stands == "waiting"
    )


def unsent(state: State, steer: SteerRecord) -> list[str]:
    """Return the proposals of a fork that asked no model yet: withdrawing it cancels them."""
    return [r.proposal.id for r in opened_by(state, steer) if r.open and not r.queries]


def opened_by(state: State, steer: SteerRecord) -> list[TrajectoryRecord]:
    """Return the trajectories of a fork or a submission; the fact that proposes them follows that of the steer."""
    names = steer.args.get("proposals", ())
    return [state.trajectories[name] for name in names if name in state.trajectories]


def _holds(state: State, steer: SteerRecord) -> bool:
    """Whether an applied steer is not over."""
    match steer.act:
        case "guide":
            return in_force(state, steer)
        case "pin":
            return steer.id in state.pins.values()
        case "boost":
            return steer.id in state.boosts.values()
        case "ban":
            return any(steer.id in held for held in state.bans.values())
        case "budget" | "model":
            return steer.id in state.set_by.values()
        case "fork" | "submit":
            records = opened_by(state, steer)
            return not records or any(record.open for record in records)
        case _:
            return False


def _submitted(state: State, steer: SteerRecord) -> bool:
    return steer.act == "submit" and any(r.attempts for r in opened_by(state, steer))


def _choosing(state: State, record: TrajectoryRecord) -> set[str]:
    """Return the pin and the boosts behind a parent that the strategy chose after them."""
    if record.steer or record.proposal.role in (Role.IDEAS, Role.SUBMIT, Role.PLAIN):
        return set()
    parent = record.proposal.parent
    found = {state.pins.get(parent, ""), state.boosts.get(f"candidate:{parent}", "")}
    if parent in state.attempts:
        found.add(state.boosts.get(f"lineage:{state.attempts[parent].lineage}", ""))
    return {name for name in found if name and state.steers[name].seq < record.seq}


def _naming(state: State, record: TrajectoryRecord, model: str) -> str:
    """Return the steer that set the model of a trajectory's next query; empty: none did."""
    role = model if model in MODEL_ROLES else FIX_MODEL
    if role == IMPROVE_MODEL and record.proposal.meta.get("model"):
        return record.steer
    return state.set_by.get(role, "")


def _covers(state: State, steer: SteerRecord, record: TrajectoryRecord) -> bool:
    kind, _, name = scope_of(steer).partition(":")
    if kind == "lineage":
        return record.lineage == name
    if kind == "candidate":
        return record.proposal.parent == name or name in record.attempts
    return True


def scope_of(steer: SteerRecord) -> str:
    """Return whom a guide is for."""
    return str(steer.args.get("scope") or "session")


def _users(state: State, steer: SteerRecord) -> set[str]:
    """Return the proposals whose prompts held a guide; where nobody is prompted, those that came after it."""
    if not state.models:
        return {t.proposal.id for t in state.trajectories.values() if t.seq > steer.seq}
    return {q.proposal for q in state.queries.values() if steer.id in q.steers}
