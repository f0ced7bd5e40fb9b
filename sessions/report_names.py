"""What a session that was named alone is called as a configuration.

One of an experiment: `EXPERIMENT/CONFIGURATION`. Else its strategy, its models, and the settings that set it apart.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions.models.thinking import DEFAULT
from strategies.options import held

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.model import State

NAMED = 3
"""Settings in a name; more are not read."""


def configuration_names(states: Iterable[State]) -> dict[int, str]:
    """Return a name for each state, by `id()`; equal settings have equal names, other settings other names."""
    by_base: dict[str, list[State]] = {}
    for state in states:
        by_base.setdefault(_base(state), []).append(state)
    return {key: name for base, several in by_base.items() for key, name in _apart(base, several)}


def _base(state: State) -> str:
    opened = state.opened
    if opened is None:
        return "not begun"
    if "experiment" in opened.labels and "configuration" in opened.labels:
        return f"{opened.labels['experiment']}/{opened.labels['configuration']}"
    named = [name for entry in opened.models.values() for name in entry.split(",")]
    models = " + ".join(dict.fromkeys(name for name in named if name))
    return f"{opened.strategy}, {models}" if models else opened.strategy


def _apart(base: str, states: Sequence[State]) -> Iterable[tuple[int, str]]:
    """Yield each state's name: the settings in which these differ are added."""
    settings = [_settings(state) for state in states]
    keys = list(dict.fromkeys(key for own in settings for key in own))
    differ = [key for key in keys if len({str(own.get(key)) for own in settings}) > 1]
    full = [", ".join(f"{key} {own.get(key)}" for key in differ) for own in settings]
    numbers = {words: n for n, words in enumerate(dict.fromkeys(full), 1)}
    for state, words in zip(states, full, strict=True):
        if not differ:
            yield id(state), base
        elif len(differ) <= NAMED:
            yield id(state), f"{base}, {words}"
        else:
            yield id(state), f"{base}, settings {numbers[words]}"


def _settings(state: State) -> dict[str, Any]:
    """Return what decides how a search goes; the task, the seed and the machine are no part of it."""
    opened = state.opened
    if opened is None or "experiment" in opened.labels:
        return {}
    limits = {f"{name} limit": value for name, value in opened.limits.items() if name != "queries"}
    return {
        **opened.settings,
        **asdict(held(opened.settings)),  # an older session lacks those that came after it
        **limits,
        **{f"{role} model": name for role, name in opened.models.items()},
        **{f"{role} thinking": opened.thinking.get(role, "") or DEFAULT for role in opened.models},
        "queries": opened.limits.get("queries"),
        "precision": opened.precision,
        "tolerance": opened.tolerance,
        "version": opened.strategy_version,
        "instructions": bool(opened.instructions),
        "from": opened.origin,
    }
