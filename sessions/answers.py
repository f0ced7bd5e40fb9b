"""Whether a person's command is applied, or refused and why: one rule per act. Pure functions of the folded facts.

`answers_on_candidates.py` has the acts that name a candidate. A command on what has changed since its author looked
is refused.
"""

from __future__ import annotations

import logging
from math import isfinite
from typing import TYPE_CHECKING, Any

from sessions import answers_on_candidates, budget, steering
from sessions.answering import Answer, Outside, applied, changed_since, refused, shown, whole
from sessions.answers_on_candidates import AGENTS, asks_nobody
from sessions.facts import Steered
from sessions.ids import steer_id
from sessions.model import ORIGINAL
from sessions.steering import ALL_ROLES, GUIDE_LIMIT, MODEL_ROLES, can_edit, can_withdraw, in_force
from strategies.fixing import FIX_MODEL

if TYPE_CHECKING:
    from sessions.journal import Command
    from sessions.model import State, SteerRecord

log = logging.getLogger(__name__)

LIMITS = ("queries", "cost_usd", "hours", "attempts", "idle_hours")
ARGS: dict[str, tuple[str, ...]] = {
    "guide": ("text", "scope", "last", "off"),
    "pin": ("candidate", "off"),
    "ban": ("candidate", "subtree", "off"),
    "boost": ("target", "weight"),
    "fork": ("candidate", "count", "text", "model"),
    "submit": ("name", "parent", "fix", "author", *AGENTS),
    "model": ("role", "model"),
    "edit": ("steer", "text"),
    "budget": LIMITS,
    "withdraw": ("steer",),
}
"""What a fact keeps of a command; a submitted source is kept apart, by its key."""
NAME_LIMIT = 200
"""Characters of a model's name."""
CASCADE_LIMIT = 8
"""Models of the error fixing agent."""


def answer(state: State, command: Command, now: float, outside: Outside) -> Answer:
    """Return what a steering command comes to; nothing a viewer sends can raise."""
    try:
        return _answer(state, command, now, outside)
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
        log.warning("command %d cannot be read: %r", command.id, error)
        return refused(f"the command cannot be read: {error}")


def steered(state: State, command: Command, found: Answer) -> Steered:
    """Return the fact of a command that was answered: of what a viewer sent, only what the act knows."""
    known = ARGS.get(command.act, ())
    kept = {name: value for name, value in command.args.items() if name in known}
    return Steered(
        steer=steer_id(len(state.steers) + 1),
        command=command.id,
        act=command.act,
        args={**kept, **(found.adds or {})},
        author=command.author,
        applied=not found.why,
        why=found.why,
    )


def _answer(state: State, command: Command, now: float, outside: Outside) -> Answer:
    match command.act:
        case "guide":
            return _guide(state, command)
        case "budget":
            return _budget(state, command, now, outside)
        case "model":
            return _model(state, command, outside)
        case "withdraw":
            return _withdraw(state, command)
        case "edit":
            return _edit(state, command)
        case "pin" | "ban" | "boost" | "fork" | "submit":
            return answers_on_candidates.answer(state, command, now, outside)
        case act:
            return refused(f"no act is called {act[:40]!r}")


def _guide(state: State, command: Command) -> Answer:
    scope = str(command.args.get("scope") or "session")
    missing = _scope_missing(state, scope)
    if missing:
        return refused(missing)
    if command.args.get("off"):
        steers = state.steers.values()
        ended = [s.id for s in steers if in_force(state, s) and steering.scope_of(s) == scope]
        return applied(steers=ended) if ended else refused(f"no guide for {scope} is in force")
    text = str(command.args.get("text") or "").strip()
    last = command.args.get("last") or 0
    if not text:
        return refused("the guide has no text")
    if not whole(last) or last < 0:
        return refused("last is a number of proposals, or 0: until it is withdrawn")
    return too_long(text, "guide") or applied(text=text, scope=scope, last=last)


def too_long(text: str, what: str) -> Answer | None:
    """Return the refusal of words that are too many."""
    if len(text) <= GUIDE_LIMIT:
        return None
    return refused(f"the {what} has {len(text):,} characters; {GUIDE_LIMIT:,} is the most")


def _scope_missing(state: State, scope: str) -> str:
    kind, _, name = scope.partition(":")
    match kind:
        case "session":
            return ""
        case "lineage":
            known = {t.lineage for t in state.trajectories.values()}
            return "" if name and name in known else f"there is no lineage {shown(name)}"
        case "candidate":
            known = name == ORIGINAL or name in state.attempts
            return "" if known else f"there is no candidate {shown(name)}"
        case _:
            return f"a guide is for session, lineage:NNN or candidate:cN, not {shown(scope)}"


