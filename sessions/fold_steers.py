"""What a person's act changes in the state: the part of the fold that is about steers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.best import best_of
from sessions.model import SteerRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.facts import Steered
    from sessions.model import State


def steered(state: State, body: Steered, at: float) -> None:
    """Keep the steer, and do what it says if it was applied."""
    record = SteerRecord(
        id=body.steer,
        command=body.command,
        act=body.act,
        args=dict(body.args),
        author=body.author,
        at=at,
        applied=body.applied,
        why=body.why,
        seq=state.seq,
    )
    state.steers[body.steer] = record
    if body.applied:
        _apply(state, record)


def _apply(state: State, steer: SteerRecord) -> None:
    match steer.act:
        case "ban":
            _ban(state, steer)
        case "pin":
            _pin(state, steer)
        case "boost":
            _boost(state, steer)
        case "budget":
            limits = steer.args.get("limits", {})
            state.limits.update(limits)
            state.set_by.update(dict.fromkeys(limits, steer.id))
        case "model":
            _model(state, steer)
        case "edit":
            _edit(state, steer)
        case "withdraw":
            _withdraw(state, [str(steer.args.get("steer"))])
        case "guide" if steer.args.get("off"):
            _withdraw(state, steer.args.get("steers", ()))
        case "fork":
            state.labels.update(steer.args.get("labels", {}))
        case _:  # a guide, a submission: the prompts and `proposed` say the rest
            pass


def _withdraw(state: State, names: Iterable[str]) -> None:
    for steer in (state.steers[name] for name in names if name in state.steers):
        steer.withdrawn = True
        match steer.act:
            case "pin":
                _drop(state.pins, steer.id)
            case "boost":
                _drop(state.boosts, steer.id)
            case "ban":
                _lift(state, [steer.id])
            case _:
                pass


def _drop(held: dict[str, str], steer: str) -> None:
    for name in [name for name, by in held.items() if by == steer]:
        del held[name]


def _pin(state: State, steer: SteerRecord) -> None:
    name = str(steer.args.get("candidate"))
    if not steer.args.get("off"):
        state.pins[name] = steer.id
    elif name in state.pins:
        state.steers[state.pins.pop(name)].withdrawn = True


def _boost(state: State, steer: SteerRecord) -> None:
    target = str(steer.args.get("target"))
    before = state.boosts.pop(target, None)
    if steer.args.get("weight") != 1:
        state.boosts[target] = steer.id
    elif before is not None:
        state.steers[before].withdrawn = True


def _model(state: State, steer: SteerRecord) -> None:
    models = steer.args.get("models", {})
    state.models.update(models)
    state.labels.update(steer.args.get("labels", {}))
    state.set_by.update(dict.fromkeys(models, steer.id))


def _edit(state: State, steer: SteerRecord) -> None:
    edited = state.steers.get(str(steer.args.get("steer")))
    if edited is not None:
        edited.edits.append((state.seq, str(steer.args.get("text"))))


def _ban(state: State, steer: SteerRecord) -> None:
    """`candidates`: the banned one and, for a subtree, all its descendants then; `off` lifts every ban on them."""
    for name in steer.args.get("candidates", ()):
        if not steer.args.get("off"):
            state.bans.setdefault(name, []).append(steer.id)
        else:
            _mark_lifted(state, state.bans.pop(name, []))
    _count_bans(state)


def _mark_lifted(state: State, steers: Iterable[str]) -> None:
    """Call those bans withdrawn of which nothing is left."""
    left = {steer for held in state.bans.values() for steer in held}
    for steer in steers:
        state.steers[steer].withdrawn = steer not in left


def _lift(state: State, steers: list[str]) -> None:
    """End these bans; what another one bans as well stays banned."""
    kept = {name: [by for by in held if by not in steers] for name, held in state.bans.items()}
    state.bans = {name: held for name, held in kept.items() if held}
    _count_bans(state)


def _count_bans(state: State) -> None:
    state.banned = set(state.bans)
    for attempt in state.attempts.values():
        attempt.banned = attempt.id in state.bans
    state.leader = best_of(state.attempts.values())
