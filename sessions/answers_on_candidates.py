"""The acts that name a candidate: pin, ban, boost, fork, submit; each applied, or refused and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import budget
from sessions.answering import Answer, applied, changed_since, refused, shown, whole
from sessions.ids import human_proposal_id, steer_id
from sessions.journal import key_of
from sessions.model import ORIGINAL
from sessions.steering import GUIDE_LIMIT
from strategies import python
from strategies.protocol import Agent, Proposal, Role
from strategies.reply import SOURCE_LIMIT

if TYPE_CHECKING:
    from sessions.answering import Outside
    from sessions.journal import Command
    from sessions.model import State, SteerRecord, TrajectoryRecord

HUMAN = "human"
AGENTS = ("idea", "client", "claimed", "caller", "job")
"""What an external agent's submission holds besides: all foreign text, but for the caller and the job's id."""
HEAVIEST = 100
MOST_AT_ONCE = 100
"""Proposals of one fork."""
OUT_OF_TIME = "the hours are used up; raise them first"
AUTHOR_LIMIT = 60
IDEA_LIMIT = 500
NAME_LIMIT = 200
"""Characters of a submitted file's name."""


def answer(state: State, command: Command, now: float, outside: Outside) -> Answer:
    """Return what a command on a candidate comes to."""
    match command.act:
        case "pin":
            return _pin(state, command, outside)
        case "ban":
            return _ban(state, command)
        case "boost":
            return _boost(state, command, outside)
        case "fork":
            return _fork(state, command, now, outside)
        case _:
            return _submit(state, command, now)


def _pin(state: State, command: Command, outside: Outside) -> Answer:
    name, off = str(command.args.get("candidate", "")), bool(command.args.get("off"))
    why = _unknown(state, name) or _changed(state, command, name)
    if why:
        return refused(why)
    if off:
        return applied() if name in state.pins else refused(f"{name} is not pinned")
    if name in state.pins:
        return refused(f"{name} is pinned already, by {state.pins[name]}")
    why = _cannot_be_parent(state, name) or _no_choice(state, outside, "a pin")
    if why:
        return refused(why)
    if len(state.pins) >= outside.seats:
        listed = ", ".join(state.pins)
        return refused(f"{outside.seats} are pinned ({listed}), which is the most: take one off")
    return applied()


def _ban(state: State, command: Command) -> Answer:
    name, off = str(command.args.get("candidate", "")), bool(command.args.get("off"))
    if name == ORIGINAL:
        return refused("the original cannot be banned")
    why = _unknown(state, name) or _changed(state, command, name)
    if why:
        return refused(why)
    if off is not (name in state.banned):
        return refused(f"{name} is not banned" if off else f"{name} is banned already")
    fallen = [name, *(_descendants(state, name) if command.args.get("subtree") else [])]
    pinned = [] if off else [each for each in fallen if each in state.pins]
    if pinned:
        return refused(f"{pinned[0]} is pinned by {state.pins[pinned[0]]}: take the pin off first")
    return applied(candidates=fallen)


def _boost(state: State, command: Command, outside: Outside) -> Answer:
    target, weight = str(command.args.get("target", "")), command.args.get("weight")
    why = _target_missing(state, target) or _no_choice(state, outside, "a boost")
    if why:
        return refused(why)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        return refused("the weight must be a number")
    if not 0 < weight <= HEAVIEST:
        return refused(f"the weight must be above 0 and at most {HEAVIEST}; 1 undoes a boost")
    changed = changed_since(state, command, lambda s: s.args.get("target") == target)
    if changed:
        return refused(f"{target} was weighed by {changed.id} since")
    if weight == 1 and target not in state.boosts:
        return refused(f"{target} is not boosted")
    return applied()