def _budget(state: State, command: Command, now: float, outside: Outside) -> Answer:
    limits = {name: command.args[name] for name in LIMITS if name in command.args}
    if not limits:
        return refused(f"name a limit: {', '.join(LIMITS)}")
    for name, limit in limits.items():
        if limit is not None and not _is_limit(limit):
            return refused(f"{name} must be a number above 0")
    for name in ("queries", "attempts"):
        if not whole(limits.get(name) or 0):
            return refused(f"{name} must be a whole number")
    if not set(limits) <= set(state.limits):
        return refused(f"this search has no limit of {', '.join(set(limits) - set(state.limits))}")
    if limits.get("cost_usd") is not None and outside.unpriced:
        return refused("a model's price is unknown, so no dollar limit can hold")
    changed = changed_since(
        state, command, lambda s: not limits.keys().isdisjoint(s.args.get("limits", {}))
    )
    if changed:
        return refused(f"{changed.id} changed it since")
    below = budget.below_spent(state, limits, now)
    return refused(below) if below else applied(limits=limits)


def _is_limit(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isfinite(value) and value > 0


def _model(state: State, command: Command, outside: Outside) -> Answer:
    role, name = str(command.args.get("role") or ALL_ROLES), str(command.args.get("model") or "")
    roles = MODEL_ROLES if role == ALL_ROLES else (role,)
    if not set(roles) <= set(MODEL_ROLES):
        return refused(f"no model role {shown(role)}; there are: {', '.join(MODEL_ROLES)}, all")
    if not name.strip() or len(name) > NAME_LIMIT:
        return refused("name a model")
    if not all(each.strip() for each in name.split(",")):
        return refused("name a model before and after each comma")
    if "," in name and role != FIX_MODEL:
        return refused("several models, cheapest first, are for the role fix only")
    if name.count(",") >= CASCADE_LIMIT:
        return refused(f"{CASCADE_LIMIT} models is the most")
    changed = changed_since(
        state, command, lambda s: not set(roles).isdisjoint(s.args.get("models", {}))
    )
    if changed:
        return refused(f"{changed.id} changed it since")
    before = {each: state.models.get(each, "") for each in roles}
    if set(before.values()) == {name}:
        return refused(f"{role} is {name} already")
    trouble = asks_nobody(state) or outside.trouble(name) or _unpriced(state, name, outside)
    labels = {each: found.label for each, found in outside.models.items()}
    models = dict.fromkeys(roles, name)
    return refused(trouble) if trouble else applied(models=models, before=before, labels=labels)


def _unpriced(state: State, name: str, outside: Outside) -> str:
    limit = state.limits.get("cost_usd")
    unknown = outside.unpriced_of(name)
    if limit is None or not unknown:
        return ""
    return (
        f"the price of {unknown} is unknown, so the limit of $ {limit:g} cannot hold; set price_in and price_out in "
        f"[models.{unknown}], or take the limit away first"
    )


def _withdraw(state: State, command: Command) -> Answer:
    found = _named(state, command)
    if isinstance(found, Answer):
        return found
    stands = steering.status(state, found)
    if can_withdraw(state, found):
        return Answer(adds={}, cancels=tuple(steering.unsent(state, found)))
    if stands in ("waiting", "in force"):
        return refused(f"{found.id} cannot be withdrawn: {_undo(found)}")
    return refused(f"{found.id} is {stands}")


def _undo(steer: SteerRecord) -> str:
    """Return what undoes a steer that has an undo of its own."""
    match steer.act:
        case "submit":
            return "what it hands in is evaluated; ban the candidate instead"
        case "model":
            before: dict[str, str] = steer.args.get("before", {})
            told = ", ".join(f"{role} {name}" for role, name in before.items())
            return f"set the model again that it was before ({told})"
        case _:
            return "set the old limit again"


def _edit(state: State, command: Command) -> Answer:
    found = _named(state, command)
    if isinstance(found, Answer):
        return found
    text = str(command.args.get("text") or "").strip()
    if not can_edit(state, found):
        return refused(_fixed(state, found))
    if not text and found.act == "guide":
        return refused("the guide has no text; withdraw it instead")
    return too_long(text, found.act) or applied(text=text)


def _fixed(state: State, steer: SteerRecord) -> str:
    stands = steering.status(state, steer)
    if steer.act == "fork" and stands == "in force":
        return (
            f"{steer.id} is on its way: a fork's words can be changed only while none of it is sent"
        )
    if steer.act not in ("guide", "fork"):
        return f"{steer.id} is a {steer.act}: only a guide and a fork have words"
    return f"{steer.id} is {stands}"


def _named(state: State, command: Command) -> SteerRecord | Answer:
    """Return the steer that a command is about, or why it cannot be that."""
    name = str(command.args.get("steer", ""))
    steer = state.steers.get(name)
    if steer is None:
        return refused(f"there is no steer {shown(name)}")
    edits = (s for s in state.steers.values() if s.act == "edit" and s.applied)
    newer = [s for s in edits if s.args.get("steer") == name and s.seq > command.seen_seq]
    return refused(f"{name} was edited by {newer[-1].id} since") if newer else steer