def _fork(state: State, command: Command, now: float, outside: Outside) -> Answer:
    args = command.args
    name, count = str(args.get("candidate") or ORIGINAL), args.get("count", 1)
    text, model = str(args.get("text") or "").strip(), str(args.get("model") or "")
    why = (
        asks_nobody(state)
        or _unknown(state, name)
        or _cannot_be_parent(state, name)
        or _no_count(count)
        or _too_many_words(text)
        or _unpayable(state, int(count), now)
        or _no_model(state, model, outside)
    )
    if why:
        return refused(why)
    proposals = tuple(_forked(state, n, name, model) for n in range(int(count)))
    held = {"candidate": name, "count": int(count), "text": text, "model": model}
    labels = {each: found.label for each, found in outside.models.items()}
    adds = {**held, "labels": labels, "proposals": [p.id for p in proposals]}
    return Answer(adds=adds, opens=proposals)


def _submit(state: State, command: Command, now: float) -> Answer:
    args = command.args
    source, parent = str(args.get("source") or ""), str(args.get("parent") or ORIGINAL)
    name, author = str(args.get("name") or "")[:NAME_LIMIT], str(args.get("author") or HUMAN)
    fix = bool(args.get("fix"))
    left = budget.attempts_left(state)
    why = (
        _no_candidate(source)
        or _unknown(state, parent)
        or _cannot_descend(state, parent)
        or _no_author(author)
        or _cannot_fix(state, fix=fix)
        or (OUT_OF_TIME if budget.hours_over(state, now) else "")
    )
    source = as_kept(source)
    key = key_of(source)
    held = {"name": name, "parent": parent, "fix": fix, "author": author, "source_key": key}
    twin = handed_in(state, key, parent) if args.get("job") and not why else None
    if twin is not None:
        return applied(**held, proposals=[twin.proposal.id])
    why = why or ("all its attempts are used" if left == 0 else "")
    if why:
        return refused(why)
    told = {name: str(args[name])[:IDEA_LIMIT] for name in AGENTS if args.get(name)}
    idea = told.pop("idea", None)
    meta = {**_meta(state), **told, "source_key": key, "origin": name, "fix": fix, "author": author}
    proposal = Proposal(_next_id(state, 0), Role.SUBMIT, parent, idea=idea, meta=meta)
    return Answer(adds={**held, "proposals": [proposal.id]}, opens=(proposal,), texts=(source,))


def as_kept(source: str) -> str:
    """Return a source as it is kept: as a model's answer is, so that equal ones are equal."""
    return source.strip("\n") + "\n"


def handed_in(state: State, key: str, parent: str) -> TrajectoryRecord | None:
    """Return the submission of this source on this parent, if there is one whose evaluation came to something."""
    for record in state.trajectories.values():
        same = record.proposal.meta.get("source_key") == key and record.proposal.parent == parent
        if same and record.closed not in ("lost", "cancelled", "budget"):
            return record
    return None


def _forked(state: State, n: int, parent: str, model: str) -> Proposal:
    role = Role.START if parent == ORIGINAL else Role.IMPROVE
    meta = {**_meta(state), **({"model": model} if model else {})}
    return Proposal(_next_id(state, n), role, parent, meta=meta)


def _meta(state: State) -> dict[str, Any]:
    """Return what names the steer that opens a proposal: the next one."""
    return {"steer": steer_id(len(state.steers) + 1)}


def _next_id(state: State, n: int) -> str:
    made = sum(1 for name in state.trajectories if name.startswith("h"))
    return human_proposal_id(made + n + 1)


def _no_candidate(source: str) -> str:
    if len(source) > SOURCE_LIMIT:
        return f"the file has {len(source):,} characters; {SOURCE_LIMIT:,} is the most"
    if not source.strip():
        return "the file is empty"
    if not python.parses(source):
        return "the file is not Python: it cannot be parsed"
    return "" if python.defines(source) else "the file defines no ModelNew"


def _unknown(state: State, name: str) -> str:
    known = name == ORIGINAL or name in state.attempts
    return "" if known else f"there is no candidate {shown(name)}"


def _cannot_be_parent(state: State, name: str) -> str:
    """Return why nothing may be built on a candidate that the prompt would call correct."""
    why = _cannot_descend(state, name)
    if why or name == ORIGINAL or state.attempts[name].correct:
        return why
    return f"{name} is not correct: a model could not build on it"


def _cannot_descend(state: State, name: str) -> str:
    """Return why no attempt may have this parent: a commit follows its parent's."""
    if name in state.bans:
        return f"{name} is banned by {state.bans[name][-1]}"
    judged = name == ORIGINAL or bool(state.attempts[name].commit)
    return "" if judged else f"{name} is still being judged; try again when it has its verdict"


def asks_nobody(state: State) -> str:
    """Return why nobody could answer a prompt: a search without models stays so."""
    if state.models:
        return ""
    return "this search asks no language model, so nobody could answer: submit a candidate instead"


def _no_count(count: Any) -> str:
    if whole(count) and 1 <= count <= MOST_AT_ONCE:
        return ""
    return f"a fork makes 1 to {MOST_AT_ONCE} proposals"


def _too_many_words(text: str) -> str:
    if len(text) <= GUIDE_LIMIT:
        return ""
    return f"the fork has {len(text):,} characters of text; {GUIDE_LIMIT:,} is the most"


def _unpayable(state: State, count: int, now: float) -> str:
    left = budget.queries_left(state)
    if budget.hours_over(state, now):
        return OUT_OF_TIME
    if count > left:
        return f"{count} cannot be paid: {left} of the queries are left; raise the budget first"
    limit, spending = state.limits.get("cost_usd"), state.spending
    if limit is not None and spending.cost_usd + spending.cost_reserved_usd >= limit:
        return f"the $ {limit:g} are used up or reserved; raise the budget first"
    return ""


def _no_model(state: State, model: str, outside: Outside) -> str:
    if "," in model:
        return "a fork has one model"
    limit = state.limits.get("cost_usd")
    if limit is not None and outside.unpriced_of(model):
        return f"the price of {model} is unknown, so the limit of $ {limit:g} cannot hold"
    return outside.trouble(model)


def _no_author(author: str) -> str:
    if len(author) <= AUTHOR_LIMIT and author not in list(Agent):
        return ""
    return f"an author has a name of at most {AUTHOR_LIMIT} characters, and not that of an agent of the search"


def _cannot_fix(state: State, *, fix: bool) -> str:
    settings = state.opened.settings if state.opened else {}
    if not fix or int(settings.get("fixes") or 0):
        return ""
    return "this search has no fixes (fixes = 0), so nobody could fix it: submit it without"


def _no_choice(state: State, outside: Outside, what: str) -> str:
    if outside.seats:
        return ""
    strategy = state.opened.strategy if state.opened else "this strategy"
    return f"{strategy} begins every answer from the original, so {what} would change nothing; fork instead"


def _target_missing(state: State, target: str) -> str:
    kind, _, name = target.partition(":")
    match kind:
        case "candidate":
            banned = f"{name} is banned by {state.bans[name][-1]}" if name in state.bans else ""
            return _unknown(state, name) or banned
        case "lineage" if name in state.lineages:
            left = [a for a in state.lineages[name].attempts if a not in state.banned]
            return "" if left else f"all of lineage {name} is banned"
        case "lineage":
            return f"there is no lineage {shown(name)}"
        case _:
            return f"a boost is for candidate:cN or lineage:NNN, not {shown(target)}"


def _changed(state: State, command: Command, name: str) -> str:
    """Return what was done to a candidate since the author of a pin or a ban looked."""
    found = changed_since(state, command, lambda s: name in _fell_on(s), "pin", "ban")
    return f"{name} was {_done(found)} by {found.id} since" if found else ""


def _fell_on(steer: SteerRecord) -> list[str]:
    return steer.args.get("candidates") or [str(steer.args.get("candidate", ""))]


def _done(steer: SteerRecord) -> str:
    if steer.args.get("off"):
        return "unpinned" if steer.act == "pin" else "allowed again"
    return "pinned" if steer.act == "pin" else "banned"


def _descendants(state: State, name: str) -> list[str]:
    below = {name}
    for attempt in state.attempts.values():  # parents come before their children
        if attempt.parent in below:
            below.add(attempt.id)
    return [a for a in state.attempts if a in below and a != name]
